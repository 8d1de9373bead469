/** Value of a cell, in both dialects. */
type Cell = string | number | Uint8Array | null

/** The cells of a row, in the order of the table's columns. */
export type Cells = readonly Cell[]

/** A table of a store. The schema files in `server/migrations` define its columns. */
export interface Table {
  readonly name: string
  /** Columns by which rows are read in order. An index of both dialects starts with them. */
  readonly key: readonly string[]
  /** Columns with possibly long values. */
  readonly longColumns?: readonly string[]
  /** Column numbered by a counter that never repeats. */
  readonly counter?: string
}

/** A table with its columns. */
export interface DescribedTable extends Table {
  /** PostgreSQL types of the columns, the key columns first. SQLite computes the column `bucket`. */
  readonly columns: ReadonlyMap<string, string>
}

const longColumns = ['mapping', 'properties']

/** The tables that are copied to another store, each after the tables that it refers to. */
export const tables: readonly Table[] = [
  { name: 'workspace', key: ['workspace_id'], counter: 'workspace_id' },
  { name: 'api_token', key: ['api_token_id'], counter: 'api_token_id' },
  {
    name: 'user_group',
    key: ['workspace_id', 'environment', 'provided_id'],
    longColumns,
    counter: 'team_id',
  },
  { name: 'unindexed_user_group', key: ['workspace_id', 'environment', 'team_id', 'revision'] },
  {
    name: 'search_posting',
    key: ['workspace_id', 'environment', 'first_team_id', 'gram'],
    longColumns: ['team_ids'],
  },
  { name: 'user_group_version', key: ['workspace_id', 'team_id', 'revision'], longColumns },
  { name: 'deleted_user_group', key: ['workspace_id', 'team_id'], longColumns },
  { name: 'last_introspection', key: ['workspace_id', 'team_id'] },
  {
    name: 'viewing',
    key: ['workspace_id', 'environment', 'month', 'team_id', 'viewer_id', 'resource'],
  },
  { name: 'schema', key: ['workspace_id', 'schema_id'], counter: 'schema_id' },
  { name: 'data_source', key: ['workspace_id', 'data_source_id'], counter: 'data_source_id' },
  { name: 'registry', key: ['workspace_id', 'environment'] },
  {
    name: 'mapping_entry',
    key: ['workspace_id', 'environment', 'schema_key', 'data_source_key', 'team_id'],
  },
  {
    name: 'accepted_finding',
    key: ['workspace_id', 'environment', 'kind', 'schema_key', 'data_source_key'],
  },
  { name: 'superseded_token', key: ['workspace_id', 'team_id', 'token_hash'] },
  { name: 'idempotency_key', key: ['workspace_id', 'team_id', 'key_hash'] },
  { name: 'ended_session', key: ['workspace_id', 'team_id', 'subject'] },
  { name: 'signing_key', key: ['workspace_id', 'environment', 'signing_key_id'] },
  { name: 'console_session', key: ['session_hash'] },
  { name: 'audit_event', key: ['workspace_id', 'environment', 'event_id'] },
  { name: 'job', key: ['job_id'], longColumns: ['selection'], counter: 'job_id' },
  { name: 'job_result', key: ['job_id', 'number'] },
  { name: 'webhook_endpoint', key: ['webhook_endpoint_id'], counter: 'webhook_endpoint_id' },
  { name: 'webhook_secret', key: ['webhook_endpoint_id', 'secret_number'] },
  { name: 'locator_key', key: ['key'] },
  { name: 'retired_secret_key', key: ['key_id'] },
  { name: 'secret_key_check', key: ['key_id'] },
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
  read(table: DescribedTable, after: Cells | null): Promise<Cells[]>

  count(table: Table): Promise<number>

  /** Returns the highest number that the table's counter has issued; 0 if none. */
  readCounter(table: Table): Promise<number>

  /** Returns whether a `beginFilling` in progress marks this same store. */
  isBeginningToBeFilled(): Promise<boolean>

  close(): Promise<void>
}

/** Fills an empty store with the rows of another. */
export interface TableWriter extends TableReader {
  /** Reads the columns of a table. */
  describe(table: Table): Promise<DescribedTable>

  /** Returns whether filling was begun and not finished. */
  isBeingFilled(): Promise<boolean>

  /**
   * Marks the store, so that no service starts on it before `finishFilling`, and removes the rows of a new store.
   * @throws StoreError if this is the store of `source`
   */
  beginFilling(source: TableReader): Promise<void>

  /** Inserts rows in one transaction. Skips rows whose key exists. */
  insert(table: DescribedTable, rows: readonly Cells[]): Promise<void>

  /** Makes the counter continue after `value`. */
  setCounter(table: Table, value: number): Promise<void>

  finishFilling(): Promise<void>
}

/** Maximum number of rows in a batch. */
export const maxBatchRows = 1000
/** Number of bytes in long columns after which a batch ends, to bound memory. */
export const maxBatchBytes = 1_048_576

export function keyOf(table: Table, row: Cells): Cells {
  return row.slice(0, table.key.length)
}
