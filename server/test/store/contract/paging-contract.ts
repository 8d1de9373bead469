import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { MappingEntry } from '../../../src/domain/data-source/data-source.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupFilter } from '../../../src/domain/user-group/user-group-search-store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { origin } from './store-fixtures.ts'

/** More than one call looks at, of either store. */
const groups = 22_000
const rare = 1500
const atOnce = 2000

/** What every store must do with more user groups than one call looks at. */
export function describePaging(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the contract of a store, ${groups} user groups`, () => {
    let store: Store
    let own: Registry
    let elsewhere: Registry
    const teamIds: number[] = []
    const idOf = (i: number) => `${i % 3 === 0 ? 'third' : 'other'} ${String(i).padStart(6, '0')}`
    const isRare = (i: number) => i % rare === 700
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
      elsewhere = new Registry(store, { ...own.tenantScope, environment: 'Testing' })
      // With others of elsewhere in between.
      for (let next = 0; next < groups; next += atOnce) {
        const some = Array.from({ length: atOnce }, (_, i) => next + i)
        const make = async (i: number, { tenantScope }: Registry) => {
          const mapping = `{"all":"one"${i % 2 === 0 ? ',"half":"one"' : ''},"each":"${i % 5}"}`
          const change = {
            name: isRare(i) ? 'Räre' : 'Common',
            mapping,
            properties: `{"i":${i},"rare":${isRare(i)}}`,
          }
          const key = { ...tenantScope, providedId: idOf(i) }
          const made = await getOrCreate(store, key, { change })
          assert.ok(made.outcome === 'created')
          if (own.tenantScope === tenantScope) teamIds[i] = made.userGroup.teamId
          if (isRare(i)) await store.userGroups.suspend({ ...origin, key, suspended: true, now: 1 })
        }
        await Promise.all(some.map((i) => make(i, own)))
        await Promise.all(some.filter((i) => i % 20 === 0).map((i) => make(i, elsewhere)))
      }
    })
    after(() => store.close())

    const numbers = Array.from({ length: groups }, (_, i) => i)
    /** In the order of team ids. */
    const inTurn = (filter: UserGroupFilter, isFound: (i: number) => boolean, limit: number) => ({
      ...{ filter, limit },
      expected: () =>
        numbers
          .filter(isFound)
          .sort((a, b) => (teamIds[a] ?? 0) - (teamIds[b] ?? 0))
          .map(idOf),
    })
    const byId = (filter: UserGroupFilter, isFound: (i: number) => boolean, limit: number) => ({
      ...{ filter, limit },
      expected: () => numbers.filter(isFound).map(idOf).sort(),
    })
    const searches: Record<
      string,
      {
        readonly filter: UserGroupFilter
        readonly limit: number
        readonly expected: () => string[]
        /** Whether a page has less than it may, and says where to go on. */
        readonly isCutShort?: true
      }
    > = {
      'all of them': inTurn({}, () => true, 900),
      'few by their name': { ...inTurn({ namePart: 'RÄRE' }, isRare, 16), isCutShort: true },
      'few by a property': {
        ...inTurn({ property: { path: ['rare'], value: 'true' } }, isRare, 1000),
        isCutShort: true,
      },
      'one by a property': {
        ...inTurn({ property: { path: ['i'], value: '21999' } }, (i) => i === 21_999, 10),
        isCutShort: true,
      },
      'none by a property': {
        ...inTurn({ property: { path: ['none'], value: '1' } }, () => false, 10),
        isCutShort: true,
      },
      'those that are suspended': inTurn({ suspended: true }, isRare, 4),
      'those that are not': inTurn({ suspended: false }, (i) => !isRare(i), 1000),
      'those that are mapped': inTurn({ mappedTo: [['all', 'one']] }, () => true, 1000),
      'those that are mapped to one of two': inTurn(
        {
          mappedTo: [
            ['half', 'one'],
            ['all', 'one'],
          ],
          namePart: 'common',
        },
        (i) => !isRare(i),
        1000,
      ),
      'few of those that are mapped to one of several': inTurn(
        {
          mappedTo: [
            ['half', 'one'],
            ['each', '1'],
            ['each', '2'],
          ],
          suspended: true,
        },
        (i) => isRare(i) && (i % 2 === 0 || [1, 2].includes(i % 5)),
        3,
      ),
      'those whose id begins so': byId({ providedIdPrefix: 'third' }, (i) => i % 3 === 0, 1000),
      'few of those whose id begins so': byId(
        { providedIdPrefix: 'third 0', namePart: 'räre', mappedTo: [['all', 'one']] },
        (i) => i % 3 === 0 && isRare(i),
        2,
      ),
      'few in the order of ids': byId({ providedIdPrefix: '', suspended: true }, isRare, 4),
      'all in the order of ids': byId({ providedIdPrefix: '' }, () => true, 900),
    }
    for (const [what, { filter, limit, expected, isCutShort }] of Object.entries(searches)) {
      it(`are searched for ${what}: each is found once, in order`, async () => {
        const found: string[] = []
        let wasCutShort = false
        let calls = 0
        let position: string | null = null
        do {
          calls++
          const page: { readonly userGroups: readonly UserGroup[]; readonly position: string | null } =
            await store.userGroupSearch.search({ ...own.tenantScope, filter, position, limit })
          assert.ok(page.userGroups.length <= limit)
          for (const { providedId, workspaceId, environment } of page.userGroups) {
            assert.deepEqual({ workspaceId, environment }, own.tenantScope)
            found.push(providedId)
          }
          if (page.position !== null) assert.notEqual(page.position, position)
          position = page.position
          if (position !== null && page.userGroups.length < limit) wasCutShort = true
          // What is found, and what is looked at in vain.
          assert.ok(calls <= groups / limit + groups / 1000, `${calls} calls`)
        } while (position !== null)
        assertSame(found, expected())
        if (isCutShort !== undefined) assert.equal(wasCutShort, isCutShort)
      })
    }

    it('have their entries counted, each entry once, as they are counted by hand', async () => {
      const told: [MappingEntry, number][] = []
      const atLeast = new Set<number>()
      let last: MappingEntry | null = null
      for (;;) {
        const { counts, isEnd } = await store.userGroupSearch.countEntries({
          ...own.tenantScope,
          after: last,
        })
        told.push(...counts.map(({ entry, count }): [MappingEntry, number] => [entry, count]))
        if (isEnd) break
        assert.ok(counts.length > 0)
        // Of the last one there may be more.
        atLeast.add(told.length - 1)
        last = counts.at(-1)?.entry ?? null
      }
      assert.ok(atLeast.size > 0)
      const byHand: [MappingEntry, number][] = [
        [['all', 'one'], groups],
        ...[0, 1, 2, 3, 4].map((i): [MappingEntry, number] => [['each', String(i)], groups / 5]),
        [['half', 'one'], groups / 2],
      ]
      assert.deepEqual(
        told.map(([entry]) => entry),
        byHand.map(([entry]) => entry),
      )
      for (const [i, [entry, count]] of told.entries()) {
        const expected = byHand[i]?.[1] ?? 0
        if (atLeast.has(i)) assert.ok(count > 1 && count <= expected, entry.join())
        else assert.equal(count, expected, entry.join())
      }
    })
  })
}

/** Tells the first difference alone: all of them, of so many, would take minutes to be told. */
function assertSame(found: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((one, i) => one !== found[i])
  assert.deepEqual(
    { at, found: found.at(at === -1 ? found.length : at), length: found.length },
    { at: -1, found: undefined, length: expected.length },
  )
}
