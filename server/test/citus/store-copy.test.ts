import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { UserGroup } from '../../src/domain/user-group/user-group.ts'
import { openStore } from '../../src/store/open-store.ts'
import { distributedTables, referenceTables } from '../../src/store/postgres/citus/citus.ts'
import { created, openPostgres, useAll, valueOf } from '../store/postgres/postgres-support.ts'
import { changing, sourceFile } from '../store/postgres/copy-support.ts'
import { defaults } from '../store/store-options.ts'
import { freshDatabase } from '../support/database.ts'
import { openSession } from '../support/session.ts'
import { assertSameRows, copiedTables, copyStore } from '../support/store-copy.ts'

describe('ugs store copy to Citus', () => {
  it('keeps all rows and tokens from SQLite to PostgreSQL to Citus', async (t) => {
    const source = await sourceFile(t, 1100)
    const groups: UserGroup[] = []
    await changing(source, async (store) => groups.push(await created(store), await created(store)))
    const [plain, distributed] = [await freshDatabase(t), await freshDatabase(t)]
    await (await openStore(parseDatabaseUrl(plain), { ...defaults, distribute: 'never' })).close()
    copiedTables(await copyStore(source.url, plain))
    copiedTables(await copyStore(plain, distributed))
    await assertSameRows(t, source.path, distributed)
    for (const [url, tables] of [
      [plain, 0],
      [distributed, distributedTables.length + referenceTables.length],
    ] as const) {
      const session = await openSession(t, url)
      assert.equal(await valueOf(session, 'SELECT count(*)::int FROM pg_dist_partition'), tables)
    }
    const store = await openPostgres(t, distributed)
    for (const group of groups) await useAll(store, group)
  })
})
