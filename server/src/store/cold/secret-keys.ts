import type { SecretKeyCheck, SecretKeyStore } from '../../domain/secret-key/secret-key-store.ts'
import type { Operations } from './operation.ts'
import { raw, sql } from './sql.ts'

const selectChecks = raw('SELECT key_id AS "keyId", sealed FROM secret_key_check')

export const secretKeys: Operations<SecretKeyStore> = {
  *listChecks() {
    return yield* sql<SecretKeyCheck>`${selectChecks} ORDER BY key_id`
  },

  *addCheck({ keyId, sealed }) {
    yield* sql`INSERT INTO secret_key_check (key_id, sealed) VALUES (${keyId}, ${sealed})
      ON CONFLICT (key_id) DO NOTHING`
    const [check] = yield* sql<SecretKeyCheck>`${selectChecks} WHERE key_id = ${keyId}`
    return check as SecretKeyCheck
  },

  *deleteCheck(keyId) {
    yield* sql`DELETE FROM secret_key_check WHERE key_id = ${keyId}`
  },

  /** On SQLite, one transaction writes at a time: an earlier write is visible, and a later one finds the retired key. */
  *retire(keyId) {
    yield* sql`INSERT INTO retired_secret_key (key_id) VALUES (${keyId}) ON CONFLICT (key_id) DO NOTHING`
  },

  *listRetired() {
    const rows = yield* sql<{ key_id: string }>`SELECT key_id FROM retired_secret_key ORDER BY key_id`
    return rows.map(({ key_id }) => key_id)
  },
}
