import type { Environment } from '../domain/environment.ts'
import {
  encryptedTokenPlaces,
  type ReencryptedToken,
  type EncryptedToken,
  type EncryptedTokenCursor,
  type EncryptedTokenPage,
  type EncryptedTokenPlace,
} from '../domain/token/encrypted-token.ts'
import { keyColumns, tables, type Table } from './tables.ts'

// Rows of all tables that hold an encrypted token.

export type EncryptedTokenRow = Readonly<Record<string, string | number | Uint8Array>> & {
  readonly workspace_id: number
  readonly environment: Environment
  readonly provided_id: string
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
}

const valueColumns = ['workspace_id', 'environment', 'provided_id', 'token_key_id', 'token_sealed']

export function encryptedTokenTable(place: EncryptedTokenPlace): Table {
  return tables.find(({ name }) => name === place) as Table
}

/** `parameter` writes the placeholder at an index, from 0: the key of the row to continue after, then the limit. */
export function selectEncryptedTokens(
  { place, after }: EncryptedTokenCursor,
  parameter: (index: number) => string,
): string {
  const key = keyColumns(encryptedTokenTable(place))
  const columns = [...new Set([...key, ...valueColumns])].join(', ')
  const start =
    after === null ? '' : `WHERE (${key.join(', ')}) > (${after.map((_, i) => parameter(i)).join(', ')})`
  return `SELECT ${columns} FROM ${place} ${start} ORDER BY ${key.join(', ')} LIMIT ${parameter(after?.length ?? 0)}`
}

export function encryptedTokenPage(
  place: EncryptedTokenPlace,
  rows: readonly EncryptedTokenRow[],
  limit: number,
): EncryptedTokenPage {
  const key = keyColumns(encryptedTokenTable(place))
  const tokens = rows.map((row): EncryptedToken => {
    const { workspace_id, environment, provided_id, token_key_id, token_sealed } = row
    return {
      place,
      rowKey: key.map((column) => row[column] as string | number | Uint8Array),
      userGroup: { workspaceId: workspace_id, environment, providedId: provided_id },
      token: { keyId: token_key_id, sealed: token_sealed },
    }
  })
  const last = tokens.at(-1)
  if (last !== undefined && tokens.length === limit) return { tokens, next: { place, after: last.rowKey } }
  const nextPlace = encryptedTokenPlaces[encryptedTokenPlaces.indexOf(place) + 1]
  return { tokens, next: nextPlace === undefined ? null : { place: nextPlace, after: null } }
}

/** Groups tokens by table, because a statement changes one table. */
export function byPlace(tokens: readonly ReencryptedToken[]): Map<EncryptedTokenPlace, ReencryptedToken[]> {
  const places = new Map<EncryptedTokenPlace, ReencryptedToken[]>()
  for (const token of tokens) {
    const { place } = token.replaced
    const known = places.get(place)
    if (known === undefined) places.set(place, [token])
    else known.push(token)
  }
  return places
}
