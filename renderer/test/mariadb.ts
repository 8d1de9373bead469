import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CompiledSql } from '../src/index.ts'
import type { Database } from './databases.ts'
import { loadDriver, skipWithout } from './missing-program.ts'

/** The part of mysql2 that the tests use. */
interface Driver {
  createConnection(options: object): Promise<Connection>
}
interface Connection {
  query(sql: string): Promise<[unknown]>
  prepare(sql: string): Promise<Statement>
  end(): Promise<void>
}

interface Statement {
  readonly statement: { readonly parameters: readonly unknown[] }
  execute(values: unknown[]): Promise<[unknown]>
}

const otherCount = 'the statement has another number of parameters'

/** Path of the server's program; empty if it is not installed. */
let mariadbd: string | undefined
let socketPath: string | undefined
let databases = 0

/** A database on a MariaDB server that the process starts once. */
interface MariaDb {
  readonly connection: Connection
  /** URL of a user with all privileges. */
  readonly url: string
}

/** Creates a database. Returns undefined and skips the test if a program is missing. */
export async function createMariaDb(t: TestContext): Promise<MariaDb | undefined> {
  mariadbd ??= spawnSync('sh', ['-c', 'PATH=$PATH:/usr/sbin command -v mariadbd'], {
    encoding: 'utf8',
  }).stdout
  if (mariadbd === '') {
    skipWithout(t, 'MariaDB is not installed: apt-get install mariadb-server')
    return undefined
  }
  const driver = loadDriver(t, 'mysql2/promise') as Driver | undefined
  if (driver === undefined) return undefined
  socketPath ??= startServer(mariadbd.trim())
  const connection = await connect(driver, socketPath)
  t.after(() => connection.end())
  const name = `test_${++databases}`
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4; USE ${name}`)
  return { connection, url: `mysql://root@localhost/${name}?socketPath=${encodeURIComponent(socketPath)}` }
}

export async function openMariaDb(t: TestContext): Promise<Database | undefined> {
  const database = await createMariaDb(t)
  if (database === undefined) return undefined
  const { connection } = database
  return {
    dialect: 'mariadb',
    // A cast to CHAR would replace the collation.
    cast: (expression, type) => (type === 'text' ? expression : `CAST(${expression} AS double)`),
    async execute(sql) {
      await connection.query(sql)
    },
    async query({ text, values }: CompiledSql) {
      const prepared = await connection.prepare(text)
      // The driver ignores values for which there is no parameter.
      if (prepared.statement.parameters.length !== values.length) throw new Error(otherCount)
      const [rows] = await prepared.execute(values)
      return Array.isArray(rows) ? (rows as unknown[][]) : []
    },
    countsAnother: (error) => error instanceof Error && error.message === otherCount,
  }
}

async function connect(driver: Driver, socketPath: string): Promise<Connection> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await driver.createConnection({
        socketPath,
        user: 'root',
        rowsAsArray: true,
        multipleStatements: true,
      })
    } catch (error) {
      if (attempt === 300) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Starts a server that ends with this process, and returns the path of its socket. */
function startServer(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'renderer-mariadb-'))
  const data = join(folder, 'data')
  const socket = join(folder, 'socket')
  const { username } = userInfo()
  // Two servers that start at once would delete each other's temporary tables in a shared folder.
  const common = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${folder}`, `--user=${username}`]
  const install = [...common, '--auth-root-authentication-method=normal']
  const { status, stderr } = spawnSync('mariadb-install-db', install, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mariadb-install-db failed: ${stderr}`)
  const options = [`--socket=${socket}`, '--skip-networking', '--innodb-flush-log-at-trx-commit=0']
  const child = spawn(program, [...common, ...options], { stdio: 'ignore' })
  child.unref()
  process.once('exit', () => {
    child.kill('SIGKILL')
    // Its last writes may still end.
    rmSync(folder, { recursive: true, maxRetries: 10 })
  })
  return socket
}
