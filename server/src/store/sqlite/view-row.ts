import { viewColumns, type ViewRow } from '../user-group-row.ts'

/** `viewColumns` in their order. The encrypted token is in hexadecimal: SQLite would allocate memory for each blob. */
export const viewColumnsAsText = viewColumns.replace(/user_group\.token_sealed/, 'hex($&)')
export type ViewValues = [
  teamId: number,
  name: string,
  mapping: string | null,
  properties: string | null,
  keyId: string,
  sealed: string,
]

export function viewRowOf([team_id, name, mapping, properties, token_key_id, sealed]: ViewValues): ViewRow {
  return { team_id, name, mapping, properties, token_key_id, token_sealed: Buffer.from(sealed, 'hex') }
}
