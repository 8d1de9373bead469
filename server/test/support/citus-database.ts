import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { Client } from 'pg'

/** A database on each node of a Citus cluster. */
export interface CitusDatabase {
  /** URLs of the database, the coordinator first. */
  readonly urls: readonly [string, ...string[]]
  /** Runs a statement on a node, by default the coordinator. */
  readonly query: (statement: string, node?: number) => Promise<any[]>
}

/**
 * Creates an empty database with the extension Citus on each node of TEST_CITUS_URLS (coordinator first, separated by spaces). They
 * are dropped after the test. Without a cluster, skips the test with a message, and the caller must return. On CI the test fails.
 */
export async function freshCitusDatabase(
  t: Pick<TestContext, 'name' | 'skip' | 'after'>,
): Promise<CitusDatabase | undefined> {
  const nodes = (process.env.TEST_CITUS_URLS ?? '').split(' ').filter((url) => url !== '')
  const [coordinator, ...workers] = nodes
  if (coordinator === undefined || workers.length === 0) {
    const message = 'TEST_CITUS_URLS does not name a Citus cluster'
    if (process.env.CI === 'true') throw new Error(message)
    console.error(`SKIPPED "${t.name}": ${message}`)
    t.skip(message)
    return undefined
  }
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  const urlIn = (node: string) => Object.assign(new URL(node), { pathname: name }).href
  await Promise.all(
    nodes.map((node) => run(node, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)),
  )
  t.after(async () => {
    // In turn, because Citus connects the nodes, and a session that connects to a database during its drop cannot be ended.
    for (const node of nodes) await run(node, `DROP DATABASE ${name} WITH (FORCE)`)
  })
  for (const node of nodes) await run(urlIn(node), 'CREATE EXTENSION citus')
  const address = (node: string) => `'${new URL(node).hostname}', ${new URL(node).port}`
  await run(urlIn(coordinator), `SELECT citus_set_coordinator_host(${address(coordinator)})`)
  for (const worker of workers) await run(urlIn(coordinator), `SELECT citus_add_node(${address(worker)})`)
  const urls = [urlIn(coordinator), ...workers.map(urlIn)] as const
  return { urls, query: (statement, node = 0) => run(urls[node] ?? '', statement) }
}

async function run(url: string, statement: string): Promise<any[]> {
  const client = new Client(url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
