import assert from 'node:assert/strict'
import { it } from 'node:test'
import { migratedDatabase } from '../../support/database.ts'
import { find, openObserved, statementsOfCreation } from '../contract/observed-store.ts'
import { freshKey } from '../contract/store-fixtures.ts'

it('PostgreSQL: an observer of batches is notified of each statement that calls share, and of those calls', async (t) => {
  const { store, batches } = await openObserved(t, await migratedDatabase(t))
  const key = freshKey()
  await Promise.all([store.userGroups.find(key), find(store), store.userGroups.find(key)])
  assert.deepEqual(batches, [{ kind: 'read', calls: [1, 2, 3], end: 'done' }])
})

it('PostgreSQL: slow statements have the name or the text of the statement', async (t) => {
  const statements = await statementsOfCreation(t, await migratedDatabase(t))
  assert.match(statements.join('\n'), /^user_group_create_[0-9a-f]{12}$/m)
})

it('PostgreSQL: the space of a store is the size of the database', async (t) => {
  const { store } = await openObserved(t, await migratedDatabase(t))
  const { size, free } = await store.space()
  assert.ok(size > 1_000_000, String(size))
  assert.equal(free, null)
})
