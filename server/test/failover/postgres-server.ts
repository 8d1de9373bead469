import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, chownSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { freeServerPort } from '../support/port.ts'
import type { Belongings } from './belongings.ts'
import { Network } from './network.ts'
import { poll } from './poll.ts'
import type { Query } from './verify.ts'
import { childrenOf, findPrograms, isAnyRunning, runProgram, type Programs } from './programs.ts'

/** Maximum time of a start or a promotion, in milliseconds. */
const startBoundMs = 30_000

export interface ServerOptions {
  /** Folder of the write-ahead log, by default within the data folder. */
  readonly walFolder?: string
  /** Programs of the server, by default those that `findPrograms` returns. */
  readonly programs?: Programs
  readonly settings?: Readonly<Record<string, string | number>>
  /** True if clients need no password, as between the nodes of a cluster. */
  readonly trusts?: boolean
}

/** Settings with which a server keeps its log for `recover`. */
export const archiving = {
  archive_mode: 'on',
  archive_command: 'mkdir -p ../archive && cp %p ../archive/%f',
}

/** A PostgreSQL server on a free local port, by default with default settings. */
export class PostgresServer {
  /** Its name for the other servers. */
  readonly name: string
  readonly port: number
  readonly #belongings: Belongings
  readonly #programs: Programs
  readonly #settings: ServerOptions['settings']
  readonly #folder: string
  readonly #network: Network
  readonly #password: string
  #child: ChildProcess | undefined

  private constructor(
    belongings: Belongings,
    name: string,
    port: number,
    password: string,
    { programs, settings }: ServerOptions = {},
  ) {
    this.name = name
    this.port = port
    this.#belongings = belongings
    this.#password = password
    this.#programs = programs ?? findPrograms()
    this.#settings = settings
    this.#folder = belongings.folder()
    this.#network = new Network(port)
    this.#giveToServer(this.#folder)
  }

  #giveToServer(path: string): void {
    const { uid, gid } = this.#programs.user
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  }

  static async startPrimary(
    belongings: Belongings,
    name: string,
    options: ServerOptions = {},
  ): Promise<PostgresServer> {
    const { walFolder, trusts } = options
    const server = new PostgresServer(belongings, name, await freeServerPort(), randomUUID(), options)
    const passwordFile = join(server.#folder, 'password')
    writeFileSync(passwordFile, server.#password)
    server.#giveToServer(passwordFile)
    await server.#run(
      'initdb',
      ...['--pgdata=data', '--no-sync', '--encoding=UTF8', '--locale=C'],
      ...['--username=postgres', `--pwfile=${passwordFile}`],
      `--auth=${trusts === true ? 'trust' : 'scram-sha-256'}`,
      ...(walFolder === undefined ? [] : [`--waldir=${walFolder}`, '--wal-segsize=1']),
    )
    await server.start()
    await server.writable()
    return server
  }

  static async startStandby(
    belongings: Belongings,
    name: string,
    primary: PostgresServer,
  ): Promise<PostgresServer> {
    const server = new PostgresServer(belongings, name, await freeServerPort(), primary.#password)
    await server.follow(primary)
    return server
  }

  /** Takes a base backup as the data of a server that `recover` starts. */
  static async fromBackup(
    belongings: Belongings,
    name: string,
    primary: PostgresServer,
    options: ServerOptions,
  ): Promise<PostgresServer> {
    const server = new PostgresServer(belongings, name, await freeServerPort(), primary.#password, options)
    await server.#copy(primary)
    return server
  }

  /** Host and port, as in a URL. */
  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Host and port for clients on another machine. */
  get remoteHost(): string {
    return this.#network.host
  }

  get credentials(): string {
    return `postgres:${this.#password}`
  }

  async start(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a')
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      cluster_name: this.name,
      ...this.#settings,
    }
    const child = spawn(
      join(this.#programs.folder, 'postgres'),
      ['-D', 'data', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        cwd: this.#folder,
        env: { LC_ALL: 'C' },
        stdio: ['ignore', log, log],
        // Ctrl-C would shut it down while the tests still use it.
        detached: true,
        ...this.#programs.user,
      },
    )
    closeSync(log)
    this.#belongings.child(child, 'SIGQUIT')
    this.#child = child
    await this.#network.open()
  }

  /** Resolves when the server has ended by itself. */
  async ended(): Promise<void> {
    const child = this.#child as ChildProcess
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#network.cut()
  }

  /** Kills all of its processes at once, and the network to it. */
  async kill(): Promise<void> {
    const child = this.#child as ChildProcess
    const pid = child.pid as number
    const ended = once(child, 'exit')
    // Each process leads its own process group, so they must be killed one by one. A stopped server starts no more.
    const most = await childrenOf(pid)
    process.kill(pid, 'SIGSTOP')
    most.forEach(endNow)
    this.#network.cut()
    const rest = await childrenOf(pid)
    for (const each of [...rest, pid]) endNow(each)
    await ended
    const children = [...most, ...rest]
    await poll(`the end of ${this.name}`, 5000, async () =>
      (await isAnyRunning(children)) ? undefined : true,
    )
  }

  /** Stops all of its processes where they are, as on a machine that no longer responds. */
  async freeze(): Promise<void> {
    const pid = (this.#child as ChildProcess).pid as number
    process.kill(pid, 'SIGSTOP')
    for (const each of await childrenOf(pid)) process.kill(each, 'SIGSTOP')
  }

  async thaw(): Promise<void> {
    const pid = (this.#child as ChildProcess).pid as number
    for (const each of [...(await childrenOf(pid)), pid]) process.kill(each, 'SIGCONT')
  }

  /** Resolves with the time at which a direct connection could write. */
  async writable(): Promise<number> {
    return this.#whileItRuns(`a write on ${this.name}`, async () => {
      await this.query('CREATE TABLE IF NOT EXISTS written (); INSERT INTO written DEFAULT VALUES')
      return performance.now()
    })
  }

  /** Copies the primary and follows it as a synchronous standby. Resolves when commits wait for this server. */
  async follow(primary: PostgresServer): Promise<void> {
    rmSync(join(this.#folder, 'data'), { recursive: true, force: true })
    await primary.#setSynchronousStandby(this.name)
    await this.#copy(primary, '--write-recovery-conf')
    await this.start()
    await this.#whileItRuns(`${this.name} to be synchronous`, async () => {
      const [standby] = await primary.query('SELECT application_name, sync_state FROM pg_stat_replication')
      return standby?.application_name === this.name && standby.sync_state === 'sync' ? standby : undefined
    })
  }

  /** Resolves when the log up to now is archived, which needs `archiving`. */
  async archived(): Promise<void> {
    const [{ name }] = await this.query('SELECT pg_walfile_name(pg_switch_wal()) AS name')
    await this.#whileItRuns(`the archive of ${this.name}`, async () => {
      const [archiver] = await this.query(
        'SELECT FROM pg_stat_archiver WHERE left(last_archived_wal, 24) >= $1',
        [name],
      )
      return archiver
    })
  }

  /** Folder of the archived log, with `archiving`. */
  get archive(): string {
    return join(this.#folder, 'archive')
  }

  /** Starts with the data of a base backup and the archived log, as lines of `postgresql.conf` say. */
  async recover(configuration: string): Promise<void> {
    const data = join(this.#folder, 'data')
    appendFileSync(join(data, 'postgresql.conf'), configuration)
    const signal = join(data, 'recovery.signal')
    writeFileSync(signal, '')
    this.#giveToServer(signal)
    await this.start()
    await this.writable()
  }

  /** Promotes a standby to the primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
    // The copied setting makes commits wait for a standby, and this server has none.
    await this.#setSynchronousStandby('')
  }

  async query(statement: string, values: readonly unknown[] = [], database = 'postgres'): Promise<any[]> {
    const client = new Client({
      connectionString: `postgres://${this.credentials}@${this.host}/${database}`,
      connectionTimeoutMillis: 30_000,
      query_timeout: 30_000,
    })
    // The statement in flight reports the end of the connection.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query(statement, values.length > 0 ? [...values] : undefined)).rows
    } finally {
      await client.end()
    }
  }

  queryOf(database: string): Query {
    return (sql) => this.query(sql, [], database)
  }

  async #setSynchronousStandby(name: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await this.query('SELECT pg_reload_conf()')
  }

  #copy(primary: PostgresServer, ...options: string[]): Promise<void> {
    return this.#run(
      'pg_basebackup',
      ...['--pgdata=data', '--no-sync', '--checkpoint=fast', ...options],
      `--dbname=postgres://${primary.credentials}@${primary.host}`,
    )
  }

  #run(program: string, ...args: string[]): Promise<void> {
    return runProgram(this.#programs, this.#folder, program, args)
  }

  async #whileItRuns<T extends object | number>(
    title: string,
    ask: () => Promise<T | undefined>,
  ): Promise<T> {
    const child = this.#child as ChildProcess
    try {
      const response = await poll<T | 'ended'>(title, startBoundMs, async () =>
        child.exitCode === null ? await ask() : 'ended',
      )
      if (response !== 'ended') return response
      throw new Error(`${this.name} ended with ${child.exitCode}`)
    } catch (error) {
      const log = readFileSync(join(this.#folder, 'log'), 'utf8').split('\n').slice(-20).join('\n')
      throw new Error(`${title}: in vain; ${this.name} says:\n${log}`, { cause: error })
    }
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended by itself.
  }
}
