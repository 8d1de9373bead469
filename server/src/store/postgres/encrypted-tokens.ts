import type { EncryptedTokenStore } from '../../domain/token/encrypted-token-store.ts'
import type {
  ListEncryptedTokens,
  ReencryptedToken,
  EncryptedTokenPage,
  EncryptedTokenTable,
} from '../../domain/token/encrypted-token.ts'
import {
  byTable,
  encryptedTokenPage,
  definitionOf,
  selectEncryptedTokens,
  type EncryptedTokenRow,
} from '../encrypted-token-row.ts'
import type { Retry } from './retry.ts'
import { keyColumns } from '../tables.ts'

/** The encrypted user group tokens of all workspaces. */
export class EncryptedTokens implements EncryptedTokenStore {
  readonly #retry: Retry

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async list({ cursor, limit }: ListEncryptedTokens): Promise<EncryptedTokenPage> {
    const statement = selectEncryptedTokens(cursor, (index) => `$${index + 1}`)
    const rows = await this.#retry.query<EncryptedTokenRow>(statement, [...(cursor.after ?? []), limit])
    return encryptedTokenPage(cursor.table, rows, limit)
  }

  async replace(tokens: readonly ReencryptedToken[]): Promise<number> {
    let count = 0
    for (const [table, tokensOfTable] of byTable(tokens)) {
      const values = [
        ...(tokensOfTable[0]?.replaced.rowKey ?? []).map((_, i) =>
          tokensOfTable.map(({ replaced }) => replaced.rowKey[i]),
        ),
        tokensOfTable.map(({ replaced }) => replaced.token.sealed),
        tokensOfTable.map(({ token }) => token.keyId),
        tokensOfTable.map(({ token }) => token.sealed),
      ]
      const rows = await this.#retry.query(updateOf(table), values)
      count += rows.length
    }
    return count
  }
}

/** Skips locked rows, so that neither side waits. The next pass finds them. */
function updateOf(table: EncryptedTokenTable): string {
  const definition = definitionOf(table)
  const key = keyColumns(definition)
  const arrays = [...key.map((column) => definition.columns[column] as string), 'bytea', 'text', 'bytea']
  const parameters = arrays.map((type, i) => `$${i + 1}::${type}[]`)
  return `WITH new AS (
      SELECT * FROM unnest(${parameters.join(', ')}) AS new (${key.join(', ')}, replaced, key_id, sealed)
    ), locked AS (
      SELECT ${key.join(', ')}, key_id, sealed FROM ${table} JOIN new USING (${key.join(', ')})
      WHERE token_sealed = replaced AND key_id <> ALL (SELECT retired.key_id FROM retired_secret_key AS retired)
      FOR NO KEY UPDATE OF ${table} SKIP LOCKED
    )
    UPDATE ${table} SET token_key_id = key_id, token_sealed = sealed FROM locked
    WHERE ${key.map((column) => `${table}.${column} = locked.${column}`).join(' AND ')}
    RETURNING 1`
}
