import { spawn, type ChildProcess } from 'node:child_process'
import { chownSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { freeServerPort } from '../support/port.ts'
import type { Belongings } from './belongings.ts'
import { poll } from './poll.ts'
import { childrenOf, findPrograms, type Programs } from './programs.ts'
import type { Query } from './verify.ts'

const startBoundMs = 60_000
const credentials = 'postgres:example'

/** Dynamic configuration of Patroni. Times are in seconds. */
export interface Configuration {
  readonly ttl: number
  readonly loop_wait: number
  readonly retry_timeout: number
  readonly synchronous_mode_strict: boolean
  readonly failsafe_mode: boolean
}

/** Returns whether the programs of the Debian packages patroni and etcd-server are on the PATH. */
export function hasPatroni(): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return ['patroni', 'etcd'].every((program) => folders.some((folder) => existsSync(join(folder, program))))
}

/** A server of PostgreSQL with the Patroni that controls it. */
export class PatroniMember {
  readonly name: string
  readonly port: number
  readonly #folder: string
  readonly #programs: Programs
  readonly #belongings: Belongings
  #patroni: ChildProcess | undefined
  #frozen: readonly number[] = []

  constructor(belongings: Belongings, name: string, port: number, programs: Programs) {
    this.name = name
    this.port = port
    this.#belongings = belongings
    this.#programs = programs
    this.#folder = belongings.folder()
    this.#give(this.#folder)
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  configure(etcd: string, restPort: number, dynamic: Configuration): void {
    const configuration = {
      scope: 'ugs',
      name: this.name,
      restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
      etcd3: { hosts: etcd },
      bootstrap: {
        dcs: {
          ...dynamic,
          synchronous_mode: true,
          // Patroni starts a killed server again only after a failover.
          primary_start_timeout: 0,
          postgresql: { use_pg_rewind: true },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
      },
      postgresql: {
        listen: this.host,
        connect_address: this.host,
        data_dir: join(this.#folder, 'data'),
        bin_dir: this.#programs.folder,
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
        authentication: {
          superuser: { username: 'postgres', password: 'example' },
          replication: { username: 'postgres', password: 'example' },
        },
        parameters: { unix_socket_directories: '' },
      },
      watchdog: { mode: 'off' },
    }
    // JSON is YAML.
    const file = join(this.#folder, 'patroni.yml')
    writeFileSync(file, JSON.stringify(configuration))
    this.#give(file)
  }

  start(): void {
    const log = openSync(join(this.#folder, 'log'), 'a')
    this.#patroni = spawn('patroni', ['patroni.yml'], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      stdio: ['ignore', log, log],
      detached: true,
      ...this.#programs.user,
    })
    closeSync(log)
    // It ends its server too.
    this.#belongings.child(this.#patroni, 'SIGTERM')
  }

  get log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8')
  }

  /** Kills the server, which its Patroni notices. */
  async killServer(): Promise<void> {
    const pids = await this.#serverPids()
    send('SIGSTOP', pids)
    send('SIGKILL', pids)
  }

  /** Kills Patroni and the server, as if the machine were lost. */
  async kill(): Promise<void> {
    // A stopped server starts no more processes.
    send('SIGKILL', await this.freeze())
  }

  /** Stops Patroni and the server where they are, as on a machine that is paused. Returns the ids of the processes. */
  async freeze(): Promise<number[]> {
    const patroni = (this.#patroni as ChildProcess).pid as number
    const pids = [patroni, ...(await childrenOf(patroni)), ...(await this.#serverPids())]
    send('SIGSTOP', pids)
    this.#frozen = pids
    return pids
  }

  thaw(): void {
    send('SIGCONT', this.#frozen.toReversed())
  }

  async #serverPids(): Promise<number[]> {
    const [line] = readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
    const postmaster = Number(line)
    this.#belongings.process(postmaster, 'SIGQUIT')
    return [postmaster, ...(await childrenOf(postmaster))]
  }

  async query(statement: string, database = 'postgres'): Promise<any[]> {
    const client = new Client({
      connectionString: `postgres://${credentials}@${this.host}/${database}`,
      connectionTimeoutMillis: 1000,
      query_timeout: 5000,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query(statement)).rows
    } finally {
      void client.end()
    }
  }

  queryOf(database: string): Query {
    return (sql) => this.query(sql, database)
  }

  #give(path: string): void {
    const { uid, gid } = this.#programs.user
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  }
}

function send(signal: NodeJS.Signals, pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended by itself.
    }
  }
}

/** An etcd and servers of PostgreSQL with Patroni in synchronous mode and without a watchdog, on free local ports. */
export class PatroniCluster {
  readonly members: readonly PatroniMember[]
  /** Host and port. */
  readonly #etcd: string

  private constructor(etcd: string, members: readonly PatroniMember[]) {
    this.#etcd = etcd
    this.members = members
  }

  static async start(
    belongings: Belongings,
    servers: number,
    configuration: Configuration,
  ): Promise<PatroniCluster> {
    const programs = findPrograms()
    const etcd = await startEtcd(belongings)
    const members: PatroniMember[] = []
    for (let i = 1; i <= servers; i++)
      members.push(new PatroniMember(belongings, `server${i}`, await freeServerPort(), programs))
    const cluster = new PatroniCluster(etcd, members)
    for (const member of members) {
      member.configure(etcd, await freeServerPort(), configuration)
      member.start()
    }
    await cluster.healthy()
    return cluster
  }

  url(database: string): string {
    return `postgres://${credentials}@${this.members.map(({ host }) => host).join()}/${database}`
  }

  /** Resolves with the primary once its standby is synchronous. */
  synchronous(): Promise<PatroniMember> {
    return this.#poll('a primary with a synchronous standby', async (member) => {
      const [row] = await member.query(
        "SELECT count(*) AS count FROM pg_stat_replication WHERE sync_state = 'sync' AND NOT pg_is_in_recovery()",
      )
      return Number(row?.count) === 1
    })
  }

  /** Resolves with the primary once Patroni may promote its standby, which etcd must know to be synchronous. */
  async healthy(): Promise<PatroniMember> {
    const primary = await this.synchronous()
    await poll('a standby that may be promoted', startBoundMs, async () => {
      const { kvs } = (await this.#callEtcd('range', { key: '/service/ugs/sync' })) as {
        kvs: [{ value: string }]
      }
      const sync = JSON.parse(Buffer.from(kvs[0].value, 'base64').toString()) as Record<string, string | null>
      return (sync.leader === primary.name && Boolean(sync.sync_standby)) || undefined
    })
    return primary
  }

  /** Resolves with the member that accepts writes, and the time at which it did. */
  async writable(except: PatroniMember): Promise<{ primary: PatroniMember; at: number }> {
    const primary = await this.#poll('a write', async (member) => {
      if (member === except) return false
      await member.query('CREATE TABLE IF NOT EXISTS written (); INSERT INTO written DEFAULT VALUES')
      return true
    })
    return { primary, at: performance.now() }
  }

  /** Makes a member the owner of the leader key, as its Patroni does if it was paused just before it would have renewed the key. */
  async giveLeaderKey({ name }: PatroniMember): Promise<void> {
    await this.#callEtcd('put', { key: '/service/ugs/leader', value: name })
  }

  async #callEtcd(operation: 'put' | 'range', fields: Record<string, string>): Promise<unknown> {
    const encoded = Object.entries(fields).map(([name, text]) => [name, Buffer.from(text).toString('base64')])
    const response = await fetch(`http://${this.#etcd}/v3/kv/${operation}`, {
      method: 'POST',
      body: JSON.stringify(Object.fromEntries(encoded)),
    })
    if (!response.ok) throw new Error(`etcd responded ${response.status}`)
    return response.json()
  }

  async #poll(title: string, is: (member: PatroniMember) => Promise<boolean>): Promise<PatroniMember> {
    try {
      return await poll(title, startBoundMs, async () => {
        const states = await Promise.all(this.members.map((member) => is(member).catch(() => false)))
        return this.members.find((_, i) => states[i])
      })
    } catch (error) {
      const logs = this.members.map(({ name, log }) => `${name}:\n${log.split('\n').slice(-20).join('\n')}`)
      throw new Error(`${title}: in vain\n${logs.join('\n')}`, { cause: error })
    }
  }
}

/** Returns host and port. */
async function startEtcd(belongings: Belongings): Promise<string> {
  const folder = belongings.folder()
  const [client, peer] = [await freeServerPort(), await freeServerPort()].map((port) => `127.0.0.1:${port}`)
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(
    'etcd',
    [
      ...['--data-dir', join(folder, 'data'), '--initial-cluster', `default=http://${peer}`],
      ...['--listen-client-urls', `http://${client}`, '--advertise-client-urls', `http://${client}`],
      ...['--listen-peer-urls', `http://${peer}`, '--initial-advertise-peer-urls', `http://${peer}`],
    ],
    { stdio: ['ignore', log, log], detached: true },
  )
  closeSync(log)
  belongings.child(child, 'SIGKILL')
  await poll('etcd', startBoundMs, async () => (await fetch(`http://${client}/health`)).ok || undefined)
  return String(client)
}
