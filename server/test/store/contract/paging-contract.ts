import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { MappingEntry } from '../../../src/domain/data-source/data-source.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupFilter } from '../../../src/domain/user-group/user-group-search-store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { actor } from './store-fixtures.ts'

/** More user groups than one search of either store scans. */
const groups = 5000
const rare = 351
const atOnce = 500

/** Tests searches and counts over more user groups than one operation scans. */
export function describePaging(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: ${groups} user groups`, () => {
    let store: Store
    let own: Registry
    let elsewhere: Registry
    const teamIds: number[] = []
    const idOf = (i: number) => `${i % 3 === 0 ? 'third' : 'other'} ${String(i).padStart(6, '0')}`
    const isRare = (i: number) => i % rare === 100
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
      elsewhere = new Registry(store, { ...own.tenantScope, environment: 'Testing' })
      // User groups of another environment have team ids in between.
      for (let next = 0; next < groups; next += atOnce) {
        const some = Array.from({ length: atOnce }, (_, i) => next + i)
        const create = async (i: number, { tenantScope }: Registry) => {
          const mapping = `{"all":"one"${i % 2 === 0 ? ',"half":"one"' : ''},"each":"${i % 5}"}`
          const change = {
            name: isRare(i) ? 'Räre' : 'Common',
            mapping,
            properties: `{"i":${i},"rare":${isRare(i)}}`,
          }
          const key = { ...tenantScope, providedId: idOf(i) }
          const created = await getOrCreate(store, key, { change })
          assert.ok(created.outcome === 'created')
          if (own.tenantScope === tenantScope) teamIds[i] = created.userGroup.teamId
          if (isRare(i)) await store.userGroups.suspend({ ...actor, key, suspended: true, now: 1 })
        }
        await Promise.all(some.map((i) => create(i, own)))
        await Promise.all(some.filter((i) => i % 20 === 0).map((i) => create(i, elsewhere)))
      }
    })
    after(() => store.close())

    const numbers = Array.from({ length: groups }, (_, i) => i)
    /** Expects the results in the order of team ids. */
    const byTeamId = (filter: UserGroupFilter, isFound: (i: number) => boolean, limit: number) => ({
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
        /** Some page has fewer results than its limit, but is not the last one. */
        readonly isCutShort?: true
      }
    > = {
      'all user groups': byTeamId({}, () => true, 900),
      'a few by name': { ...byTeamId({ namePart: 'RÄRE' }, isRare, 16), isCutShort: true },
      'a few by a property': {
        ...byTeamId({ property: { path: ['rare'], value: 'true' } }, isRare, 1000),
        isCutShort: true,
      },
      'one by a property': {
        ...byTeamId({ property: { path: ['i'], value: '4999' } }, (i) => i === 4999, 10),
        isCutShort: true,
      },
      'none by a property': {
        ...byTeamId({ property: { path: ['none'], value: '1' } }, () => false, 10),
        isCutShort: true,
      },
      'suspended ones': byTeamId({ suspended: true }, isRare, 4),
      'active ones': byTeamId({ suspended: false }, (i) => !isRare(i), 1000),
      'mapped ones': byTeamId({ mappedTo: [['all', 'one']] }, () => true, 1000),
      'those mapped to one of two data sources': byTeamId(
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
      'a few of those mapped to one of several data sources': byTeamId(
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
      'those with an id prefix': byId({ providedIdPrefix: 'third' }, (i) => i % 3 === 0, 1000),
      'a few of those with an id prefix': byId(
        { providedIdPrefix: 'third 0', namePart: 'räre', mappedTo: [['all', 'one']] },
        (i) => i % 3 === 0 && isRare(i),
        2,
      ),
      'a few in the order of ids': byId({ providedIdPrefix: '', suspended: true }, isRare, 4),
      'all in the order of ids': byId({ providedIdPrefix: '' }, () => true, 900),
    }
    for (const [title, { filter, limit, expected, isCutShort }] of Object.entries(searches)) {
      it(`are searched for ${title}, and each is found once, in order`, async () => {
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
          // Pages of results, and pages without any: on a busy machine, a call examines as few as 16 rows.
          assert.ok(calls <= groups / limit + groups / 16, `${calls} calls`)
        } while (position !== null)
        assertSame(found, expected())
        if (isCutShort !== undefined) assert.equal(wasCutShort, isCutShort)
      })
    }

    it('have correct entry counts, each entry once', async () => {
      const counted: [MappingEntry, number][] = []
      const atLeast = new Set<number>()
      let last: MappingEntry | null = null
      for (;;) {
        const { counts, isEnd } = await store.userGroupSearch.countEntries({
          ...own.tenantScope,
          after: last,
        })
        counted.push(...counts.map(({ entry, count }): [MappingEntry, number] => [entry, count]))
        if (isEnd) break
        assert.ok(counts.length > 0)
        // The last entry of a page may be counted incompletely.
        atLeast.add(counted.length - 1)
        last = counts.at(-1)?.entry ?? null
      }
      assert.ok(atLeast.size > 0)
      const expectedCounts: [MappingEntry, number][] = [
        [['all', 'one'], groups],
        ...[0, 1, 2, 3, 4].map((i): [MappingEntry, number] => [['each', String(i)], groups / 5]),
        [['half', 'one'], groups / 2],
      ]
      assert.deepEqual(
        counted.map(([entry]) => entry),
        expectedCounts.map(([entry]) => entry),
      )
      for (const [i, [entry, count]] of counted.entries()) {
        const expected = expectedCounts[i]?.[1] ?? 0
        if (atLeast.has(i)) assert.ok(count > 1 && count <= expected, entry.join())
        else assert.equal(count, expected, entry.join())
      }
    })

    it('have shared data sources that are returned in slices, each once', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const numbers = Array.from({ length: 1100 }, (_, i) => i)
      const shared = numbers.filter((i) => i % 200 === 0)
      for (let next = 0; next < numbers.length; next += 100) {
        const some = numbers.slice(next, next + 100)
        await Promise.all(some.map((i) => own.createDataSource(schema, { providedId: `d${i}` })))
      }
      for (const i of [...shared, ...shared]) await mapped(store, keyIn(own), { sales: `d${i}` })
      const found: string[] = []
      let calls = 0
      let afterId: number | null = null
      do {
        const slice: Awaited<ReturnType<Store['dataSources']['listShared']>> =
          await store.dataSources.listShared({ ...own.tenantScope, afterId })
        found.push(...slice.dataSources.map(({ providedId }) => providedId))
        afterId = slice.afterId
        calls++
      } while (afterId !== null)
      assert.ok(calls > 1)
      assert.deepEqual(found.toSorted(), shared.map((i) => `d${i}`).sort())
    })
  })
}

/** Compares two long lists and reports only the first difference, because a full diff takes minutes. */
function assertSame(found: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((one, i) => one !== found[i])
  assert.deepEqual(
    { at, found: found.at(at === -1 ? found.length : at), length: found.length },
    { at: -1, found: undefined, length: expected.length },
  )
}
