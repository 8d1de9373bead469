import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { bucketOf } from '../../src/domain/user-group/location.ts'
import type { Belongings } from '../failover/belongings.ts'
import { PostgresServer, type ServerOptions } from '../failover/postgres-server.ts'
import { programsIn } from '../failover/programs.ts'
import { database, startServicesOn, type Services } from '../failover/services.ts'
import type { Query } from '../failover/verify.ts'

/** Fewer shards are faster to create and to move. */
const shardCount = 8

// Not the view citus_shards, which asks every node for sizes.
const placements = 'pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)'

/** A shard of the user groups, with the port of its node. */
export interface Shard {
  readonly id: number
  readonly port: number
}

/** A Citus cluster of one test file, which may kill and add nodes. */
export class CitusCluster {
  readonly coordinator: PostgresServer
  readonly workers: PostgresServer[] = []
  readonly #belongings: Belongings
  readonly #options: ServerOptions

  private constructor(belongings: Belongings, options: ServerOptions, coordinator: PostgresServer) {
    this.#belongings = belongings
    this.#options = options
    this.coordinator = coordinator
  }

  /** Starts a cluster with the programs of the one in TEST_CITUS_URLS. */
  static async start(
    belongings: Belongings,
    workerCount: number,
    settings: ServerOptions['settings'] = {},
  ): Promise<CitusCluster> {
    const defaults = await readOptions()
    const options = { ...defaults, settings: { ...defaults.settings, ...settings } }
    const coordinator = await startNode(belongings, 'coordinator', options)
    const cluster = new CitusCluster(belongings, options, coordinator)
    await cluster.query(`SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
    await cluster.query(`ALTER DATABASE ${database} SET citus.shard_count = ${shardCount}`)
    await cluster.addWorkers(workerCount)
    return cluster
  }

  /** Starts servers and adds them to the cluster. They hold no shards yet. */
  async addWorkers(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, i) => `worker ${this.workers.length + i + 1}`)
    const added = await Promise.all(names.map((name) => startNode(this.#belongings, name, this.#options)))
    for (const { port } of added) await this.query(`SELECT citus_add_node('127.0.0.1', ${port})`)
    this.workers.push(...added)
  }

  get nodes(): readonly PostgresServer[] {
    return [this.coordinator, ...this.workers]
  }

  /** Takes a base backup of each node. Returns the cluster to restore, whose nodes have other addresses. */
  async backUp(): Promise<CitusCluster> {
    const copies = this.nodes.map((node) =>
      PostgresServer.fromBackup(this.#belongings, `restored ${node.name}`, node, this.#options),
    )
    const [coordinator, ...workers] = (await Promise.all(copies)) as [PostgresServer, ...PostgresServer[]]
    const cluster = new CitusCluster(this.#belongings, this.#options, coordinator)
    cluster.workers.push(...workers)
    return cluster
  }

  /** Starts two services on the store. The second one reaches the coordinator through a slower network. */
  startServices(settings?: Readonly<Record<string, string>>): Promise<Services> {
    const { credentials, host, remoteHost } = this.coordinator
    const urlOf = (address: string) => `postgres://${credentials}@${address}/${database}`
    return startServicesOn(this.#belongings, [urlOf(host), urlOf(remoteHost)], settings)
  }

  get databaseUrl(): string {
    return `postgres://${this.coordinator.credentials}@${this.coordinator.host}/${database}`
  }

  /** Runs a statement on the coordinator. */
  readonly query: Query = (sql) => this.coordinator.query(sql, [], database)

  async shards(): Promise<Shard[]> {
    const rows = await this.query(
      `SELECT shardid, nodeport FROM pg_dist_shard JOIN ${placements} WHERE logicalrelid = 'user_group'::regclass ORDER BY shardid`,
    )
    return rows.map(({ shardid, nodeport }) => ({ id: Number(shardid), port: nodeport }))
  }

  /** Returns the port of the node for a `user_group_id` in the environment Testing. */
  async portOf(userGroupId: string): Promise<number> {
    const bucket = bucketOf({ workspaceId: 1, environment: 'Testing', providedId: userGroupId })
    const [row] = await this.query(
      `SELECT nodeport FROM pg_dist_shard JOIN ${placements} WHERE shardid = get_shard_id_for_distribution_column(
         'user_group', ${bucket}::smallint)`,
    )
    return row.nodeport
  }

  /** Returns the names of the prepared transactions of all nodes. */
  async preparedTransactions(): Promise<string[]> {
    const rows = await Promise.all(this.nodes.map((node) => node.query('SELECT gid FROM pg_prepared_xacts')))
    return rows.flat().map(({ gid }) => gid)
  }
}

/**
 * Returns why tests cannot start a cluster on this machine, after a message, or false if they can.
 * @throws Error with that reason on CI
 */
export async function reasonToSkip(): Promise<string | false> {
  try {
    await readOptions()
    return false
  } catch (error) {
    if (process.env.CI === 'true') throw error
    const { message } = error as Error
    console.error(`SKIPPED the tests with a Citus cluster of their own: ${message}`)
    return message
  }
}

/** @throws Error if there is no cluster, or its programs are not on this machine */
async function readOptions(): Promise<ServerOptions> {
  const [url] = (process.env.TEST_CITUS_URLS ?? '').split(' ')
  if (!url) throw new Error('TEST_CITUS_URLS does not name a Citus cluster')
  const client = new Client(url)
  await client.connect()
  const { rows } = await client.query(
    `SELECT setting AS folder, EXISTS (SELECT 1 FROM pg_settings WHERE pg_settings.name = 'output_plugin_libraries') AS lists_plugins
     FROM pg_config WHERE name = 'BINDIR'`,
  )
  await client.end()
  const [{ folder, lists_plugins: listsPlugins }] = rows
  if (!existsSync(join(folder, 'postgres'))) throw new Error(`no PostgreSQL server in ${folder}`)
  const settings = {
    shared_preload_libraries: 'citus',
    fsync: 'off',
    max_connections: 300,
    max_prepared_transactions: 300,
    // Shards move by logical replication.
    wal_level: 'logical',
    max_worker_processes: 64,
    max_replication_slots: 32,
    max_wal_senders: 32,
    // Since 15.20, PostgreSQL loads only these.
    ...(listsPlugins && { output_plugin_libraries: 'pgoutput,test_decoding,citus' }),
    'citus.max_client_connections': -1,
    'citus.node_conninfo': 'sslmode=disable',
  }
  return { programs: programsIn(folder), settings, trusts: true }
}

async function startNode(
  belongings: Belongings,
  name: string,
  options: ServerOptions,
): Promise<PostgresServer> {
  const node = await PostgresServer.startPrimary(belongings, name, options)
  await node.query(`CREATE DATABASE ${database}`)
  await node.query('CREATE EXTENSION citus', [], database)
  return node
}
