import { StoreError } from '../../store-error.ts'
import { withBriefLocks } from '../brief-locks.ts'
import type { PrimaryPool, Query } from '../primary-pool.ts'

/** Large tables, distributed by bucket. The others are placed with the first. */
export const distributedTables = [
  'user_group',
  'unindexed_user_group',
  'superseded_token',
  'idempotency_key',
  'mapping_entry',
  'user_group_version',
  'deleted_user_group',
  'last_introspection',
  'viewing',
  'ended_session',
  'audit_event',
] as const

/**
 * Small tables that statements on user groups read, so every node has a copy. All other tables stay on the coordinator, where a
 * write needs a two-phase commit only if it has an audit event.
 */
export const referenceTables = ['schema', 'data_source', 'registry', 'retired_secret_key'] as const

/** Functions that a call runs on the node of its bucket. */
export const distributedFunctions = [
  'create_user_groups',
  'change_user_groups',
  'replace_user_group_tokens',
  'end_grace_period',
  'delete_user_group',
  'restore_user_group',
]

/** Returns whether the database has the extension Citus. */
export async function hasCitus(query: Query): Promise<boolean> {
  const [row] = await query<{ exists: boolean }>(
    "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS exists",
  )
  return row?.exists === true
}

/** Returns whether Citus distributes the user groups. Other tables may still be waiting. */
export async function isDistributed(query: Query): Promise<boolean> {
  if (!(await hasCitus(query))) return false
  const tables = await query("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'user_group'::regclass")
  return tables.length > 0
}

/**
 * Returns whether the tables can be distributed now.
 * @throws StoreError if they cannot, and must
 */
export async function canDistribute(query: Query, mustDistribute: boolean): Promise<boolean> {
  const problem = await problemOf(query)
  if (problem !== null && mustDistribute) throw new StoreError(problem)
  return problem === null
}

async function problemOf(query: Query): Promise<string | null> {
  if (!(await hasCitus(query)))
    return 'the database has no extension Citus; run `CREATE EXTENSION citus` on all nodes'
  const workers = await query('SELECT 1 FROM pg_dist_node WHERE shouldhaveshards AND isactive')
  return workers.length > 0
    ? null
    : "Citus has no node that can hold shards; add one with `SELECT citus_add_node('HOST', PORT)`"
}

/**
 * Distributes the tables of a new store.
 * @param query runs statements in the transaction that created the tables
 */
export async function distributeNew(query: Query): Promise<void> {
  // Citus cannot use several connections to a node for tables that this transaction created.
  await query("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
  for (const table of [...referenceTables, ...distributedTables]) await query(distributeTableStatement(table))
  for (const name of distributedFunctions) await query(distributeFunctionStatement(name))
}

/**
 * Distributes the tables of an existing store, one after the other, while services run. Writes to a table wait while Citus copies
 * its rows. Can be repeated after an interruption. `create_distributed_table_concurrently` would block writes for a moment only,
 * but Citus 13.2 then loses writes: a transaction that waits for that moment deletes from the table that Citus no longer uses.
 */
export async function distributeLive(primary: PrimaryPool, onLocked?: () => void): Promise<void> {
  const runAlone = (statement: string) => {
    const run = async (query: Query) => {
      await liftLimitsOnWorkers(query)
      await query(statement)
    }
    return withBriefLocks(primary, run, onLocked)
  }
  for (const table of await findUndistributed(primary.query)) await runAlone(distributeTableStatement(table))
  for (const name of distributedFunctions) await primary.query(distributeFunctionStatement(name))
  // Citus leaves the rows of a table that it distributes on the coordinator's disk, out of sight.
  for (const table of [...referenceTables, ...distributedTables])
    await runAlone(
      `SELECT truncate_local_data_after_distributing_table(oid) FROM pg_class
       WHERE oid = '${table}'::regclass AND pg_relation_size(oid) > 0`,
    )
}

/**
 * Lifts the statement timeout that the workers of a cluster may have for the role, for the rest of the transaction. PostgreSQL ignores
 * the first setting. Citus sends a whole query string with each `SET`, so none of them may be in one with another statement.
 */
export async function liftLimitsOnWorkers(query: Query): Promise<void> {
  await query("SET LOCAL citus.propagate_set_commands = 'local'")
  await query('SET LOCAL statement_timeout = 0')
}

/** Returns the tables that are on the coordinator only, in the order in which they must be distributed. */
export async function findUndistributed(query: Query): Promise<DistributedTable[]> {
  const rows = await query<{ name: string }>(
    'SELECT logicalrelid::regclass::text AS name FROM pg_dist_partition',
  )
  const done = new Set(rows.map(({ name }) => name))
  return [...referenceTables, ...distributedTables].filter((table) => !done.has(table))
}

type DistributedTable = (typeof referenceTables | typeof distributedTables)[number]

function distributeTableStatement(table: DistributedTable): string {
  if (isReference(table)) return `SELECT create_reference_table('${table}')`
  const place = table === firstTable ? `shard_count => (${shardCount})` : `colocate_with => '${firstTable}'`
  return `SELECT create_distributed_table('${table}', 'bucket', ${place})`
}

/**
 * The number of shards, unless an operator has set it: one per node. Requests share a statement only within a shard, so that the 32 of
 * Citus would make them slower.
 */
const shardCount = `
  SELECT CASE source WHEN 'default' THEN (
    SELECT count(*)::int FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'
  ) ELSE setting::int END
  FROM pg_settings WHERE name = 'citus.shard_count'`

const [firstTable] = distributedTables

function isReference(table: string): table is (typeof referenceTables)[number] {
  return (referenceTables as readonly string[]).includes(table)
}

function distributeFunctionStatement(name: string): string {
  return (
    `SELECT create_distributed_function(oid::regprocedure, '_bucket', colocate_with => '${firstTable}') FROM pg_proc ` +
    `WHERE proname = '${name}' AND pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = '${firstTable}'::regclass)`
  )
}
