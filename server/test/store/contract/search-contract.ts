import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupFilter } from '../../../src/domain/user-group/user-group-search-store.ts'
import type { UserGroup, UserGroupChange } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { deletion, actor, plain } from './store-fixtures.ts'

/** Returns all results of a search in order, using pages of this size. */
export async function searchAll(
  store: Store,
  { tenantScope }: Registry,
  filter: UserGroupFilter,
  limit = 2,
): Promise<UserGroup[]> {
  const found: UserGroup[] = []
  let position: string | null = null
  do {
    const page = await store.userGroupSearch.search({ ...tenantScope, filter, position, limit })
    assert.ok(page.userGroups.length <= limit)
    found.push(...page.userGroups)
    position = page.position
  } while (position !== null)
  return found
}

const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Tests the search for user groups. */
export function describeSearch(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: searching user groups`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const create = async (own: Registry, providedId: string, change: UserGroupChange = { name: 'A' }) => {
      const result = await getOrCreate(
        store,
        { ...own.tenantScope, providedId },
        { change: { name: 'A', ...change } },
      )
      assert.ok('userGroup' in result)
      return result.userGroup
    }
    const ids = async (own: Registry, filter: UserGroupFilter, limit?: number) =>
      (await searchAll(store, own, filter, limit)).map(({ providedId }) => providedId)

    it('finds all user groups without a filter, complete, in order of creation', async () => {
      const own = await Registry.fresh(store)
      const groups = []
      for (const id of ['c', 'a', 'b'])
        groups.push(await create(own, id, { mapping: '{"a":"b"}', properties: '{"a":1}' }))
      for (const limit of [1, 2, 3, 100])
        assert.deepEqual(plain(await searchAll(store, own, {}, limit)), plain(groups))
      assert.deepEqual(await searchAll(store, await Registry.fresh(store), {}), [])
    })

    it('finds user groups by their current state, and no deleted ones', async () => {
      const own = await Registry.fresh(store)
      const [group, other] = [await create(own, 'a'), await create(own, 'b')]
      const change = { name: 'B', mapping: '{"a":"b"}' }
      await getOrCreate(store, group, { change })
      assert.deepEqual(await ids(own, { namePart: 'A' }), ['b'])
      assert.deepEqual(await ids(own, { namePart: 'B' }), ['a'])
      await store.userGroups.delete(deletion(group))
      for (const filter of [
        { providedIdPrefix: 'a' },
        { namePart: 'B' },
        { mappedTo: [['a', 'b'] as const] },
      ])
        assert.deepEqual(await ids(own, filter), [])
      assert.deepEqual(await ids(own, {}), ['b'])
      await store.userGroups.restore({
        ...actor,
        now: 9000,
        ...own.tenantScope,
        teamId: group.teamId,
        deletedAfter: 0,
      })
      assert.deepEqual(await ids(own, { mappedTo: [['a', 'b']] }), ['a'])
      // A restored user group keeps its place in the order of creation.
      assert.deepEqual(
        plain(await searchAll(store, own, {})),
        plain([await store.userGroups.find(group), other]),
      )
    })

    it('finds none of another workspace or environment', async () => {
      const own = await Registry.fresh(store)
      const change = { name: 'A', mapping: '{"a":"b"}', properties: '{"a":1}' }
      const group = await create(own, 'a', change)
      await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 1 })
      const filters: UserGroupFilter[] = [
        {},
        { providedIdPrefix: 'a' },
        { namePart: 'a' },
        { property: { path: ['a'], value: '1' } },
        { mappedTo: [['a', 'b']] },
        { providedIdPrefix: '', mappedTo: [['a', 'b']] },
        { suspended: true },
      ]
      for (const filter of filters) {
        assert.deepEqual(await ids(own, filter), ['a'])
        for (const other of [
          new Registry(store, { ...own.tenantScope, environment: 'Testing' }),
          await Registry.fresh(store),
        ])
          assert.deepEqual(await ids(other, filter), [])
      }
    })

    it('finds user groups by a prefix of the id with any characters, in the order of ids', async () => {
      const own = await Registry.fresh(store)
      const ends = [
        ...['', '1', '10', '2', '%', '_', '\\', "'", '"', 'a', 'A', 'é', 'e\u0301', 'É', ' ', '?', '$1', '*'],
        ...[
          '\ud7ff',
          '\ud7ffz',
          '\ue000',
          '\ue000z',
          '\ufffd',
          '\uffff',
          '\uffffz',
          '😀',
          '😀z',
          '😁',
          '\u{1f3ff}',
        ],
        ...['\u{10fffe}', '\u{10ffff}', '\u{10ffff}z', '\u{10ffff}\u{10ffff}', '\u{10ffff}\u{10ffff}z'],
      ]
      const all = ['k', 'l', '\u{10ffff}'].flatMap((start) => ends.map((end) => start + end))
      const created = await Promise.all(all.toReversed().map((id) => create(own, id)))
      assert.equal(created.length, all.length)
      const prefixes = ['', 'j', 'm', '\u{10fffe}', ...all, ...all.map((id) => `${id}!`)]
      for (const providedIdPrefix of prefixes) {
        const expected = all.filter((id) => id.startsWith(providedIdPrefix)).sort(byCodePoint)
        assert.deepEqual(await ids(own, { providedIdPrefix }, 7), expected, JSON.stringify(providedIdPrefix))
      }
    })

    it('finds user groups by part of the name, ignoring case and accents', async () => {
      const own = await Registry.fresh(store)
      const names = {
        upper: 'ÉCOLE Ünion ЖУК',
        lower: 'école ünion жук',
        plain: 'Ecole Union 50%_\\ off',
        quotes: `O'Neill "and" sons`,
        deseret: 'x \u{10400} y 😀',
        fullWidth: 'ＡＢＣ',
      }
      for (const [id, name] of Object.entries(names)) await create(own, id, { name })
      const expected: Record<string, string[]> = {
        école: ['upper', 'lower', 'plain'],
        'e\u0301cole': ['upper', 'lower', 'plain'],
        'e üN': ['upper', 'lower', 'plain'],
        Жук: ['upper', 'lower'],
        ECOLE: ['upper', 'lower', 'plain'],
        union: ['upper', 'lower', 'plain'],
        '50%': ['plain'],
        '%_': ['plain'],
        '\\': ['plain'],
        '\\ O': ['plain'],
        '%': ['plain'],
        _: ['plain'],
        "o'n": ['quotes'],
        '"AND"': ['quotes'],
        '\u{10428}': ['deseret'],
        '😀': ['deseret'],
        ａｂ: ['fullWidth'],
        abc: ['fullWidth'],
        'e%n': [],
        ' ': ['upper', 'lower', 'plain', 'quotes', 'deseret'],
      }
      for (const [namePart, found] of Object.entries(expected))
        assert.deepEqual(await ids(own, { namePart }), found, JSON.stringify(namePart))
    })

    it('finds user groups that are mapped to one of several entries, each once', async () => {
      const own = await Registry.fresh(store)
      const mappings = {
        both: '{"a":"1","b":"2"}',
        first: '{"a":"1"}',
        second: '{"b":"2","c":"3"}',
        spelled: '{"\\u0061":"\\u0031"}',
        swapped: '{"1":"a"}',
        crossed: '{"a":"2","b":"1"}',
        odd: '{"__proto__":"😀","%":"_","":" "}',
      }
      for (const [id, mapping] of Object.entries(mappings)) await create(own, id, { mapping })
      await create(own, 'none')
      const expected: [NonNullable<UserGroupFilter['mappedTo']>, string[]][] = [
        [[['a', '1']], ['both', 'first', 'spelled']],
        [[['b', '2']], ['both', 'second']],
        [
          [
            ['b', '2'],
            ['a', '1'],
          ],
          ['both', 'first', 'second', 'spelled'],
        ],
        [
          [
            ['a', '1'],
            ['a', '1'],
          ],
          ['both', 'first', 'spelled'],
        ],
        [[['c', '3']], ['second']],
        [[['__proto__', '😀']], ['odd']],
        [[['%', '_']], ['odd']],
        [[['', ' ']], ['odd']],
        [[['a', '%']], []],
        [[['x', 'y']], []],
      ]
      for (const [mappedTo, found] of expected) {
        assert.deepEqual(await ids(own, { mappedTo }), found, JSON.stringify(mappedTo))
        assert.deepEqual(await ids(own, { mappedTo, providedIdPrefix: '' }), found.toSorted(byCodePoint))
        assert.deepEqual(await ids(own, { mappedTo, suspended: true }), [])
      }
    })

    it('finds suspended or active user groups', async () => {
      const own = await Registry.fresh(store)
      for (const id of ['a', 'b', 'c', 'd', 'e']) await create(own, id)
      const suspend = (id: string, suspended: boolean) =>
        store.userGroups.suspend({
          ...actor,
          key: { ...own.tenantScope, providedId: id },
          suspended,
          now: 1,
        })
      for (const id of ['b', 'c', 'e']) await suspend(id, true)
      await suspend('c', false)
      assert.deepEqual(await ids(own, { suspended: true }, 1), ['b', 'e'])
      assert.deepEqual(await ids(own, { suspended: false }, 1), ['a', 'c', 'd'])
    })

    it('finds only user groups that match all filters', async () => {
      const own = await Registry.fresh(store)
      const bit = (i: number, at: number) => ((i >> at) & 1) === 1
      const holds: Record<keyof UserGroupFilter, (i: number) => boolean> = {
        providedIdPrefix: (i) => bit(i, 0),
        namePart: (i) => bit(i, 1),
        textPart: (i) => bit(i, 6),
        property: (i) => bit(i, 2),
        mappedTo: (i) => bit(i, 3),
        suspended: (i) => bit(i, 4),
        schemaKey: (i) => bit(i, 5),
      }
      const wanted: Required<UserGroupFilter> = {
        providedIdPrefix: 'yes ',
        namePart: 'YÉS',
        textPart: 'TEXT',
        property: { path: ['a', 'b'], value: 'yes' },
        mappedTo: [
          ['s', 'yes'],
          ['t', 'yes'],
        ],
        suspended: true,
        schemaKey: 'é"',
      }
      const idOf = (i: number) => `${holds.providedIdPrefix(i) ? 'yes' : 'no'} ${String(i).padStart(3, '0')}`
      const mappingOf = (i: number) => {
        const entries = holds.mappedTo(i) ? '"t":"yes","u":"no"' : '"yes":"s"'
        return holds.schemaKey(i) ? `{${entries},"\\u00e9\\"":"x"}` : `{${entries},"v":"é\\""}`
      }
      const numbers = Array.from({ length: 128 }, (_, i) => i)
      for (const i of numbers) {
        const group = await create(own, idOf(i), {
          name: `${holds.namePart(i) ? 'oh yés' : 'no'}${holds.textPart(i) ? ' téxt' : ''}`,
          properties: holds.property(i) ? '{"a":{"b":"yes"}}' : '{"a":"yes"}',
          mapping: mappingOf(i),
        })
        if (holds.suspended(i))
          await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 1 })
      }
      const names = Object.keys(wanted) as (keyof UserGroupFilter)[]
      for (let chosen = 0; chosen < 128; chosen++) {
        const asked = names.filter((_, at) => bit(chosen, at))
        const filter = Object.fromEntries(asked.map((one) => [one, wanted[one]])) as UserGroupFilter
        const expected = numbers.filter((i) => asked.every((one) => holds[one](i))).map(idOf)
        assert.deepEqual(await ids(own, filter, 50), expected, asked.join())
        const active = numbers.filter(
          (i) => !holds.suspended(i) && asked.every((one) => one === 'suspended' || holds[one](i)),
        )
        assert.deepEqual(await ids(own, { ...filter, suspended: false }, 50), active.map(idOf), asked.join())
      }
    })

    it('returns a position that can be used repeatedly', async () => {
      const own = await Registry.fresh(store)
      for (const id of ['a', 'b', 'c']) await create(own, id)
      for (const filter of [{}, { providedIdPrefix: '' }]) {
        const asked = { ...own.tenantScope, filter, limit: 2 }
        const first = await store.userGroupSearch.search({ ...asked, position: null })
        assert.equal(first.userGroups.length, 2)
        for (let again = 0; again < 2; again++) {
          const { userGroups, position } = await store.userGroupSearch.search({
            ...asked,
            position: first.position,
          })
          assert.deepEqual(
            userGroups.map(({ providedId }) => providedId),
            ['c'],
          )
          assert.equal(position, null)
        }
      }
    })

    it('finds user groups that are created after the position, and none twice', async () => {
      const own = await Registry.fresh(store)
      for (const id of ['b', 'd']) await create(own, id)
      const asked = { ...own.tenantScope, filter: { providedIdPrefix: '' }, limit: 1 }
      const { position } = await store.userGroupSearch.search({ ...asked, position: null })
      for (const id of ['a', 'c', 'e']) await create(own, id)
      await store.userGroups.delete(deletion({ ...own.tenantScope, providedId: 'b' }))
      const rest = await store.userGroupSearch.search({ ...asked, position, limit: 9 })
      assert.deepEqual(
        rest.userGroups.map(({ providedId }) => providedId),
        ['c', 'd', 'e'],
      )
    })
  })
}
