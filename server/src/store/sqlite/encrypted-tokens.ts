import type { Database } from 'better-sqlite3'
import type { ListSealedTokens, ResealedToken, SealedTokenPage } from '../../domain/token/encrypted-token.ts'
import {
  byPlace,
  sealedTokenPage,
  sealedTokenTable,
  selectSealedTokens,
  type SealedTokenRow,
} from '../encrypted-token-row.ts'
import { keyColumns } from '../tables.ts'

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
    for (const [place, ofPlace] of byPlace(tokens)) {
      const key = keyColumns(sealedTokenTable(place)).map((column) => `${column} = ?`)
      const update = this.#database.prepare(
        `UPDATE ${place} SET token_key_id = ?, token_sealed = ?
         WHERE ${key.join(' AND ')} AND token_sealed = ? AND ? NOT IN (SELECT key_id FROM retired_secret_key)`,
      )
      for (const { replaced, token } of ofPlace)
        count += update.run(
          ...[token.keyId, token.sealed, ...replaced.rowKey, replaced.token.sealed, token.keyId],
        ).changes
    }
    return count
  }
}
