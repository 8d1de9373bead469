import type { Database } from 'better-sqlite3'
import type {
  ListEncryptedTokens,
  ReencryptedToken,
  EncryptedTokenPage,
} from '../../domain/reencryption/encrypted-token.ts'
import {
  byTable,
  encryptedTokenPage,
  keyColumnsOf,
  selectEncryptedTokens,
  type EncryptedTokenRow,
} from '../encrypted-token-row.ts'

/** The encrypted user group tokens and webhook secrets of all workspaces. */
export class EncryptedTokens {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  list({ cursor, limit }: ListEncryptedTokens): EncryptedTokenPage {
    const rows = this.#database
      .prepare<unknown[], EncryptedTokenRow>(selectEncryptedTokens(cursor, () => '?'))
      .all(...(cursor.after ?? []), limit)
    return encryptedTokenPage(cursor.table, rows, limit)
  }

  replace(tokens: readonly ReencryptedToken[]): number {
    let count = 0
    for (const [table, tokensOfTable] of byTable(tokens)) {
      const key = keyColumnsOf(table).map((column) => `${column} = ?`)
      const update = this.#database.prepare(
        `UPDATE ${table} SET token_key_id = ?, token_sealed = ?
         WHERE ${key.join(' AND ')} AND token_sealed = ? AND ? NOT IN (SELECT key_id FROM retired_secret_key)`,
      )
      for (const { replaced, token } of tokensOfTable)
        count += update.run(
          token.keyId,
          token.sealed,
          ...replaced.rowKey,
          replaced.token.sealed,
          token.keyId,
        ).changes
    }
    return count
  }
}
