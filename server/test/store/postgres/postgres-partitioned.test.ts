import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readBlocks } from '../../docs/blocks.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { created, openPostgres, useAll, valueOf } from './postgres-support.ts'

it('PostgreSQL serves all operations from tables that are partitioned as docs/scaling.md says', async (t) => {
  const [statement] = readBlocks('docs/scaling.md', 'Native partitioning', 1)
  const url = await migratedDatabase(t)
  const store = await openPostgres(t, url)
  const before = await created(store)
  const session = await openSession(t, url)
  await session.query(statement)
  await useAll(store, before)
  for (let i = 0; i < 20; i++) await useAll(store, await created(store))
  const count = await valueOf(session, 'SELECT count(DISTINCT tableoid)::int FROM user_group')
  assert.ok((count as number) > 5)
})
