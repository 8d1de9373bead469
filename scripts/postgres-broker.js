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
 * Serves test processes a PostgreSQL server, started for the first that asks, or the one of TEST_DATABASE_URL, and on it
 * databases to clone: an empty one, one with all migrations, and one with two API tokens as well. With the URLs of a Citus cluster,
 * a database is one on each node.
 * - `/server` responds with the URLs of a superuser on each node, the coordinator first, and with options of `CREATE DATABASE`.
 * - `/empty` responds with the name of the empty database.
 * - `/templates` responds with the names of the other databases and the API tokens.
 * @param {readonly string[]} citusUrls URLs of the nodes, the coordinator first; none for a server without Citus
 */
export async function startPostgresBroker(citusUrls = []) {
  /** @type {ReturnType<typeof startServer> | undefined} */
  let started
  /** @type {Promise<string> | undefined} */
  let empty
  /** @type {ReturnType<typeof createTemplates> | undefined} */
  let templates
  const ownsServer = citusUrls.length === 0 && !process.env.TEST_DATABASE_URL
  const nodes = async () => (citusUrls.length > 0 ? citusUrls : [(await (started ??= startServer())).url])
  const emptyDatabase = async () =>
    (empty ??= citusUrls.length > 0 ? createEmptyCluster(citusUrls) : Promise.resolve('template0'))
  const responses = /** @type {Record<string, () => Promise<unknown>>} */ ({
    '/server': async () => ({
      urls: await nodes(),
      // Takes half the CPU time on the server of this script, but needs PostgreSQL 15, and checkpoints, which are slow on disk.
      cloneOptions: ownsServer ? 'STRATEGY FILE_COPY' : '',
    }),
    '/empty': async () => ({ name: await emptyDatabase() }),
    // Assigns before it waits, so that simultaneous requests share the templates.
    '/templates': () => (templates ??= Promise.all([nodes(), emptyDatabase()]).then(createTemplates)),
  })
  const broker = createServer((request, response) => {
    // A kept connection could close while a busy test process sends its next request on it.
    response.setHeader('connection', 'close')
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
      const emptyName = citusUrls.length > 0 ? await empty?.catch(() => undefined) : undefined
      for (const name of [created?.migrated, created?.withTokens, emptyName]) {
        if (name === undefined) continue
        for (const url of await nodes()) await query(url, `DROP DATABASE ${name} WITH (FORCE)`)
      }
      await postgres?.stop()
    },
  }
}

async function startServer() {
  const url = process.env.TEST_DATABASE_URL
  return url ? { url, stop: () => Promise.resolve() } : startPostgres()
}

const newName = () => `ugs_template_${randomUUID().replaceAll('-', '')}`

/**
 * Creates databases on all nodes with the extension Citus that form a cluster. Their clones form one too: nodes connect to the
 * database with the same name.
 * @param {readonly string[]} nodes
 */
async function createEmptyCluster(nodes) {
  const name = newName()
  const urls = nodes.map((node) => databaseUrl(node, name))
  await onEach(nodes, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  await onEach(urls, 'CREATE EXTENSION citus')
  const [coordinator, ...workers] = /** @type {[string, ...string[]]} */ (urls)
  const addressOf = (/** @type {string} */ url) => `'${new URL(url).hostname}', ${new URL(url).port}`
  await query(coordinator, `SELECT citus_set_coordinator_host(${addressOf(coordinator)})`)
  for (const worker of workers) await query(coordinator, `SELECT citus_add_node(${addressOf(worker)})`)
  await freeze(nodes, name)
  return name
}

/**
 * Closes all connections to databases, so that they can be cloned. Citus keeps some.
 * @param {readonly string[]} nodes
 * @param {string} name
 */
async function freeze(nodes, name) {
  await onEach(nodes, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await onEach(
    nodes,
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
}

/** @param {[nodes: readonly string[], empty: string]} parameters */
async function createTemplates([nodes, empty]) {
  const migrated = newName()
  const withTokens = `${migrated}_tokens`
  const [coordinator] = /** @type {[string]} */ (nodes)
  await onEach(nodes, `CREATE DATABASE ${migrated} TEMPLATE ${empty} ENCODING 'UTF8'`)
  // Fewer shards are faster to clone.
  await query(coordinator, `ALTER DATABASE ${migrated} SET citus.shard_count = 4`)
  const folder = mkdtempSync(join(tmpdir(), 'ugs-template-'))
  const ugs = async (/** @type {string} */ database, /** @type {string[]} */ ...args) => {
    const { PATH, HOME } = process.env
    const child = spawn(process.execPath, [join(server, 'bin/ugs.js'), ...args], {
      env: { PATH, HOME, DATABASE_URL: databaseUrl(coordinator, database), UGS_DATA_DIR: folder },
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
    await freeze(nodes, migrated)
    await onEach(nodes, `CREATE DATABASE ${withTokens} TEMPLATE ${migrated}`)
    const [Customer, Testing] = await Promise.all([createToken('Customer'), createToken('Testing')])
    await freeze(nodes, withTokens)
    return { migrated, withTokens, tokens: { Customer, Testing } }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * @param {string} serverUrl
 * @param {string} name
 */
function databaseUrl(serverUrl, name) {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

/**
 * @param {readonly string[]} urls
 * @param {string} statement
 */
async function onEach(urls, statement) {
  await Promise.all(urls.map((url) => query(url, statement)))
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
