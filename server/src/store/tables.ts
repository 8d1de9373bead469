/** What a cell of a table holds, in either dialect. */
type Cell = string | number | Uint8Array | null

/** The cells of a row, in the order of the table's columns. */
export type Cells = readonly Cell[]

export interface Table {
  readonly name: string
  /** Each by its type in PostgreSQL; those of the key come first. */
  readonly columns: Readonly<Record<string, 'bigint' | 'text' | 'bytea' | 'uuid'>>
  /** How many of the columns are the key that the rows are read in the order of; an index leads by it. */
  readonly keyLength: number
  /** The columns that may be long. */
  readonly longColumns?: readonly string[]
  /** The column that the store counts up, never to give a number twice. */
  readonly counter?: string
}

/** All that a store keeps, each table after those that it refers to. */
export const tables: readonly Table[] = [
  {
    name: 'workspace',
    columns: { workspace_id: 'bigint', name: 'text', created_at: 'bigint' },
    keyLength: 1,
    counter: 'workspace_id',
  },
  {
    name: 'api_token',
    columns: {
      api_token_id: 'bigint',
      token_hash: 'bytea',
      workspace_id: 'bigint',
      environment: 'text',
      name: 'text',
      scopes: 'text',
      created_at: 'bigint',
      expires_at: 'bigint',
      revoked_at: 'bigint',
      last_used_at: 'bigint',
      replaced_by: 'bigint',
      calls_per_second: 'bigint',
      calls_at_once: 'bigint',
      booked_until: 'bigint',
    },
    keyLength: 1,
    counter: 'api_token_id',
  },
  {
    name: 'user_group',
    columns: {
      workspace_id: 'bigint',
      environment: 'text',
      provided_id: 'text',
      team_id: 'bigint',
      name: 'text',
      mapping: 'text',
      properties: 'text',
      token_hash: 'bytea',
      token_key_id: 'text',
      token_sealed: 'bytea',
      token_issued_at: 'bigint',
      created_at: 'bigint',
      updated_at: 'bigint',
      revision: 'bigint',
      updated_by: 'text',
      suspended_at: 'bigint',
    },
    keyLength: 3,
    longColumns: ['mapping', 'properties'],
    counter: 'team_id',
  },
  {
    name: 'user_group_version',
    columns: {
      workspace_id: 'bigint',
      team_id: 'bigint',
      revision: 'bigint',
      updated_at: 'bigint',
      updated_by: 'text',
      name: 'text',
      mapping: 'text',
      properties: 'text',
    },
    keyLength: 3,
    longColumns: ['mapping', 'properties'],
  },
  {
    name: 'deleted_user_group',
    columns: {
      workspace_id: 'bigint',
      team_id: 'bigint',
      environment: 'text',
      provided_id: 'text',
      name: 'text',
      mapping: 'text',
      properties: 'text',
      token_hash: 'bytea',
      token_key_id: 'text',
      token_sealed: 'bytea',
      token_issued_at: 'bigint',
      created_at: 'bigint',
      updated_at: 'bigint',
      revision: 'bigint',
      updated_by: 'text',
      suspended_at: 'bigint',
      deleted_at: 'bigint',
      deleted_by: 'text',
    },
    keyLength: 2,
    longColumns: ['mapping', 'properties'],
  },
  {
    name: 'last_introspection',
    columns: { workspace_id: 'bigint', team_id: 'bigint', introspected_at: 'bigint' },
    keyLength: 2,
  },
  {
    name: 'schema',
    columns: {
      workspace_id: 'bigint',
      schema_id: 'bigint',
      environment: 'text',
      provided_id: 'text',
      name: 'text',
      created_at: 'bigint',
    },
    keyLength: 2,
    counter: 'schema_id',
  },
  {
    name: 'data_source',
    columns: {
      workspace_id: 'bigint',
      data_source_id: 'bigint',
      schema_id: 'bigint',
      provided_id: 'text',
      name: 'text',
      created_at: 'bigint',
    },
    keyLength: 2,
    counter: 'data_source_id',
  },
  {
    name: 'registry',
    columns: { workspace_id: 'bigint', environment: 'text', version: 'text' },
    keyLength: 2,
  },
  {
    name: 'mapping_entry',
    columns: {
      workspace_id: 'bigint',
      environment: 'text',
      schema_key: 'text',
      data_source_key: 'text',
      team_id: 'bigint',
    },
    keyLength: 5,
  },
  {
    name: 'superseded_token',
    columns: {
      workspace_id: 'bigint',
      token_hash: 'bytea',
      team_id: 'bigint',
      issued_at: 'bigint',
      superseded_at: 'bigint',
      valid_until: 'bigint',
    },
    keyLength: 2,
  },
  {
    name: 'idempotency_key',
    columns: {
      workspace_id: 'bigint',
      environment: 'text',
      key_hash: 'bytea',
      fingerprint: 'bytea',
      team_id: 'bigint',
      provided_id: 'text',
      name: 'text',
      token_key_id: 'text',
      token_sealed: 'bytea',
      expires_at: 'bigint',
    },
    keyLength: 3,
  },
  {
    name: 'console_session',
    columns: { session_hash: 'bytea', api_token_id: 'bigint', created_at: 'bigint', last_used_at: 'bigint' },
    keyLength: 1,
  },
  {
    name: 'audit_event',
    columns: {
      workspace_id: 'bigint',
      environment: 'text',
      event_id: 'uuid',
      action: 'text',
      author: 'text',
      request_id: 'text',
      team_id: 'bigint',
      provided_id: 'text',
      details: 'text',
    },
    keyLength: 3,
  },
  { name: 'retired_secret_key', columns: { key_id: 'text' }, keyLength: 1 },
  { name: 'secret_key_check', columns: { key_id: 'text', sealed: 'bytea' }, keyLength: 1 },
]

/** Reads the tables of a store as they are. */
export interface TableReader {
  /** A batch of rows in the order of the key, from the first one after `key` on; empty where there are no more. */
  read(table: Table, after: Cells | null): Promise<Cells[]>

  count(table: Table): Promise<number>

  /** The highest number that the table's counter ever gave; 0 where it has none. */
  readCounter(table: Table): Promise<number>

  /** Whether this very store is the one that a `beginFilling` which is under way is about. */
  isBeginningToBeFilled(): Promise<boolean>

  close(): Promise<void>
}

/** Fills an empty store with the rows of another. */
export interface TableWriter extends TableReader {
  /** Whether filling was begun and not finished. */
  isBeingFilled(): Promise<boolean>

  /**
   * Marks the store, so that no service starts on it before `finishFilling`, and removes what every fresh store has.
   * @throws StoreError where it is `source` itself
   */
  beginFilling(source: TableReader): Promise<void>

  /** Adds rows in one transaction; a row whose key is there already is left as it is. */
  insert(table: Table, rows: readonly Cells[]): Promise<void>

  /** Has the counter go on after `value`. */
  setCounter(table: Table, value: number): Promise<void>

  finishFilling(): Promise<void>
}

/** How many rows a batch has at most. */
export const maxBatchRows = 1000
/** After how many bytes in long columns a batch ends, so that it fits into memory whatever the rows hold. */
export const maxBatchBytes = 1_048_576

export function keyColumns({ columns, keyLength }: Table): string[] {
  return Object.keys(columns).slice(0, keyLength)
}

export function keyOf(table: Table, row: Cells): Cells {
  return row.slice(0, table.keyLength)
}
