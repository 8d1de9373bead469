import { error, warning, type Finding } from '../../doctor.ts'
import {
  canDistribute,
  distributedFunctions,
  distributedTables,
  findUndistributed,
  hasCitus,
  referenceTables,
} from '../citus/citus.ts'
import type { DatabaseCheck } from './check.ts'
import { hasOtherNodes, onEveryNode, onNode, runOnOtherNodes, runThere, type NodeRows } from './nodes.ts'
import type { Query } from '../primary-pool.ts'

/** Checks of a Citus cluster. */
export const clusterChecks: readonly DatabaseCheck[] = [
  { name: 'nodes', needs: ['connection'], run: ({ query }) => ifCitus(query, findNodeProblems) },
  { name: 'distribution', needs: ['schema'], run: ({ query }) => ifCitus(query, findDistributionProblems) },
  { name: 'shards', needs: ['schema'], run: ({ query }) => ifCitus(query, findShardProblems) },
]

async function ifCitus(
  query: Query,
  run: (query: Query) => Promise<Finding[] | null>,
): Promise<Finding[] | null> {
  return (await hasCitus(query)) ? run(query) : null
}

const onCoordinator = (statement: string) => `Run as a superuser on the coordinator: \`${statement}\`.`

async function findNodeProblems(query: Query): Promise<Finding[]> {
  const [local] = await query<{ groupid: number }>('SELECT groupid FROM pg_dist_local_group')
  const findings: Finding[] = []
  if (local?.groupid !== 0) {
    findings.push(
      error('DATABASE_URL names a worker of the Citus cluster.', 'Set DATABASE_URL to the coordinator.'),
    )
  }
  const inactive = await query<{ host: string; port: number }>(
    "SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE NOT isactive AND noderole = 'primary' ORDER BY nodeid",
  )
  for (const { host, port } of inactive) {
    findings.push(
      error(
        `The node ${host}:${port} is not active.`,
        onCoordinator(`SELECT citus_activate_node('${host}', ${port})`),
      ),
    )
  }
  if (!(await hasOtherNodes(query))) return findings
  const results = await runOnOtherNodes(query, 'SELECT 1')
  for (const { node, success } of results) {
    if (success) continue
    findings.push(
      error(
        `The node ${node} cannot be reached. Requests for its user groups get 503.`,
        'Start PostgreSQL there, and check that the coordinator can log in: `SELECT * FROM citus_check_cluster_node_health()`.',
      ),
    )
  }
  const settings = await onEveryNode<ReplicationSettings>(
    query,
    "SELECT current_setting('wal_level') AS wal_level, current_setting('output_plugin_libraries', true) AS plugins",
  )
  return [...findings, ...findMoveProblems(settings)]
}

interface ReplicationSettings {
  readonly wal_level: string
  /** Output plugins that the server may load; null before PostgreSQL 15.20. */
  readonly plugins: string | null
}

/** Citus moves shards by logical replication. */
export function findMoveProblems(nodes: readonly NodeRows<ReplicationSettings>[]): Finding[] {
  return nodes.flatMap(({ node, rows: [settings] }) => {
    const plugins = settings?.plugins?.split(',').map((name) => name.trim())
    const wanted = [
      ...(settings?.wal_level === 'logical' ? [] : ["wal_level = 'logical'"]),
      ...(plugins === undefined || plugins.includes('citus')
        ? []
        : ['output_plugin_libraries = pgoutput, test_decoding, citus']),
    ]
    return wanted.map((setting) =>
      warning(
        `Citus cannot move shards${onNode(node)}, because ${setting.split(' ')[0]} has another value.`,
        `${runThere(node, `ALTER SYSTEM SET ${setting}`)} Then restart PostgreSQL there.`,
      ),
    )
  })
}

interface Partition {
  readonly name: string
  /** `h` for a distributed table, `n` for others. */
  readonly method: string
  /** `t` for a reference table. */
  readonly replication: string
  readonly colocation: number
}

const waits = 'Writes wait while it copies their tables.'

async function findDistributionProblems(query: Query): Promise<Finding[] | null> {
  const partitions = new Map(
    (
      await query<Partition>(
        `SELECT relname AS name, partmethod::text AS method, repmodel::text AS replication, colocationid::integer AS colocation
         FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid WHERE pg_table_is_visible(pg_class.oid)`,
      )
    ).map((partition) => [partition.name, partition]),
  )
  const isAnyDistributed = distributedTables.some((table) => partitions.get(table)?.method === 'h')
  if (!isAnyDistributed) {
    if (!(await canDistribute(query, false))) return null
    return [
      warning(
        'The database is a Citus cluster, but the tables are on the coordinator only.',
        `Run \`ugs migrate --citus on\`. ${waits}`,
      ),
    ]
  }
  const [first] = distributedTables
  const place = partitions.get(first)
  const misplaced = [
    ...distributedTables.filter((table) => {
      const partition = partitions.get(table)
      if (partition === undefined || place === undefined) return false
      return partition.method !== 'h' || partition.colocation !== place.colocation
    }),
    ...referenceTables.filter((table) => (partitions.get(table)?.replication ?? 't') !== 't'),
  ]
  const local = [...(await findUndistributed(query)), ...(await findLocalFunctions(query))]
  return [
    ...misplaced.map((table) =>
      error(
        `The table ${table} is not distributed as the others are.`,
        `${onCoordinator(`SELECT undistribute_table('${table}', cascade_via_foreign_keys => true)`)} Then run \`ugs migrate --citus on\`.`,
      ),
    ),
    ...(local.length === 0
      ? []
      : [
          error(
            `The distribution was interrupted: ${local.join(', ')} ${local.length === 1 ? 'is' : 'are'} on the coordinator only.`,
            `Run \`ugs migrate --citus on\` again. ${waits}`,
          ),
        ]),
  ]
}

/** Returns the functions whose calls are commits on several nodes, because they are not distributed. */
async function findLocalFunctions(query: Query): Promise<string[]> {
  const functions = await query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc
     WHERE proname = ANY ($1) AND pg_function_is_visible(oid) AND oid NOT IN (
       SELECT objid FROM pg_dist_object WHERE classid = 'pg_proc'::regclass AND distribution_argument_index IS NOT NULL
     ) ORDER BY proname`,
    [distributedFunctions],
  )
  return functions.map(({ name }) => name)
}

interface Placement {
  readonly shard_name: string
  /** Host and port; null if there is no placement or its node is unknown. */
  readonly node: string | null
  readonly is_local: boolean | null
}

async function findShardProblems(query: Query): Promise<Finding[] | null> {
  const placements = await query<Placement>(
    `SELECT shard_name(logicalrelid, shardid) AS shard_name, nodename || ':' || nodeport AS node,
            pg_dist_node.groupid = (SELECT groupid FROM pg_dist_local_group) AS is_local
     FROM pg_dist_shard
     JOIN pg_class ON pg_class.oid = logicalrelid
     LEFT JOIN pg_dist_placement USING (shardid)
     LEFT JOIN pg_dist_node ON pg_dist_node.groupid = pg_dist_placement.groupid AND noderole = 'primary'
     WHERE relname = ANY ($1) AND pg_table_is_visible(pg_class.oid) ORDER BY shardid`,
    [[...distributedTables, ...referenceTables]],
  )
  if (placements.length === 0) return null
  const [withoutPlacement] = placements.filter(({ node }) => node === null)
  return [
    ...(withoutPlacement === undefined
      ? []
      : [
          error(
            `Shards without a placement: ${listOf(placements.filter(({ node }) => node === null))}. Requests for their buckets fail.`,
            `Find the node that has the rows with \`SELECT * FROM run_command_on_workers($$SELECT to_regclass('${withoutPlacement.shard_name}')$$)\`, ` +
              'and restore the rows of pg_dist_placement and pg_dist_node from a backup of the coordinator.',
          ),
        ]),
    ...(await findMissingShards(query, placements)),
    ...(await findEmptyNodes(query)),
  ]
}

/** Number of shards that a finding names. */
const namedShards = 5

function listOf(shards: readonly Placement[]): string {
  const names = shards.slice(0, namedShards).map(({ shard_name: name }) => name)
  return shards.length > namedShards
    ? `${names.join(', ')} and ${shards.length - namedShards} more`
    : names.join(', ')
}

/** Finds placements whose node lacks the table. */
async function findMissingShards(query: Query, placements: readonly Placement[]): Promise<Finding[]> {
  const names = placements.map(({ shard_name: name }) => `'${name.replaceAll("'", "''")}'`)
  const present = await onEveryNode<{ name: string }>(
    query,
    `SELECT name FROM unnest(ARRAY[${names.join(', ')}]) AS name WHERE to_regclass(name) IS NOT NULL`,
  )
  const tablesOf = new Map(present.map(({ node, rows }) => [node, new Set(rows.map(({ name }) => name))]))
  const missing = placements.filter(({ shard_name: name, node, is_local: isLocal }) => {
    const tables = node === null ? undefined : tablesOf.get(isLocal ? null : node)
    return tables !== undefined && !tables.has(name)
  })
  return [...new Set(missing.map(({ node }) => node))].map((node) => {
    const shards = missing.filter((shard) => shard.node === node)
    return error(
      `The node ${node} lacks the tables of shards: ${listOf(shards)}.`,
      `Restore the tables on ${node} from a backup: \`pg_restore --table=${shards[0]?.shard_name}\`.`,
    )
  })
}

/** A node that was added holds no rows until shards move there. */
async function findEmptyNodes(query: Query): Promise<Finding[]> {
  const nodes = await query<{ node: string }>(
    `SELECT nodename || ':' || nodeport AS node FROM pg_dist_node
     WHERE isactive AND shouldhaveshards AND noderole = 'primary' AND NOT EXISTS (
       SELECT 1 FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
       WHERE pg_dist_placement.groupid = pg_dist_node.groupid AND logicalrelid = to_regclass('user_group')
     ) AND EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('user_group'))
     ORDER BY nodeid`,
  )
  return nodes.map(({ node }) =>
    warning(`The node ${node} holds no user groups.`, onCoordinator('SELECT citus_rebalance_start()')),
  )
}
