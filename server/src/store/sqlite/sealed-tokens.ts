import type { Database } from 'better-sqlite3'
import type { ListSealedTokens, ResealedToken, SealedTokenPage } from '../../domain/sealed-token.ts'
import {
  keyColumns,
  sealedTokenPage,
  sealedTokenTable,
  selectSealedTokens,
  type SealedTokenRow,
} from '../sealed-token-row.ts'

/** The user group tokens of all workspaces, for what seals them anew. */
export class SealedTokens {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  list({ cursor, limit }: ListSealedTokens): SealedTokenPage {
    const rows = this.#database
      .prepare<unknown[], SealedTokenRow>(selectSealedTokens(cursor, () => '?'))
      .all(...(cursor.after ?? []), limit)
    return sealedTokenPage(cursor.place, rows, limit)
  }

  replace(tokens: readonly ResealedToken[]): number {
    let count = 0
    for (const { replaced, token } of tokens) {
      const key = keyColumns(sealedTokenTable(replaced.place)).map((column) => `${column} = ?`)
      const { changes } = this.#database
        .prepare(
          `UPDATE ${replaced.place} SET token_key_id = ?, token_sealed = ?
           WHERE ${key.join(' AND ')} AND token_sealed = ?`,
        )
        .run(token.keyId, token.sealed, ...replaced.rowKey, replaced.token.sealed)
      count += changes
    }
    return count
  }
}
