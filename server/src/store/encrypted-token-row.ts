import type { Environment } from '../domain/environment.ts'
import {
  encryptedTokenTables,
  type ReencryptedToken,
  type EncryptedToken,
  type EncryptedTokenCursor,
  type EncryptedTokenPage,
  type EncryptedTokenTable,
} from '../domain/reencryption/encrypted-token.ts'
import { tables } from './tables.ts'

// Rows of all tables that hold an encrypted token.

export type EncryptedTokenRow = Readonly<Record<string, string | number | Uint8Array>> & {
  readonly workspace_id: number
  readonly environment: Environment
  /** Column of a user group token. */
  readonly provided_id: string
  /** Column of a webhook secret. */
  readonly webhook_endpoint_id: number
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
}

const valueColumns = ['workspace_id', 'environment', 'token_key_id', 'token_sealed']
const ownerColumn = (table: EncryptedTokenTable) =>
  table === 'webhook_secret' ? 'webhook_endpoint_id' : 'provided_id'

export function keyColumnsOf(table: EncryptedTokenTable): readonly string[] {
  return tables.find(({ name }) => name === table)?.key ?? []
}

/** `parameter` writes the placeholder at an index, from 0: the key of the row to continue after, then the limit. */
export function selectEncryptedTokens(
  { table, after }: EncryptedTokenCursor,
  parameter: (index: number) => string,
): string {
  const key = keyColumnsOf(table)
  const columns = [...new Set([...key, ...valueColumns, ownerColumn(table)])].join(', ')
  const start =
    after === null ? '' : `WHERE (${key.join(', ')}) > (${after.map((_, i) => parameter(i)).join(', ')})`
  return `SELECT ${columns} FROM ${table} ${start} ORDER BY ${key.join(', ')} LIMIT ${parameter(after?.length ?? 0)}`
}

export function encryptedTokenPage(
  table: EncryptedTokenTable,
  rows: readonly EncryptedTokenRow[],
  limit: number,
): EncryptedTokenPage {
  const key = keyColumnsOf(table)
  const tokens = rows.map((row): EncryptedToken => {
    const { workspace_id: workspaceId, environment, token_key_id, token_sealed } = row
    const owner =
      table === 'webhook_secret'
        ? { webhookEndpointId: row.webhook_endpoint_id }
        : { providedId: row.provided_id }
    return {
      table,
      rowKey: key.map((column) => row[column] as string | number | Uint8Array),
      owner: { workspaceId, environment, ...owner },
      token: { keyId: token_key_id, sealed: token_sealed },
    }
  })
  const last = tokens.at(-1)
  if (last !== undefined && tokens.length === limit) return { tokens, next: { table, after: last.rowKey } }
  const nextTable = encryptedTokenTables[encryptedTokenTables.indexOf(table) + 1]
  return { tokens, next: nextTable === undefined ? null : { table: nextTable, after: null } }
}

/** Groups tokens by table, because a statement changes one table. */
export function byTable(tokens: readonly ReencryptedToken[]): Map<EncryptedTokenTable, ReencryptedToken[]> {
  const groups = new Map<EncryptedTokenTable, ReencryptedToken[]>()
  for (const token of tokens) {
    const { table } = token.replaced
    const known = groups.get(table)
    if (known === undefined) groups.set(table, [token])
    else known.push(token)
  }
  return groups
}
