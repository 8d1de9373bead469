import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { openPostgres } from './postgres-support.ts'

it('PostgreSQL: retiring a secret key waits for writes that started before', async () => {
  const scope = { after }
  const url = await migratedDatabase(scope)
  const store = await openPostgres(scope, url)
  const writer = await openSession(scope, url)
  await writer.query('BEGIN')
  const bucket = bucketOf({ workspaceId: 1, environment: 'Customer', providedId: 'late' })
  // Like a creation that has just checked the secret keys.
  await writer.query(
    `INSERT INTO user_group (workspace_id, environment, provided_id, bucket, team_id, name, token_hash, token_key_id, token_sealed,
                             token_issued_at, created_at, updated_at, updated_by)
     VALUES (1, 'Customer', 'late', ${bucket}, 1, 'Late', '\\x00', 'k1', '\\x00', 1, 1, 1,
             'api_token:1')`,
  )
  let isRetired = false
  const retiring = store.secretKeys.retire('k1').then(() => (isRetired = true))
  while (!(await store.secretKeys.listRetired()).includes('k1'));
  // A longer time makes it more likely to detect a store that does not wait.
  await sleep(200)
  assert.equal(isRetired, false)
  await writer.query('COMMIT')
  await retiring
  const { tokens } = await store.encryptedTokens.list({
    cursor: { table: 'user_group', after: null },
    limit: 9,
  })
  assert.deepEqual(
    tokens.map(({ token }) => token.keyId),
    ['k1'],
  )
})
