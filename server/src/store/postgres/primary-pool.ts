import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type { PostgresHost, PostgresServer, PostgresTls } from '../location.ts'
import type { SlowStatements } from '../slow-statements.ts'
import { StoreError } from '../store-error.ts'
import { PostgresFailure, primaryBehind, readOnly, timedOut } from './postgres-fault.ts'
import { PrimaryFence, type AcknowledgedEvent } from './primary-fence.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'

export interface PrimaryPoolOptions {
  readonly poolSize: number
  /** All times are in milliseconds. */
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly slowStatements?: SlowStatements | undefined
  /** Called when a primary is refused because it lacks acknowledged changes, and when one is accepted again. Without it, none is refused. */
  readonly onPrimaryRefused?: ((isRefused: boolean) => void) | undefined
}

/** Number of connections, and of operations that wait for one. `isRefused`: the primary lacks acknowledged changes. */
export interface PoolState {
  readonly total: number
  readonly idle: number
  readonly waiting: number
  readonly max: number
  readonly isRefused: boolean
}

/** A statement and the type of its rows. */
export interface Statement<Row> {
  readonly text: string
  /** Name of a prepared statement. */
  readonly name?: string
  /** Never set. Carries the type of the rows. */
  readonly row?: Row
}

/**
 * A statement that each connection prepares once. Its name contains a digest of its text: behind an old PgBouncer, processes
 * of two releases share connections, and each must find its own statement.
 */
export function prepared<Row>(name: string, text: string): Statement<Row> {
  return { name: `${name}_${hash('sha256', text).slice(0, 12)}`, text }
}

export type UnknownRow = Readonly<Record<string, unknown>>

/** @throws PostgresFailure */
export type Query = <Row = UnknownRow>(
  statement: Statement<Row> | string,
  values?: readonly unknown[],
) => Promise<Row[]>

/**
 * Every statement finds each of its rows by a key. For a small table, PostgreSQL considers another plan equally good, and a
 * cached plan would stay in use after the table has grown. So each execution is planned separately until there are
 * statistics, and plan types that no statement needs are off.
 */
const sessionParameters = [
  'plan_cache_mode=force_custom_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
  'default_transaction_isolation=read\\ committed',
]
  .map((parameter) => `-c ${parameter}`)
  .join(' ')
const rowsToPlanBy = 1000
/** Interval of checks for statistics, in milliseconds. */
const lookForStatisticsMs = 10_000

/**
 * Begins a transaction. In READ COMMITTED, a statement that waited for a lock sees the changes of the previous holder. On Citus, one
 * connection to each node can combine all statements of the transaction. PostgreSQL ignores that setting.
 */
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL citus.multi_shard_modify_mode = 'sequential'"

/** Time added to the server's time-outs before the client drops an unresponsive connection, in milliseconds. */
const responseMarginMs = 1000
/** Maximum time that an operation waits for the probes of all hosts before it retries, in milliseconds. */
const searchMs = 250
/** Maximum delay of a Node.js timer, in milliseconds. */
const maxTimeoutMs = 2 ** 31 - 1

/**
 * Connections to the primary. If it stops accepting writes or becomes unreachable, connects to all hosts of the URL until one accepts
 * writes, so that a promoted standby is found.
 */
export class PrimaryPool {
  readonly #server: PostgresServer
  readonly #options: PrimaryPoolOptions
  readonly #tls: ConnectionOptions | undefined
  #host = 0
  #pool: pg.Pool
  /** False behind a PgBouncer before 1.21, which does not support prepared statements. */
  #prepares = true
  /** False behind a PgBouncer that refuses startup parameters. */
  #setsParameters = true
  #isDistributed = false
  #keepsPlans = false
  #lookForStatisticsAt = 0
  readonly #keepingPlans = new WeakSet<pg.PoolClient>()
  #lossCount = 0
  #closed = false
  /** True while none of several hosts is known to be the primary. */
  #isLost = false
  /** Probes in flight, by host. */
  readonly #probes: (Promise<void> | undefined)[] = []
  readonly fence: PrimaryFence | undefined

  /** Maximum number of connections. */
  get poolSize(): number {
    return this.#options.poolSize
  }

  /** Number of connections that broke or left the primary. */
  get lossCount(): number {
    return this.#lossCount
  }

  get poolState(): PoolState {
    const { totalCount, idleCount, waitingCount } = this.#pool
    const isRefused = this.fence?.isRefused === true
    return { total: totalCount, idle: idleCount, waiting: waitingCount, max: this.poolSize, isRefused }
  }

  /** @throws StoreError if a certificate cannot be read */
  constructor(server: PostgresServer, options: PrimaryPoolOptions) {
    this.#server = server
    this.#options = options
    this.#tls = server.tls && readTls(server.tls)
    this.fence = options.onPrimaryRefused && new PrimaryFence(options.poolSize, options.onPrimaryRefused)
    this.#pool = this.#createPool()
  }

  /**
   * Runs one statement as its own transaction. Calls `sent` once there is a connection to send it over.
   * @throws PostgresFailure
   */
  query = <Row = UnknownRow>(
    statement: Statement<Row> | string,
    values?: readonly unknown[],
    sent?: () => void,
  ): Promise<Row[]> =>
    this.#use(
      (run) => {
        sent?.()
        return run(statement, values)
      },
      'usual',
      this.#isDistributed,
    )

  /**
   * Runs `work` in one transaction, and rolls back if it throws. With `none`, there is no limit for locks and statements.
   * @throws PostgresFailure, and errors of `work`
   */
  transaction<T>(work: (query: Query) => Promise<T>, timeouts: 'usual' | 'none' = 'usual'): Promise<T> {
    return this.#use(async (run) => {
      await run(begin)
      try {
        if (timeouts === 'none') {
          await run('SET LOCAL statement_timeout = 0')
          await run('SET LOCAL lock_timeout = 0')
          await run('SET LOCAL idle_in_transaction_session_timeout = 0')
        }
        const result = await work(run)
        await run('COMMIT')
        return result
      } catch (error) {
        // Report the original error. A connection that fails to roll back is closed, and the server rolls back.
        await run('ROLLBACK').catch(() => undefined)
        throw error
      }
    }, timeouts)
  }

  /**
   * Runs one statement without limits for locks and for its duration. It is its own transaction, which some statements on indexes
   * need.
   * @throws PostgresFailure
   */
  queryUnlimited(statement: string): Promise<void> {
    return this.#use(async (run) => {
      await run('SET statement_timeout = 0; SET lock_timeout = 0')
      try {
        await run(statement)
      } finally {
        await run('RESET statement_timeout; RESET lock_timeout')
      }
    }, 'none')
  }

  /** Sets whether Citus distributes the tables. By default it does not, and connections reuse plans once there are statistics. */
  setDistributed(isDistributed: boolean): void {
    this.#isDistributed = isDistributed
    if (isDistributed) this.fence?.forgetEvents()
  }

  /** Refuses a later primary that lacks this event. On Citus, events are on workers, which are not checked. */
  acknowledge(event: AcknowledgedEvent): void {
    if (!this.#isDistributed) this.fence?.acknowledge(event)
  }

  /** Makes every operation use a new connection, which is checked. */
  reconnect(): void {
    this.#replace(this.#pool, this.#host)
  }

  /** Waits for queries in flight, then closes all connections. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.end()
  }

  async #use<T>(
    work: (query: Query) => Promise<T>,
    timeouts: 'usual' | 'none' = 'usual',
    commitsOnNode = false,
  ): Promise<T> {
    const { client, pool } = await this.#connect()
    const timeout = timeouts === 'none' ? maxTimeoutMs : this.#options.statementTimeoutMs + responseMarginMs
    let failure: PostgresFailure | undefined
    const run = async <R>(step: () => Promise<R>) => {
      try {
        return await step()
      } catch (error) {
        const failed = failureOf(error, 'querying', commitsOnNode)
        if (failed.closesConnection) failure = failed
        if (failed.code === '26000' || failed.code === '42P05') this.#prepares = false
        throw failed
      }
    }
    try {
      if (this.#setsParameters) await run(() => this.#configurePlanCache(client))
      return await work((statement, values = []) =>
        run(() => this.#query(client, timeout, statement, values)),
      )
    } finally {
      if (failure !== undefined) this.#lossCount++
      client.release(failure)
      if (failure?.code === readOnly || failure?.code === timedOut) this.#leave(pool)
    }
  }

  /**
   * Makes the connection reuse plans once there are statistics. By default PostgreSQL would plan a statement again whenever its
   * arrays have fewer than the ten elements that it assumes, which at low load is always.
   */
  async #configurePlanCache(client: pg.PoolClient): Promise<void> {
    if (this.#isDistributed) {
      if (this.#keepingPlans.delete(client)) await client.query("SET plan_cache_mode = 'force_custom_plan'")
      return
    }
    const now = performance.now()
    if (!this.#keepsPlans && now >= this.#lookForStatisticsAt) {
      this.#lookForStatisticsAt = now + lookForStatisticsMs
      this.#keepsPlans = await hasStatistics(client)
    }
    if (this.#keepsPlans && !this.#keepingPlans.has(client)) {
      // If PgBouncer ignored the startup parameters, the session is shared with other programs.
      await client.query(
        `SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
         WHERE current_setting('plan_cache_mode') = 'force_custom_plan'`,
      )
      this.#keepingPlans.add(client)
    }
  }

  async #query<Row>(
    client: pg.PoolClient,
    timeout: number,
    statement: Statement<Row> | string,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement
    const config: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: timeout }
    if (this.#prepares) config.name = name
    // Without values, a text may hold several statements, as migrations do.
    if (values.length > 0) config.values = [...values]
    const endStatement = this.#options.slowStatements?.start()
    try {
      return (await client.query(config)).rows as Row[]
    } finally {
      endStatement?.(name ?? text)
    }
  }

  /** @throws PostgresFailure */
  async #connect(): Promise<{ client: pg.PoolClient; pool: pg.Pool }> {
    for (let attempts = 0; ; attempts++) {
      if (this.#isLost) await this.#search()
      const pool = this.#pool
      try {
        return { client: await pool.connect(), pool }
      } catch (error) {
        const failure = failureOf(error, 'connecting')
        if (this.#closed) throw failure
        if (isRefusedStartup(error)) {
          this.#setsParameters = false
          this.#replace(pool, this.#host)
          continue
        }
        if (failure.code !== poolExhausted) this.#leave(pool)
        if (!this.#isLost || attempts > 0) throw failure
      }
    }
  }

  /** Makes the next operation search for the primary, unless another operation already found it. */
  #leave(pool: pg.Pool): void {
    if (this.#server.hosts.length > 1 && pool === this.#pool) this.#isLost = true
  }

  /**
   * Probes all hosts at once, so that one that does not respond delays no operation. Ends with the first that accepts writes. A slow
   * probe continues, and a later search finds it.
   * @throws PostgresFailure
   */
  async #search(): Promise<void> {
    const probes = this.#server.hosts.map((_, host) => (this.#probes[host] ??= this.#probe(host)))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new PostgresFailure(timedOut, 'connecting')), searchMs)
    })
    try {
      await Promise.race([Promise.any(probes), late])
    } catch (error) {
      const last: unknown = error instanceof AggregateError ? error.errors.at(-1) : error
      // The reason that needs an operator comes first.
      throw this.fence?.isRefused === true ? new PostgresFailure(primaryBehind, 'connecting') : last
    } finally {
      clearTimeout(timer)
    }
  }

  /** Uses a host if it accepts writes. @throws PostgresFailure if it does not */
  async #probe(host: number): Promise<void> {
    const client = new Connection(this.#connectionTo(host))
    client.on('error', () => undefined)
    try {
      await client.connect()
      await this.#check(client, () => this.#isLost)
      if (this.#isLost) this.#replace(this.#pool, host)
    } catch (error) {
      if (isRefusedStartup(error)) this.#setsParameters = false
      throw failureOf(error, 'connecting')
    } finally {
      this.#probes[host] = undefined
      void client.end().catch(() => undefined)
    }
  }

  /** @throws PostgresFailure if the server accepts no writes or lacks acknowledged changes */
  async #check(client: pg.ClientBase, isUsed: () => boolean): Promise<void> {
    await checkTakesWrites(client)
    await this.fence?.check(client, isUsed)
  }

  #replace(pool: pg.Pool, host: number): void {
    if (pool !== this.#pool || this.#closed) return
    this.#isLost = false
    this.#host = host
    this.#pool = this.#createPool()
    void pool.end()
  }

  #createPool(): pg.Pool {
    const pool = new pg.Pool({
      ...this.#connectionTo(this.#host),
      Client: Connection,
      max: this.poolSize,
      idleTimeoutMillis: this.#options.idleTimeoutMs,
      // An unresponsive server leaves connections half closed; the process does not wait for them.
      allowExitOnIdle: true,
      verify: (client, done) => void this.#check(client, () => pool === this.#pool).then(() => done(), done),
    })
    // The pool drops a connection that breaks while idle. At any other time, the query on it fails.
    pool.on('error', () => this.#lossCount++)
    pool.on('connect', (client) => client.on('error', () => undefined))
    return pool
  }

  #connectionTo(index: number): pg.ClientConfig {
    const { database, user, password, applicationName, usesChannelBinding, options = '' } = this.#server
    const { host, port } = this.#server.hosts[index] as PostgresHost
    const { statementTimeoutMs, lockTimeoutMs } = this.#options
    const connectTimeoutMs = this.#server.connectTimeoutMs ?? this.#options.connectTimeoutMs
    return {
      host,
      port,
      database,
      user,
      password,
      application_name: applicationName,
      ssl: this.#tls ?? false,
      enableChannelBinding: usesChannelBinding,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      query_timeout: connectTimeoutMs,
      ...(options !== '' && { options }),
      ...(this.#setsParameters && {
        statement_timeout: statementTimeoutMs,
        // 0 would mean no limit.
        lock_timeout: Math.max(lockTimeoutMs, 1),
        idle_in_transaction_session_timeout: statementTimeoutMs,
        options: `${options} ${sessionParameters}`.trim(),
      }),
      types,
    }
  }
}

/** Ends if it cannot authenticate. Otherwise the process would not exit until the server's authentication time-out. */
class Connection extends pg.Client {
  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    if (callback === undefined) return super.connect()
    super.connect((error?: Error | null) => {
      if (error) void this.end()
      callback(error as Error)
    })
  }
}

const poolExhausted = 'POOL_EXHAUSTED'
const passwordRefused = '28P01'

/** @throws PostgresFailure if the server accepts no writes */
async function checkTakesWrites(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only')
  if (rows[0]?.transaction_read_only !== 'off') throw new PostgresFailure(readOnly, 'connecting')
}

async function hasStatistics(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ count: number }>(
    "SELECT reltuples AS count FROM pg_class WHERE oid = to_regclass('user_group')",
  )
  return (rows[0]?.count ?? 0) >= rowsToPlanBy
}

/** All bigint values are below 2^53: times in milliseconds, and ids. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

function failureOf(error: unknown, phase: 'connecting' | 'querying', commitsOnNode = false): PostgresFailure {
  if (error instanceof PostgresFailure) return error
  const isConnectionUsable = error instanceof pg.DatabaseError && error.severity === 'ERROR'
  return new PostgresFailure(codeOf(error), phase, { isConnectionUsable, commitsOnNode })
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  // The driver distinguishes its own failures only by message.
  if (error.message.includes('timeout exceeded when trying to connect')) return poolExhausted
  if (/timeout/i.test(error.message)) return timedOut
  if (error.message.includes('client password must be')) return passwordRefused
  if (error.message.includes('does not support SSL')) return 'TLS_NOT_SUPPORTED'
  return 'ECONNRESET'
}

/** PgBouncer refuses startup parameters that it would have to reset for the next client. */
function isRefusedStartup(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.message.startsWith('unsupported startup parameter')
}

/** @throws StoreError */
function readTls({ rootCertificate, certificate, key, verifiesHost }: PostgresTls): ConnectionOptions {
  return {
    ca: rootCertificate && readPem('sslrootcert', rootCertificate),
    cert: certificate && readPem('sslcert', certificate),
    key: key && readPem('sslkey', key),
    ...(!verifiesHost && { checkServerIdentity: () => undefined }),
  }
}

function readPem(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = errorCodeOf(error) ?? 'unknown'
    throw new StoreError(`${parameter}: the file cannot be read (${code})`)
  }
}
