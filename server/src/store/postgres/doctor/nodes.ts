import { hasCitus } from '../citus/citus.ts'
import { isOfNode, PostgresFailure } from '../postgres-fault.ts'
import type { Query } from '../primary-pool.ts'

/** Rows of one node. */
export interface NodeRows<Row> {
  /** Host and port, or null for the server itself. */
  readonly node: string | null
  readonly rows: readonly Row[]
}

interface NodeResult {
  readonly node: string
  readonly success: boolean
  readonly result: string | null
}

/**
 * Runs a statement on the server and on every other node of its Citus cluster. Leaves out nodes that cannot be reached, which the
 * check `nodes` reports. Cast numbers to integer or float8.
 * @throws PostgresFailure
 */
export async function onEveryNode<Row>(query: Query, statement: string): Promise<NodeRows<Row>[]> {
  const local = { node: null, rows: await query<Row>(statement) }
  if (!(await hasOtherNodes(query))) return [local]
  const results = await runOnOtherNodes(
    query,
    `SELECT coalesce(json_agg(row), '[]') FROM (${statement}) AS row`,
  )
  return [
    local,
    ...results
      .filter(({ success }) => success)
      .map(({ node, result }) => ({ node, rows: JSON.parse(result ?? '[]') as Row[] })),
  ]
}

/** Returns whether the server belongs to a Citus cluster of several nodes. */
export async function hasOtherNodes(query: Query): Promise<boolean> {
  if (!(await hasCitus(query))) return false
  const [row] = await query<{ exists: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM pg_dist_node WHERE groupid <> (SELECT groupid FROM pg_dist_local_group)) AS exists',
  )
  return row?.exists === true
}

/**
 * Runs a statement that returns one value on all active nodes but the server, each in its own statement: a node that hangs must not
 * keep the others from responding. Results of failed nodes may hold text of the server.
 */
export async function runOnOtherNodes(query: Query, statement: string): Promise<NodeResult[]> {
  const nodes = await query<{ host: string; port: number }>(
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
     WHERE isactive AND noderole = 'primary' AND groupid <> (SELECT groupid FROM pg_dist_local_group) ORDER BY nodeid`,
  )
  return Promise.all(
    nodes.map(async ({ host, port }) => ({
      node: `${host}:${port}`,
      ...(await runOnNode(query, [[host], [port], [statement]])),
    })),
  )
}

async function runOnNode(
  query: Query,
  values: readonly [hosts: string[], ports: number[], statements: string[]],
): Promise<Omit<NodeResult, 'node'>> {
  const failed = { success: false, result: null }
  try {
    const [row] = await query<Omit<NodeResult, 'node'>>(
      'SELECT success, result FROM master_run_on_worker($1, $2, $3, false)',
      values,
    )
    return row ?? failed
  } catch (failure) {
    if (!(failure instanceof PostgresFailure) || !isOfNode(failure.code)) throw failure
    return failed
  }
}

/** Returns " on HOST:PORT" for other nodes. */
export function onNode(node: string | null): string {
  return node === null ? '' : ` on ${node}`
}

/** Introduces a statement to run on a node. */
export function runThere(node: string | null, statement: string): string {
  return node === null
    ? `Run as a superuser: \`${statement}\`.`
    : `Run as a superuser on ${node}: \`${statement}\`.`
}
