import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { cpuTimeOfFamily } from './cpu.js'
import { migrate } from './service.js'

/**
 * A new database with the service's tables, on a PostgreSQL server with default durability.
 * @typedef {object} Database
 * @property {string} url
 * @property {string} version of the server
 * @property {pg.Client} client
 * @property {() => number} cpuTime microseconds since the server started; NaN if the server is not a child process
 * @property {() => Promise<string>} createEmpty creates a database without tables on the same server and returns its URL
 * @property {() => Promise<void>} stop removes the databases, and the server if it is a child process
 */

/** Folder of the PostgreSQL programs of each version on Debian and Ubuntu. */
const debianFolder = '/usr/lib/postgresql'
const ownServer = fileURLToPath(new URL('../processes/postgres.js', import.meta.url))

/**
 * Creates a database on the server of `BENCH_DATABASE_URL`, whose role must be allowed to create databases. Without that
 * variable it starts a server that ends with this process.
 * @returns {Promise<Database>}
 */
export async function startDatabase() {
  const { url: serverUrl, pid, stop } = await startServer()
  const admin = await connected(serverUrl)
  /** @type {string[]} */
  const names = []
  const create = async () => {
    const name = `ugs_bench_${randomUUID().replaceAll('-', '')}`
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    names.push(name)
    const url = new URL(serverUrl)
    url.pathname = name
    return url.href
  }
  const url = await create()
  await migrate({ DATABASE_URL: url })
  const client = await connected(url)
  const { rows } = await client.query(
    "SELECT current_setting('server_version') AS version, current_setting('fsync') || current_setting('synchronous_commit') AS durability",
  )
  const { version, durability } = /** @type {{ version: string, durability: string }} */ (rows[0])
  if (durability !== 'onon')
    throw new Error('The server must have its default durability: fsync and synchronous_commit on.')
  return {
    url,
    version,
    client,
    createEmpty: create,
    cpuTime: () => (pid === undefined ? NaN : cpuTimeOfFamily(pid)),
    stop: async () => {
      await client.end()
      for (const name of names) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
      await stop()
    },
  }
}

/**
 * Runs a case on a database of `startDatabase`, and removes the database.
 * @template T
 * @param {(database: Database) => Promise<T>} run
 * @returns {Promise<T>}
 */
export async function withDatabase(run) {
  const database = await startDatabase()
  try {
    return await run(database)
  } finally {
    await database.stop()
  }
}

/** Returns the program folder of the newest PostgreSQL on this machine. */
function programFolder() {
  try {
    const versions = readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(debianFolder, version, 'bin'))[0]
  } catch {
    return undefined
  }
}

/**
 * @param {'pgbench' | 'pg_dump'} name
 * @returns {string} path
 */
export function findProgram(name) {
  const folders = [programFolder() ?? [], (process.env.PATH ?? '').split(delimiter)].flat()
  const found = folders.map((folder) => join(folder, name)).find(isProgram)
  if (found === undefined) {
    throw new Error(
      `${name} is neither on PATH nor in ${debianFolder}/*/bin. Install PostgreSQL (Debian and Ubuntu: apt-get install postgresql).`,
    )
  }
  return found
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** @returns {Promise<{ url: string, pid?: number, stop: () => Promise<void> }>} */
async function startServer() {
  const url = process.env.BENCH_DATABASE_URL
  if (url) return { url, stop: () => Promise.resolve() }
  const folder = programFolder()
  if (folder === undefined) {
    throw new Error(
      `There is no PostgreSQL in ${debianFolder}. Install it (Debian and Ubuntu: apt-get install postgresql) or set BENCH_DATABASE_URL.`,
    )
  }
  // In another process group, so that Ctrl-C does not reach it. It ends when its standard input closes.
  const child = spawn(process.execPath, [ownServer, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit')
  const failed = exited.then(() => {
    throw new Error('PostgreSQL did not start.')
  })
  const [line] = /** @type {[string]} */ (
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed])
  )
  /** @type {{ url: string, pid: number }} */
  const started = JSON.parse(line)
  return {
    ...started,
    stop: async () => {
      child.stdin.end()
      await exited
    },
  }
}

/** @param {string} url */
async function connected(url) {
  const client = new pg.Client(url)
  await client.connect()
  return client
}
