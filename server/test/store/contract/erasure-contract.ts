import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../store-options.ts'
import { userGroupOf } from './created-user-group.ts'
import { getOrCreate } from './mapped-user-groups.ts'
import type { MappingEntriesOptions } from './mapping-entries-contract.ts'
import { Registry } from './registry.ts'
import { searchAll } from './search-contract.ts'
import { actor, deletion } from './store-fixtures.ts'

/** Tests that names and ids leave the search index although few have changed. */
export function describeErasure(name: string, { freshUrl, query }: MappingEntriesOptions): void {
  it(`${name}: the search index loses deleted user groups and replaced names`, async (t) => {
    const url = await freshUrl()
    const store = await openStore(parseDatabaseUrl(url), defaults)
    t.after(() => store.close())
    const own = await Registry.fresh(store)
    const write = async (providedId: string, userGroupName: string) =>
      userGroupOf(
        await getOrCreate(store, { ...own.tenantScope, providedId }, { change: { name: userGroupName } }),
      )
    const grams = async () =>
      (await query(url, 'SELECT gram FROM search_posting')).map((row) => String(row.gram))
    const assertErased = async () => {
      await store.userGroupSearch.eraseFromIndex()
      assert.deepEqual(
        await query(url, 'SELECT * FROM unindexed_user_group WHERE removed_name IS NOT NULL'),
        [],
      )
    }
    const has = (all: readonly string[], ...wanted: string[]) => wanted.map((gram) => all.includes(gram))

    const deleted = await write('1234', 'Zeppelin Works')
    await write('5678', 'Zeppelin Yards')
    await write('5690', 'Quarz 5690')
    await store.userGroupSearch.eraseFromIndex()
    assert.deepEqual(await grams(), [])

    await store.userGroups.delete(deletion(await write('0', 'Temporary')))
    await assertErased()
    assert.deepEqual(has(await grams(), 'wor', '123', 'zep', 'qua', 'tem'), [true, true, true, true, false])

    await store.userGroups.delete(deletion(deleted))
    await write('5690', 'Other')
    await assertErased()
    const left = await grams()
    assert.deepEqual(has(left, 'wor', '123', 'qua'), [false, false, false])
    assert.deepEqual(has(left, 'zep', 'yar', 'oth', '569'), [true, true, true, true])

    const { teamId } = deleted
    await store.userGroups.restore({ ...actor, now: 9000, ...own.tenantScope, teamId, deletedAfter: 0 })
    const found = async (textPart: string) =>
      (await searchAll(store, own, { textPart })).map(({ providedId }) => providedId)
    assert.deepEqual(await found('zeppelin'), ['1234', '5678'])
    assert.deepEqual(await found('569'), ['5690'])
    for (const { providedId } of await searchAll(store, own, {}))
      await store.userGroups.delete(deletion({ ...own.tenantScope, providedId }))
    await assertErased()
    assert.deepEqual(await grams(), [])
  })
}
