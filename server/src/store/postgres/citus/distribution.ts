import { Fault } from '../../../domain/fault.ts'
import { bucketCount } from '../../../domain/user-group/location.ts'
import { hasCitus, isDistributed } from './citus.ts'
import { NodeHealth } from './node-health.ts'
import { isOfNode } from '../postgres-fault.ts'
import type { PrimaryPool, Query } from '../primary-pool.ts'

/** Maximum number of connections that maintenance takes at once. */
const maxConnections = 4

/** Stands for the nodes of a statement for all shards. */
const allNodes = -1

/** Feature not supported, and an internal error: a plan without the values of its parameters. */
const refusals = new Set(['0A000', 'XX000'])
const undefinedTable = '42P01'
/** Minimum interval of detections because of a node that does not respond, in milliseconds. */
const detectAgainMs = 10_000

/** @throws Fault `not_implemented` on Citus */
export function refuseOnCitus(
  { isDistributed }: Pick<Distribution, 'isDistributed'>,
  feature: 'The event feed needs' | 'Webhooks need',
): void {
  if (!isDistributed) return
  throw new Fault(
    'not_implemented',
    `${feature} a store on SQLite or one PostgreSQL server: on Citus, events have no common order`,
  )
}

/** The distribution of the tables by Citus. */
export class Distribution {
  /** The shard and node of each bucket; null if the tables are not distributed. */
  #places: readonly Place[] | null = null

  readonly #primary: PrimaryPool
  readonly #health: NodeHealth
  #detecting: Promise<void> | undefined
  #detectAgainAt = 0
  #hasCitus = false

  /** @param deadlineMs time for which operations are retried, in milliseconds */
  constructor(primary: PrimaryPool, deadlineMs = Infinity) {
    this.#primary = primary
    // The other half of the connections serves the other nodes.
    this.#health = new NodeHealth(deadlineMs, Math.ceil(primary.poolSize / 2))
  }

  /** @throws PostgresFailure */
  detect(): Promise<void> {
    this.#detecting ??= this.#detect().finally(() => (this.#detecting = undefined))
    return this.#detecting
  }

  async #detect(): Promise<void> {
    const { query } = this.#primary
    this.#hasCitus = await hasCitus(query)
    const isNowDistributed = this.#hasCitus && (await isDistributed(query))
    // Citus needs the values of the parameters to find the shard.
    this.#primary.setDistributed(isNowDistributed)
    this.#places = isNowDistributed ? await readPlaces(query) : null
  }

  /**
   * Detects again after a statement failed in a way in which Citus refuses statements: the tables may have been distributed, or
   * their shards split. After a node did not respond, detects where shards have moved. Returns whether to retry the statement
   * although its error code is final otherwise.
   * @throws PostgresFailure
   */
  async noticeFailure(code: string): Promise<boolean> {
    if (refusals.has(code) || (this.isDistributed && isOfNode(code) && this.#mayDetectAgain()))
      await this.detect()
    // While Citus prepares a table, a node may not have it yet.
    return code === undefinedTable && this.#hasCitus && !this.isDistributed
  }

  #mayDetectAgain(): boolean {
    const now = performance.now()
    if (now < this.#detectAgainAt) return false
    this.#detectAgainAt = now + detectAgainMs
    return true
  }

  get isDistributed(): boolean {
    return this.#places !== null
  }

  /** Returns the shard of a bucket; null if the tables are not distributed. */
  shardOf(bucket: number): number | null {
    return this.#places?.[bucket]?.shard ?? null
  }

  /**
   * Runs a statement for a bucket, or for all shards if the bucket is null.
   * @throws PostgresFailure at once if the node is down; for all shards, if such statements have failed for as long
   */
  onNodeOf<T>(bucket: number | null, statement: () => Promise<T>): Promise<T> {
    if (this.#places === null) return statement()
    const node = bucket === null ? allNodes : (this.#places[bucket]?.node ?? null)
    return node === null ? statement() : this.#health.run(node, statement)
  }

  /**
   * Runs work on rows, once for each shard if the tables are distributed, with a bucket of the shard. Otherwise runs it once, without
   * a bucket, unless there are no rows. Runs a few at once and returns their results.
   */
  async forEachShard<Row extends { readonly bucket: number }, Result>(
    rows: readonly Row[],
    work: (shardBucket: number | null, rows: readonly Row[]) => Promise<Result>,
  ): Promise<Result[]> {
    const groups = new Map<number | null, Row[]>()
    for (const row of rows) {
      const shard = this.shardOf(row.bucket)
      const group = groups.get(shard)
      if (group === undefined) groups.set(shard, [row])
      else group.push(row)
    }
    const results: Result[] = []
    const rest = groups.entries()
    const runOnes = async () => {
      for (const [shard, group] of rest)
        results.push(await work(shard === null ? null : (group[0] as Row).bucket, group))
    }
    await Promise.all(Array.from({ length: maxConnections }, runOnes))
    return results
  }
}

interface Place {
  readonly shard: number
  /** The group id of the node; null if the shard is lost. */
  readonly node: number | null
}

async function readPlaces(query: Query): Promise<Place[]> {
  return query<{ shard: number; node: number | null }>(
    `SELECT shard, (SELECT min(groupid) FROM pg_dist_placement WHERE shardid = shard) AS node
     FROM generate_series(0, $1::integer - 1) AS bucket,
       LATERAL get_shard_id_for_distribution_column('user_group', bucket::smallint) AS shard
     ORDER BY bucket`,
    [bucketCount],
  )
}
