import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { startPostgres } from './test-database.js'

const server = fileURLToPath(new URL('../server/', import.meta.url))

/**
 * Serves test processes a PostgreSQL server, started for the first that asks, or the one of TEST_DATABASE_URL, and on it a
 * migrated database with two API tokens to clone.
 * - `/server` responds with the URL of a superuser.
 * - `/template` responds with the name of the database and its API tokens.
 */
export async function startPostgresBroker() {
  /** @type {ReturnType<typeof startServer> | undefined} */
  let started
  /** @type {ReturnType<typeof createTemplate> | undefined} */
  let template
  const responses = /** @type {Record<string, () => Promise<unknown>>} */ ({
    '/server': async () => ({ url: (await (started ??= startServer())).url }),
    '/template': async () =>
      (template ??= (started ??= startServer()).then(({ url }) => createTemplate(url))),
  })
  const broker = createServer((request, response) => {
    void Promise.resolve(responses[request.url ?? '']?.()).then(
      (body) => response.end(JSON.stringify(body)),
      (/** @type {unknown} */ error) => response.writeHead(500).end(String(error)),
    )
  })
  await once(broker.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (broker.address())
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      broker.close()
      broker.closeAllConnections()
      const postgres = await started?.catch(() => undefined)
      const created = await template?.catch(() => undefined)
      if (postgres === undefined) return
      if (created !== undefined) await query(postgres.url, `DROP DATABASE ${created.name}`)
      await postgres.stop()
    },
  }
}

async function startServer() {
  const url = process.env.TEST_DATABASE_URL
  return url ? { url, stop: () => Promise.resolve() } : startPostgres()
}

/** @param {string} serverUrl */
async function createTemplate(serverUrl) {
  const name = `ugs_template_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const url = new URL(serverUrl)
  url.pathname = name
  const folder = mkdtempSync(join(tmpdir(), 'ugs-template-'))
  const ugs = async (/** @type {string[]} */ ...args) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: url.href,
      UGS_DATA_DIR: folder,
    }
    const child = spawn(process.execPath, [join(server, 'bin/ugs.js'), ...args], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    if (code !== 0) throw new Error(`ugs ${args.join(' ')} failed`)
    return output.trim()
  }
  const createToken = (/** @type {string} */ environment) =>
    ugs('api-token', 'create', '--environment', environment, '--name', 'test')
  try {
    await ugs('migrate')
    const [Customer, Testing] = await Promise.all([createToken('Customer'), createToken('Testing')])
    return { name, tokens: { Customer, Testing } }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * @param {string} url
 * @param {string} statement
 */
async function query(url, statement) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
