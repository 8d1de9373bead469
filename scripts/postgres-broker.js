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
 * Serves test processes a PostgreSQL server, started for the first that asks, or the one of TEST_DATABASE_URL, and on it two
 * migrated databases to clone: one without user groups and API tokens, and one with two API tokens.
 * - `/server` responds with the URL of a superuser.
 * - `/templates` responds with the names of the databases and the API tokens.
 */
export async function startPostgresBroker() {
  /** @type {ReturnType<typeof startServer> | undefined} */
  let started
  /** @type {ReturnType<typeof createTemplates> | undefined} */
  let templates
  const responses = /** @type {Record<string, () => Promise<unknown>>} */ ({
    '/server': async () => ({ url: (await (started ??= startServer())).url }),
    '/templates': async () =>
      (templates ??= (started ??= startServer()).then(({ url }) => createTemplates(url))),
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
      const created = await templates?.catch(() => undefined)
      if (postgres === undefined) return
      for (const name of created ? [created.migrated, created.withTokens] : []) {
        await query(postgres.url, `DROP DATABASE ${name}`)
      }
      await postgres.stop()
    },
  }
}

async function startServer() {
  const url = process.env.TEST_DATABASE_URL
  return url ? { url, stop: () => Promise.resolve() } : startPostgres()
}

/** @param {string} serverUrl */
async function createTemplates(serverUrl) {
  const migrated = `ugs_template_${randomUUID().replaceAll('-', '')}`
  const withTokens = `${migrated}_tokens`
  await query(serverUrl, `CREATE DATABASE ${migrated} TEMPLATE template0 ENCODING 'UTF8'`)
  const folder = mkdtempSync(join(tmpdir(), 'ugs-template-'))
  const ugs = async (/** @type {string} */ database, /** @type {string[]} */ ...args) => {
    const url = new URL(serverUrl)
    url.pathname = database
    const { PATH, HOME } = process.env
    const child = spawn(process.execPath, [join(server, 'bin/ugs.js'), ...args], {
      env: { PATH, HOME, DATABASE_URL: url.href, UGS_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    if (code !== 0) throw new Error(`ugs ${args.join(' ')} failed`)
    return output.trim()
  }
  const createToken = (/** @type {string} */ environment) =>
    ugs(withTokens, 'api-token', 'create', '--environment', environment, '--name', 'test')
  try {
    await ugs(migrated, 'migrate')
    await query(serverUrl, `CREATE DATABASE ${withTokens} TEMPLATE ${migrated}`)
    const [Customer, Testing] = await Promise.all([createToken('Customer'), createToken('Testing')])
    return { migrated, withTokens, tokens: { Customer, Testing } }
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
