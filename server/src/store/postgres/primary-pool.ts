import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type { PostgresHost, PostgresServer, PostgresTls } from '../location.ts'
import { StoreError } from '../store-error.ts'
import { PostgresFailure, readOnly } from './postgres-fault.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'

export interface PrimaryPoolOptions {
  readonly poolSize: number
  /** All times in milliseconds. */
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** How many connections there are now, and how much waits for one. */
export interface PoolState {
  readonly total: number
  readonly idle: number
  readonly waiting: number
  readonly max: number
}

/** A statement, and what its rows are. */
export interface Statement<Row> {
  readonly text: string
  /** Of a prepared statement. */
  readonly name?: string
  /** Never set: it is the type that counts. */
  readonly row?: Row
}

/**
 * A statement that each connection prepares once. Its text is part of its name: behind an old PgBouncer processes of two
 * versions share connections, and each must find its own.
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
 * Every statement finds each of its rows by a key. While a table is small, another plan seems as good to PostgreSQL, and a
 * plan that is kept would then be used when the table has grown: so each execution is planned anew until there are
 * statistics to plan by, and what no statement here has use for is turned off.
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
/** How often it is looked whether there are statistics by now. */
const lookForStatisticsMs = 10_000

/** What the client adds to the server's own time-outs before it gives up a connection that no longer answers. */
const responseMarginMs = 1000
/** What a timer of Node.js holds. */
const maxTimeoutMs = 2 ** 31 - 1

/**
 * Connections to the server of a cluster that takes writes. Where it no longer does or cannot be reached, the next
 * host is tried, in the order of the URL, until one does: so a promoted standby is found.
 */
export class PrimaryPool {
  readonly #server: PostgresServer
  readonly #options: PrimaryPoolOptions
  readonly #tls: ConnectionOptions | undefined
  #host = 0
  #pool: pg.Pool
  /** False behind a PgBouncer that lets no connection keep its prepared statements (before 1.21). */
  #prepares = true
  /** False behind a PgBouncer that takes no parameters at the start of a connection. */
  #setsParameters = true
  #keepsPlans = false
  #lookForStatisticsAt = 0
  readonly #keepingPlans = new WeakSet<pg.PoolClient>()
  #closed = false

  /** How many connections there may be. */
  get poolSize(): number {
    return this.#options.poolSize
  }

  get poolState(): PoolState {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { total: totalCount, idle: idleCount, waiting: waitingCount, max: this.poolSize }
  }

  /** @throws StoreError where a certificate cannot be read */
  constructor(server: PostgresServer, options: PrimaryPoolOptions) {
    this.#server = server
    this.#options = options
    this.#tls = server.tls && readTls(server.tls)
    this.#pool = this.#createPool()
  }

  /**
   * Runs one statement, which is its own transaction. Calls `sent` when there is a connection to send it over.
   * @throws PostgresFailure
   */
  query = <Row = UnknownRow>(
    statement: Statement<Row> | string,
    values?: readonly unknown[],
    sent?: () => void,
  ): Promise<Row[]> =>
    this.#use((run) => {
      sent?.()
      return run(statement, values)
    })

  /**
   * Runs `work` in one transaction, which is rolled back if it throws. Without time-outs it may wait for a lock, or a
   * statement take, as long as it may.
   * @throws PostgresFailure, and what `work` throws
   */
  transaction<T>(work: (query: Query) => Promise<T>, timeouts: 'usual' | 'none' = 'usual'): Promise<T> {
    return this.#use(async (run) => {
      // What waits for a lock must then see what the holder of the lock has done.
      await run('BEGIN ISOLATION LEVEL READ COMMITTED')
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
        // What made it fail is what is told. A connection that fails to roll back is closed, and the server does it.
        await run('ROLLBACK').catch(() => undefined)
        throw error
      }
    }, timeouts)
  }

  /** Waits for what is under way, then closes all connections. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.end()
  }

  async #use<T>(work: (query: Query) => Promise<T>, timeouts: 'usual' | 'none' = 'usual'): Promise<T> {
    const { client, pool } = await this.#connect()
    const timeout = timeouts === 'none' ? maxTimeoutMs : this.#options.statementTimeoutMs + responseMarginMs
    let failure: PostgresFailure | undefined
    const run = async <R>(step: () => Promise<R>) => {
      try {
        return await step()
      } catch (error) {
        const failed = failureOf(error, 'querying')
        if (failed.closesConnection) failure = failed
        if (failed.code === '26000' || failed.code === '42P05') this.#prepares = false
        throw failed
      }
    }
    try {
      if (this.#setsParameters) await run(() => this.#settlePlans(client))
      return await work((statement, values = []) =>
        run(() => this.#query(client, timeout, statement, values)),
      )
    } finally {
      client.release(failure)
      if (failure?.code === readOnly || failure?.code === timedOut) this.#leave(pool)
    }
  }

  /**
   * Has the connection keep its plans, once there are statistics to make them by. By default PostgreSQL would plan anew for
   * as long as a statement is for fewer calls than the ten that it reckons with where it does not know: at low load, always.
   */
  async #settlePlans(client: pg.PoolClient): Promise<void> {
    const now = performance.now()
    if (!this.#keepsPlans && now >= this.#lookForStatisticsAt) {
      this.#lookForStatisticsAt = now + lookForStatisticsMs
      this.#keepsPlans = await hasStatistics(client)
    }
    if (this.#keepsPlans && !this.#keepingPlans.has(client)) {
      // Where PgBouncer ignored what was asked for with the connection, the session is not this service's alone.
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
    // Without values a text may hold several statements, as migrations do.
    if (values.length > 0) config.values = [...values]
    return (await client.query(config)).rows as Row[]
  }

  /** @throws PostgresFailure of the last host that was tried */
  async #connect(): Promise<{ client: pg.PoolClient; pool: pg.Pool }> {
    let failure: PostgresFailure | undefined
    for (let tries = 0; tries < this.#server.hosts.length; tries++) {
      const pool = this.#pool
      try {
        return { client: await pool.connect(), pool }
      } catch (error) {
        failure = failureOf(error, 'connecting')
        if (this.#closed) break
        if (isRefusedStartup(error)) {
          this.#setsParameters = false
          this.#replace(pool, this.#host)
          tries--
        } else if (failure.code !== poolExhausted) this.#leave(pool)
      }
    }
    throw failure as PostgresFailure
  }

  /** Moves on to the next host, unless another call did so already. */
  #leave(pool: pg.Pool): void {
    if (this.#server.hosts.length > 1) this.#replace(pool, (this.#host + 1) % this.#server.hosts.length)
  }

  #replace(pool: pg.Pool, host: number): void {
    if (pool !== this.#pool || this.#closed) return
    this.#host = host
    this.#pool = this.#createPool()
    void pool.end()
  }

  #createPool(): pg.Pool {
    const { database, user, password, applicationName } = this.#server
    const { host, port } = this.#server.hosts[this.#host] as PostgresHost
    const { poolSize, connectTimeoutMs, statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = this.#options
    const pool = new pg.Pool({
      host,
      port,
      database,
      user,
      password,
      application_name: applicationName,
      ssl: this.#tls ?? false,
      enableChannelBinding: true,
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleTimeoutMs,
      keepAlive: true,
      // A server that no longer answers leaves connections half closed: the process does not wait for them to end.
      allowExitOnIdle: true,
      query_timeout: connectTimeoutMs,
      ...(this.#setsParameters && {
        statement_timeout: statementTimeoutMs,
        // 0 would be without end.
        lock_timeout: Math.max(lockTimeoutMs, 1),
        idle_in_transaction_session_timeout: statementTimeoutMs,
        options: sessionParameters,
      }),
      types,
      verify: (client, done) => void checkTakesWrites(client).then(() => done(), done),
    })
    // A connection that is lost while it is idle is dropped by the pool, and at any other time it fails what is run on it.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => client.on('error', () => undefined))
    return pool
  }
}

const poolExhausted = 'POOL_EXHAUSTED'
const timedOut = 'ETIMEDOUT'
const passwordRefused = '28P01'

/** @throws PostgresFailure where the server takes no writes */
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

/** All that is kept as bigint is below 2^53: times in milliseconds, and ids. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

function failureOf(error: unknown, phase: 'connecting' | 'querying'): PostgresFailure {
  if (error instanceof PostgresFailure) return error
  return new PostgresFailure(codeOf(error), phase)
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  // The driver tells its own failures apart by their messages alone.
  if (error.message.includes('timeout exceeded when trying to connect')) return poolExhausted
  if (/timeout/i.test(error.message)) return timedOut
  if (error.message.includes('client password must be')) return passwordRefused
  if (error.message.includes('does not support SSL')) return 'TLS_NOT_SUPPORTED'
  return 'ECONNRESET'
}

/** PgBouncer takes no parameter at the start of a connection that it would have to undo for the next client. */
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
