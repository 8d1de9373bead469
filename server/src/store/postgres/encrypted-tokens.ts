import type { EncryptedTokenStore } from '../../domain/reencryption/encrypted-token-store.ts'
import type {
  EncryptedToken,
  ListEncryptedTokens,
  ReencryptedToken,
  EncryptedTokenPage,
  EncryptedTokenTable,
} from '../../domain/reencryption/encrypted-token.ts'
import { bucketOf } from '../../domain/user-group/location.ts'
import {
  byTable,
  encryptedTokenPage,
  keyColumnsOf,
  selectEncryptedTokens,
  type EncryptedTokenRow,
} from '../encrypted-token-row.ts'
import type { Distribution } from './citus/distribution.ts'
import type { Retry } from './retry.ts'

/** The encrypted user group tokens and webhook secrets of all workspaces. */
export class EncryptedTokens implements EncryptedTokenStore {
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(retry: Retry, distribution: Distribution) {
    this.#retry = retry
    this.#distribution = distribution
  }

  async list({ cursor, limit }: ListEncryptedTokens): Promise<EncryptedTokenPage> {
    const statement = selectEncryptedTokens(cursor, (index) => `$${index + 1}`)
    const rows = await this.#retry.query<EncryptedTokenRow>(statement, [...(cursor.after ?? []), limit], null)
    return encryptedTokenPage(cursor.table, rows, limit)
  }

  async replace(tokens: readonly ReencryptedToken[]): Promise<number> {
    let count = 0
    for (const [table, ofTable] of byTable(tokens)) {
      const located = ofTable.map((token) => ({ ...token, bucket: ownerBucket(token.replaced) }))
      const statement = updateOf(table, ofTable[0]?.replaced.rowKey ?? [])
      const replaced = await this.#distribution.forEachShard(located, (shardBucket, ofShard) =>
        this.#retry.query(
          statement,
          [
            shardBucket,
            ofShard.map((token) => token.bucket),
            ...(ofShard[0]?.replaced.rowKey ?? []).map((_, i) =>
              ofShard.map((token) => token.replaced.rowKey[i]),
            ),
            ofShard.map((token) => token.replaced.token.sealed),
            ofShard.map(({ token }) => token.keyId),
            ofShard.map(({ token }) => token.sealed),
          ],
          shardBucket,
        ),
      )
      count += replaced.flat().length
    }
    return count
  }
}

/** Webhook secrets are not distributed. */
function ownerBucket({ owner }: EncryptedToken): number {
  return 'providedId' in owner ? bucketOf(owner) : 0
}

/** Skips locked rows, so that neither side waits. The next pass finds them. */
function updateOf(table: EncryptedTokenTable, rowKey: EncryptedToken['rowKey']): string {
  const key = keyColumnsOf(table)
  const keyTypes = rowKey.map((value) =>
    typeof value === 'number' ? 'bigint' : typeof value === 'string' ? 'text' : 'bytea',
  )
  const types = ['smallint', ...keyTypes, 'bytea', 'text', 'bytea']
  const parameters = types.map((type, i) => `$${i + 2}::${type}[]`)
  const isRow = (row: string) =>
    [
      ...key.map((column) => `${table}.${column} = ${row}.${column}`),
      ...(table !== 'webhook_secret'
        ? [
            `${table}.bucket = ${row}.bucket AND ($1::smallint IS NULL OR ${table}.bucket = ANY ($2::smallint[]))`,
          ]
        : ['($1::smallint IS NULL OR true)']),
    ].join(' AND ')
  return `WITH new AS (
      SELECT * FROM unnest(${parameters.join(', ')}) AS new (bucket, ${key.join(', ')}, replaced, key_id, sealed)
    ), locked AS (
      SELECT new.* FROM ${table} JOIN new ON ${isRow('new')}
      WHERE token_sealed = replaced AND key_id <> ALL (SELECT retired.key_id FROM retired_secret_key AS retired)
      FOR NO KEY UPDATE OF ${table} SKIP LOCKED
    )
    UPDATE ${table} SET token_key_id = key_id, token_sealed = sealed FROM locked WHERE ${isRow('locked')}
    RETURNING 1`
}
