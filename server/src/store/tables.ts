/** Value of a cell, in both dialects. */
type Cell = string | number | Uint8Array | null

/** The cells of a row, in the order of the table's columns. */
export type Cells = readonly Cell[]

export interface Table {
  readonly name: string
  /** PostgreSQL types of the columns, the key columns first. SQLite computes most columns `bucket`. */
  readonly columns: Readonly<Record<string, 'bigint' | 'smallint' | 'text' | 'bytea' | 'uuid'>>
  /** Number of key columns. Rows are read in key order, by an index. */
  readonly keyLength: number
  /** Columns with possibly long values. */
  readonly longColumns?: readonly string[]
  /** Column numbered by a counter that never repeats. */
  readonly counter?: string
  /** True if a store may lack the table. It then has no rows. */
  readonly isOptional?: boolean
}

/** All tables of a store, each after the tables that it refers to. */
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
      bucket: 'smallint',
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
      bucket: 'smallint',
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
      bucket: 'smallint',
    },
    keyLength: 2,
    longColumns: ['mapping', 'properties'],
  },
  {
    name: 'last_introspection',
    columns: { workspace_id: 'bigint', team_id: 'bigint', introspected_at: 'bigint', bucket: 'smallint' },
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
      bucket: 'smallint',
    },
    keyLength: 5,
  },
  {
    name: 'superseded_token',
    columns: {
      workspace_id: 'bigint',
      team_id: 'bigint',
      token_hash: 'bytea',
      issued_at: 'bigint',
      superseded_at: 'bigint',
      valid_until: 'bigint',
      bucket: 'smallint',
    },
    keyLength: 3,
  },
  {
    name: 'idempotency_key',
    columns: {
      workspace_id: 'bigint',
      team_id: 'bigint',
      key_hash: 'bytea',
      environment: 'text',
      fingerprint: 'bytea',
      provided_id: 'text',
      name: 'text',
      token_key_id: 'text',
      token_sealed: 'bytea',
      expires_at: 'bigint',
      bucket: 'smallint',
    },
    keyLength: 3,
  },
  {
    name: 'legacy_token',
    columns: { token_hash: 'bytea', team_id: 'bigint', bucket: 'smallint' },
    keyLength: 1,
    isOptional: true,
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
      bucket: 'smallint',
    },
    keyLength: 3,
  },
  {
    name: 'webhook_endpoint',
    columns: {
      webhook_endpoint_id: 'bigint',
      workspace_id: 'bigint',
      environment: 'text',
      name: 'text',
      url: 'text',
      event_types: 'text',
      state: 'text',
      created_at: 'bigint',
      updated_at: 'bigint',
      last_success_at: 'bigint',
      failing_since: 'bigint',
    },
    keyLength: 1,
    counter: 'webhook_endpoint_id',
  },
  {
    name: 'webhook_secret',
    columns: {
      webhook_endpoint_id: 'bigint',
      secret_number: 'bigint',
      workspace_id: 'bigint',
      environment: 'text',
      token_key_id: 'text',
      token_sealed: 'bytea',
      expires_at: 'bigint',
    },
    keyLength: 2,
  },
  { name: 'locator_key', columns: { key: 'bytea' }, keyLength: 1 },
  { name: 'retired_secret_key', columns: { key_id: 'text' }, keyLength: 1 },
  { name: 'secret_key_check', columns: { key_id: 'text', sealed: 'bytea' }, keyLength: 1 },
]

/** Tables of a store whose rows belong to its database or soon expire, so that they are not copied to another. */
export const uncopiedTables = [
  'event',
  'event_log',
  'webhook_leader',
  'webhook_delivery',
  'sign_in_link',
  'process_mark',
  'accepted_timeline',
] as const

/** Reads the tables of a store. */
export interface TableReader {
  /** Returns the next batch of rows after a key, in key order; empty at the end. */
  read(table: Table, after: Cells | null): Promise<Cells[]>

  count(table: Table): Promise<number>

  /** Returns the highest number that the table's counter has issued; 0 if none. */
  readCounter(table: Table): Promise<number>

  /** Returns whether a `beginFilling` in progress marks this same store. */
  isBeginningToBeFilled(): Promise<boolean>

  close(): Promise<void>
}

/** Fills an empty store with the rows of another. */
export interface TableWriter extends TableReader {
  /** Returns whether filling was begun and not finished. */
  isBeingFilled(): Promise<boolean>

  /**
   * Marks the store, so that no service starts on it before `finishFilling`, and removes the rows of a new store.
   * @throws StoreError if this is the store of `source`
   */
  beginFilling(source: TableReader): Promise<void>

  /** Inserts rows in one transaction, into an optional table that it creates if missing. Skips rows whose key exists. */
  insert(table: Table, rows: readonly Cells[]): Promise<void>

  /** Makes the counter continue after `value`. */
  setCounter(table: Table, value: number): Promise<void>

  finishFilling(): Promise<void>
}

/** Maximum number of rows in a batch. */
export const maxBatchRows = 1000
/** Number of bytes in long columns after which a batch ends, to bound memory. */
export const maxBatchBytes = 1_048_576

export function keyColumns({ columns, keyLength }: Table): string[] {
  return Object.keys(columns).slice(0, keyLength)
}

export function keyOf(table: Table, row: Cells): Cells {
  return row.slice(0, table.keyLength)
}
