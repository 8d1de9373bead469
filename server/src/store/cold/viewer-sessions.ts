import type { Sealed } from '../../domain/secret-key/keyring.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { PublicJwk, SigningKey } from '../../domain/viewer-session/signing-key.ts'
import type { ViewerSessionStore } from '../../domain/viewer-session/viewer-session-store.ts'
import { appendAuditEvent } from './audit-log.ts'
import { batchSize, bucketColumn, deleteBatch, deletion } from './batch-deletion.ts'
import { changeRegistry, renewVersion } from './data-sources.ts'
import { inBatches, transaction, type Operations } from './operation.ts'
import { anyOf, postgres, sql } from './sql.ts'

type SigningKeyRow = Omit<SigningKey, 'publicJwk' | 'privateKey'> & Sealed & { readonly publicJwk: string }

interface EndedRow {
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
  readonly subject: string
}

const endedKey = { bucket: 'smallint', workspace_id: 'bigint', team_id: 'bigint', subject: 'text' } as const

export const viewerSessions: Operations<ViewerSessionStore> = {
  *listKeys(scope) {
    return (yield* selectKeys(scope)).map(signingKeyOf)
  },

  *addKey({ key, expectedKeyId, othersRetiredAt, now, ...actor }) {
    const { isAmbiguous } = yield* changeRegistry()
    const latest = (yield* selectKeys(key)).find(({ retiredAt }) => retiredAt === null)
    if (isAmbiguous && latest?.signingKeyId === key.signingKeyId) return 'added'
    if ((latest?.signingKeyId ?? null) !== expectedKeyId) return 'superseded'
    const { workspaceId, environment, signingKeyId, publicJwk, privateKey, createdAt, signsFrom } = key
    // The statement locks the table before it looks for the retired key (`SecretKeyRetirement`).
    const added = yield* sql`
      INSERT INTO signing_key (workspace_id, environment, signing_key_id, public_jwk, token_key_id, token_sealed, created_at, signs_from)
      SELECT ${workspaceId}, ${environment}, ${signingKeyId}, ${JSON.stringify(publicJwk)}, ${privateKey.keyId}, ${privateKey.sealed},
             ${createdAt}, ${signsFrom}
      WHERE NOT EXISTS (SELECT 1 FROM retired_secret_key WHERE key_id = ${privateKey.keyId})
      RETURNING 1`
    if (added.length === 0) return { outcome: 'secret_key_retired', keyId: privateKey.keyId }
    const retired = yield* sql<{
      signing_key_id: string
    }>`UPDATE signing_key SET retired_at = ${othersRetiredAt}
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND signing_key_id <> ${signingKeyId}
        AND (retired_at IS NULL OR retired_at > ${othersRetiredAt})
      RETURNING signing_key_id`
    const change = { workspaceId, environment, now, ...actor }
    const details = { signing_key_id: signingKeyId }
    if (othersRetiredAt > now || retired.length === 0) {
      yield* appendAuditEvent(
        latest === undefined ? 'signing_key.created' : 'signing_key.rotated',
        change,
        details,
      )
    } else {
      yield* renewVersion(key)
      const ids = retired.map((row) => row.signing_key_id).sort()
      yield* appendAuditEvent('signing_key.retired', change, { ...details, retired_key_ids: ids })
    }
    return 'added'
  },

  *isOver({ workspaceId, environment, bucket, teamId, signingKeyId, subjects, issuedAt, now }) {
    const usable = yield* sql`SELECT 1 FROM signing_key
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND signing_key_id = ${signingKeyId}
        AND coalesce(retired_at > ${now}, true)`.prepared('signing_key_select_usable')
    if (usable.length === 0) return true
    const ended = yield* sql`SELECT 1 FROM ended_session
      WHERE workspace_id = ${workspaceId} ${postgres`AND bucket = ${bucket}`} AND team_id = ${teamId}
        AND ${anyOf('subject', 'text', subjects)} AND ended_at >= ${issuedAt}`
      .prepared('ended_session_select')
      .inBucket(bucket)
    return ended.length > 0
  },

  *recordViewAs({ userGroup, viewerId: viewer_id, sessionId: session_id, ...change }) {
    yield* transaction()
    yield* appendAuditEvent('user_group.viewed_as', change, { viewer_id, session_id }, userGroup)
  },

  deleteExpired: inBatches((endedBefore: number) => {
    return function* () {
      const keys = yield* sql`DELETE FROM signing_key WHERE retired_at <= ${endedBefore} RETURNING 1`
      const expired = sql<EndedRow>`SELECT ${bucketColumn}, workspace_id, team_id, subject FROM ended_session
        WHERE ended_at <= ${endedBefore} ORDER BY ended_at LIMIT ${batchSize}`
      const { count, isDone } = yield* deleteBatch(expired, (shardBucket, rows) => [
        // A row may have a later time meanwhile.
        deletion('ended_session', endedKey, shardBucket, rows, sql`AND ended_at <= ${endedBefore}`),
      ])
      return { count: keys.length + count, isDone }
    }
  }),
}

/** The keys of one environment are few: one signs for 90 days. */
const selectKeys = ({ workspaceId, environment }: TenantScope) =>
  sql<SigningKeyRow>`
    SELECT workspace_id AS "workspaceId", environment, signing_key_id AS "signingKeyId", public_jwk AS "publicJwk",
           token_key_id AS "keyId", token_sealed AS sealed, created_at AS "createdAt", signs_from AS "signsFrom",
           retired_at AS "retiredAt"
    FROM signing_key WHERE workspace_id = ${workspaceId} AND environment = ${environment}
    ORDER BY created_at, signs_from`.prepared('signing_key_select')

function signingKeyOf({ publicJwk, keyId, sealed, ...row }: SigningKeyRow): SigningKey {
  return { ...row, publicJwk: JSON.parse(publicJwk) as PublicJwk, privateKey: { keyId, sealed } }
}
