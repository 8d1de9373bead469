import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { openPostgres, rowsOf } from './postgres-support.ts'

test('PostgreSQL: expired idempotency keys are deleted, also if they are more than one statement deletes', async (t) => {
  const url = await migratedDatabase(t)
  const store = await openPostgres(t, url)
  const session = await openSession(t, url)
  await session.query(`INSERT INTO idempotency_key
      (workspace_id, team_id, expires_at, bucket, environment, key_hash, fingerprint, provided_id, name, token_key_id, token_sealed)
    SELECT 1, number, number, 0, 'Customer', '\\x00', '\\x00', 'a', 'A', 'k1', '\\x00' FROM generate_series(1, 2002) AS number`)
  assert.equal(await store.userGroupHistory.deleteExpiredIdempotencyKeys(2001), 2001)
  assert.equal(await rowsOf(url, 'idempotency_key'), 1)
})
