import type { Environment } from '../../domain/environment.ts'
import type { EncryptedTokenStore } from '../../domain/reencryption/encrypted-token-store.ts'
import {
  encryptedTokenTables,
  type EncryptedToken,
  type EncryptedTokenCursor,
  type EncryptedTokenPage,
  type EncryptedTokenTable,
  type ReencryptedToken,
} from '../../domain/reencryption/encrypted-token.ts'
import { bucketOf } from '../../domain/user-group/location.ts'
import { tables } from '../tables.ts'
import { forEachShard, inShard, type Operations } from './operation.ts'
import { list, postgres, raw, rowsOf, sql, type ColumnType, type Sql } from './sql.ts'

type Key = string | number | Uint8Array

type EncryptedTokenRow = Readonly<Record<string, Key>> & {
  readonly workspace_id: number
  readonly environment: Environment
  /** Column of a user group token. */
  readonly provided_id: string
  /** Column of a webhook secret. */
  readonly webhook_endpoint_id: number
  /** Column of a signing key. */
  readonly signing_key_id: string
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
}

/** The encrypted user group tokens, webhook secrets and signing keys of all workspaces. */
export const encryptedTokens: Operations<EncryptedTokenStore> = {
  *list({ cursor, limit }) {
    return pageOf(cursor.table, yield* selectPage(cursor, limit), limit)
  },

  *replace(tokens) {
    let count = 0
    for (const table of encryptedTokenTables) {
      const located = tokens
        .filter(({ replaced }) => replaced.table === table)
        .map((token) => ({ ...token, bucket: ownerBucket(token.replaced) }))
      if (located.length === 0) continue
      const replaced = yield* forEachShard(located, (shardBucket, ofShard) => [
        update(table, shardBucket, ofShard),
      ])
      count += replaced.length
    }
    return count
  },
}

function keyColumnsOf(table: EncryptedTokenTable): readonly string[] {
  return tables.find(({ name }) => name === table)?.key ?? []
}

function selectPage({ table, after }: EncryptedTokenCursor, limit: number): Sql<EncryptedTokenRow> {
  const key = keyColumnsOf(table)
  const owner = ownerColumns[table]
  const columns = new Set([...key, 'workspace_id', 'environment', 'token_key_id', 'token_sealed', owner])
  const order = raw(key.join(', '))
  const start = after === null ? raw('') : sql`WHERE (${order}) > (${list(after)})`
  return sql<EncryptedTokenRow>`SELECT ${raw([...columns].join(', '))} FROM ${raw(table)} ${start}
    ORDER BY ${order} LIMIT ${limit}`.inBucket(null)
}

/** The column of each table that names the owner in its workspace and environment. */
const ownerColumns = {
  user_group: 'provided_id',
  deleted_user_group: 'provided_id',
  idempotency_key: 'provided_id',
  webhook_secret: 'webhook_endpoint_id',
  signing_key: 'signing_key_id',
} as const satisfies Record<EncryptedTokenTable, keyof EncryptedTokenRow>

function ownerOf(table: EncryptedTokenTable, row: EncryptedTokenRow) {
  switch (ownerColumns[table]) {
    case 'webhook_endpoint_id':
      return { webhookEndpointId: row.webhook_endpoint_id }
    case 'signing_key_id':
      return { signingKeyId: row.signing_key_id }
    default:
      return { providedId: row.provided_id }
  }
}

function pageOf(
  table: EncryptedTokenTable,
  rows: readonly EncryptedTokenRow[],
  limit: number,
): EncryptedTokenPage {
  const key = keyColumnsOf(table)
  const tokens = rows.map((row): EncryptedToken => {
    const { workspace_id: workspaceId, environment, token_key_id, token_sealed } = row
    return {
      table,
      rowKey: key.map((column) => row[column] as Key),
      owner: { workspaceId, environment, ...ownerOf(table, row) },
      token: { keyId: token_key_id, sealed: token_sealed },
    }
  })
  const last = tokens.at(-1)
  if (last !== undefined && tokens.length === limit) return { tokens, next: { table, after: last.rowKey } }
  const nextTable = encryptedTokenTables[encryptedTokenTables.indexOf(table) + 1]
  return { tokens, next: nextTable === undefined ? null : { table: nextTable, after: null } }
}

/** Webhook secrets and signing keys are not distributed. */
function ownerBucket({ owner }: EncryptedToken): number {
  return 'providedId' in owner ? bucketOf(owner) : 0
}

/** Replaces tokens that have not changed. PostgreSQL skips locked rows, so that neither side waits. The next pass finds them. */
function update(
  table: EncryptedTokenTable,
  shardBucket: number | null,
  tokens: readonly (ReencryptedToken & { readonly bucket: number })[],
): Sql {
  const key = keyColumnsOf(table)
  const rows = tokens.map(({ bucket, replaced, token }) => ({
    ...Object.fromEntries(key.map((column, i) => [column, replaced.rowKey[i]])),
    row_bucket: bucket,
    replaced: replaced.token.sealed,
    key_id: token.keyId,
    sealed: token.sealed,
  }))
  const keyTypes = Object.fromEntries(key.map((column, i) => [column, typeOf(tokens[0]?.replaced.rowKey[i])]))
  const types = {
    ...keyTypes,
    row_bucket: 'smallint',
    replaced: 'bytea',
    key_id: 'text',
    sealed: 'bytea',
  } as const
  const ofShard = inShard(raw(`${table}.bucket`), shardBucket, tokens)
  const inBucket = (row: string) =>
    ownerColumns[table] === 'provided_id'
      ? postgres`AND ${raw(`${table}.bucket = ${row}.row_bucket`)} ${ofShard}`
      : raw('')
  const isRow = (row: string) =>
    sql`${raw(key.map((column) => `${table}.${column} = ${row}.${column}`).join(' AND '))} ${inBucket(row)}`
  return sql`WITH new AS (SELECT * FROM ${rowsOf('given', types, rows)}),
    locked AS (
      SELECT new.* FROM ${raw(table)} JOIN new ON ${isRow('new')}
      WHERE token_sealed = replaced AND key_id NOT IN (SELECT retired.key_id FROM retired_secret_key AS retired)
      ${postgres`FOR NO KEY UPDATE OF ${raw(table)} SKIP LOCKED`}
    )
    UPDATE ${raw(table)} SET token_key_id = key_id, token_sealed = sealed FROM locked WHERE ${isRow('locked')}
    RETURNING 1`
}

function typeOf(value: Key | undefined): ColumnType {
  return typeof value === 'number' ? 'bigint' : typeof value === 'string' ? 'text' : 'bytea'
}
