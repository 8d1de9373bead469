import { setTimeout as sleep } from 'node:timers/promises'
import { isDeadlock, withBriefLocks } from './brief-locks.ts'
import type { PrimaryPool, UnknownRow } from './primary-pool.ts'

export interface MigrationProgress {
  readonly table: string
  /** Number of rows that have a bucket, and of all rows. */
  readonly done: number
  readonly total: number
}

interface BucketedTable {
  readonly name: string
  /** Columns of the key that the table has before the migration. */
  readonly key: readonly string[]
  /** Columns of the key with the bucket. */
  readonly newKey: readonly string[]
  readonly index: string
  /** The bucket of a row. */
  readonly bucket: string
  readonly hasTokens?: boolean
}

const ownBucket = 'user_group_bucket(row.workspace_id, row.environment, row.provided_id)'
const isSameUserGroup = 'workspace_id = row.workspace_id AND team_id = row.team_id'
/** Rows of user groups that no longer exist are kept until their user group expires. */
const bucketOfUserGroup = `coalesce(
  (SELECT bucket FROM user_group WHERE ${isSameUserGroup}),
  (SELECT bucket FROM deleted_user_group WHERE ${isSameUserGroup}),
  0
)`
const location = ['workspace_id', 'team_id']
const entryKey = ['workspace_id', 'environment', 'schema_key', 'data_source_key', 'team_id']

/** The large tables. A table precedes those whose buckets are looked up in it. */
const bucketedTables: readonly BucketedTable[] = [
  {
    name: 'user_group',
    key: location,
    newKey: location,
    index: 'user_group_location',
    bucket: ownBucket,
    hasTokens: true,
  },
  {
    name: 'deleted_user_group',
    key: location,
    newKey: location,
    index: 'deleted_user_group_location',
    bucket: ownBucket,
    hasTokens: true,
  },
  {
    name: 'superseded_token',
    key: ['workspace_id', 'token_hash'],
    newKey: [...location, 'token_hash'],
    index: 'superseded_token_location',
    bucket: bucketOfUserGroup,
    hasTokens: true,
  },
  {
    name: 'mapping_entry',
    key: entryKey,
    newKey: entryKey,
    index: 'mapping_entry_location',
    bucket: bucketOfUserGroup,
  },
  {
    name: 'user_group_version',
    key: [...location, 'revision'],
    newKey: [...location, 'revision'],
    index: 'user_group_version_location',
    bucket: bucketOfUserGroup,
  },
  {
    name: 'last_introspection',
    key: location,
    newKey: location,
    index: 'last_introspection_location',
    bucket: bucketOfUserGroup,
  },
  {
    name: 'idempotency_key',
    key: ['workspace_id', 'environment', 'key_hash'],
    newKey: [...location, 'key_hash'],
    index: 'idempotency_key_location',
    bucket: ownBucket,
  },
  {
    name: 'audit_event',
    key: ['workspace_id', 'environment', 'event_id'],
    newKey: ['workspace_id', 'environment', 'event_id'],
    index: 'audit_event_location',
    bucket: `coalesce(${ownBucket}, 0)`,
  },
]

/** Rows per transaction: few enough that a change of one of them waits for some tens of milliseconds. */
const batchSize = 1000

/** Interval of checks for the end of another statement, in milliseconds. */
const checkIntervalMs = 200

/**
 * Fills the column `bucket` of rows from before migration 0009 in batches, records their tokens in `legacy_token`, and creates the
 * keys with the bucket without blocking writes. Can be repeated after an interruption.
 * @throws PostgresFailure
 */
export async function fillBuckets(
  primary: PrimaryPool,
  report: ((progress: MigrationProgress) => void) | undefined,
  onLocked: (() => void) | undefined,
): Promise<void> {
  for (const table of bucketedTables) {
    if (!(await requiresBucket(primary, table.name))) {
      await fillTable(primary, table, report)
      await requireBucket(primary, table.name, onLocked)
    }
    await createKey(primary, table.name, table.index, table.newKey)
  }
  await createKey(primary, 'user_group', 'user_group_provided_id', [
    'workspace_id',
    'environment',
    'provided_id',
  ])
}

async function fillTable(
  primary: PrimaryPool,
  table: BucketedTable,
  report: ((progress: MigrationProgress) => void) | undefined,
): Promise<void> {
  const [count] = await queryInTransaction<{ total: number }>(
    primary,
    `SELECT count(*) AS total FROM ${table.name}`,
  )
  const total = count?.total ?? 0
  let after: unknown[] | null = null
  for (let done = 0; ; done += batchSize) {
    if (done < total) report?.({ table: table.name, done, total })
    const last = await fillBatch(primary, table, after)
    if (last === undefined) break
    after = table.key.map((column) => last[column])
  }
  report?.({ table: table.name, done: total, total })
}

/** Fills the rows of the next batch that have no bucket, and returns the last key of the batch. */
async function fillBatch(
  primary: PrimaryPool,
  { name, key, bucket, hasTokens }: BucketedTable,
  after: readonly unknown[] | null,
): Promise<UnknownRow | undefined> {
  const columns = key.join(', ')
  const start = after === null ? '' : `WHERE (${columns}) > (${key.map((_, i) => `$${i + 2}`).join(', ')})`
  const legacy = hasTokens
    ? `, legacy AS (
         INSERT INTO legacy_token (token_hash, team_id, bucket) SELECT token_hash, team_id, bucket FROM filled ON CONFLICT DO NOTHING
       )`
    : ''
  const statement = `WITH batch AS MATERIALIZED (
      SELECT ${columns} FROM ${name} ${start} ORDER BY ${columns} LIMIT $1
    ), filled AS (
      UPDATE ${name} AS row SET bucket = ${bucket} FROM batch
      WHERE ${key.map((column) => `row.${column} = batch.${column}`).join(' AND ')} AND row.bucket IS NULL
      RETURNING row.*
    )${legacy}
    SELECT ${columns} FROM batch ORDER BY ${key.map((column) => `${column} DESC`).join(', ')} LIMIT 1`
  for (;;) {
    try {
      const [last] = await queryInTransaction(primary, statement, [batchSize, ...(after ?? [])])
      return last
    } catch (error) {
      // Requests lock the same rows.
      if (!isDeadlock(error)) throw error
    }
  }
}

/** Runs a statement without time limit. */
function queryInTransaction<Row = UnknownRow>(
  primary: PrimaryPool,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return primary.transaction((query) => query<Row>(statement, values), 'none')
}

const nameOfCheck = (table: string) => `${table}_has_bucket`

/** Returns whether the table has a valid check that each row has a bucket. */
async function requiresBucket(primary: PrimaryPool, table: string): Promise<boolean> {
  const checks = await primary.query(
    'SELECT 1 FROM pg_constraint WHERE conrelid = $1::regclass AND conname = $2 AND convalidated',
    [table, nameOfCheck(table)],
  )
  return checks.length > 0
}

/** Adds the check. It lets the contract set NOT NULL without reading the table. */
async function requireBucket(
  primary: PrimaryPool,
  table: string,
  onLocked: (() => void) | undefined,
): Promise<void> {
  const name = nameOfCheck(table)
  await withBriefLocks(
    primary,
    async (query) => {
      await query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`)
      await query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (bucket IS NOT NULL) NOT VALID`)
    },
    onLocked,
  )
  await queryInTransaction(primary, `ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`)
}

async function createKey(
  primary: PrimaryPool,
  table: string,
  index: string,
  key: readonly string[],
): Promise<void> {
  await waitForIndexBuild(primary, table)
  const [existing] = await primary.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  )
  if (existing?.valid) return
  // An interrupted creation leaves an invalid index.
  if (existing !== undefined) await primary.queryUnlimited(`DROP INDEX CONCURRENTLY ${index}`)
  await primary.queryUnlimited(
    `CREATE UNIQUE INDEX CONCURRENTLY ${index} ON ${table} (${[...key, 'bucket'].join(', ')})`,
  )
}

/**
 * Waits until the server has finished creating an index for a process that was killed. Polls: a statement that waits for a lock
 * holds a snapshot, and the creation of an index waits until all older snapshots end.
 */
async function waitForIndexBuild(primary: PrimaryPool, table: string): Promise<void> {
  const isRunning = async () => {
    const creations = await primary.query(
      'SELECT 1 FROM pg_stat_progress_create_index WHERE relid = $1::regclass AND datname = current_database()',
      [table],
    )
    return creations.length > 0
  }
  while (await isRunning()) await sleep(checkIntervalMs)
}
