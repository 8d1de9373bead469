import { randomUUID } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import { lifo, type Scope } from './scope.ts'

export interface DatabaseWithTokens {
  readonly url: string
  /** An API token of each environment, with all scopes but `introspect`. */
  readonly tokens: { readonly Customer: string; readonly Testing: string }
}

interface Templates extends Pick<DatabaseWithTokens, 'tokens'> {
  readonly migrated: string
  readonly withTokens: string
}

/** Creates an empty PostgreSQL database that is dropped after the test, and returns its URL. */
export async function freshDatabase(t: Scope): Promise<string> {
  const url = await createDatabase(t, (await ask<{ name: string }>('/empty')).name)
  // With fewer shards, Citus distributes tables faster.
  if ((await nodeUrls()).length > 1)
    await run(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.shard_count = 4`)
  return url
}

/** Creates a PostgreSQL database with all migrations that is dropped after the test, and returns its URL. */
export async function migratedDatabase(t: Scope): Promise<string> {
  return createDatabase(t, (await ask<Templates>('/templates')).migrated)
}

/** Creates a PostgreSQL database with all migrations and two API tokens. It is dropped after the test. */
export async function databaseWithTokens(t: Scope): Promise<DatabaseWithTokens> {
  const { withTokens, tokens } = await ask<Templates>('/templates')
  return { url: await createDatabase(t, withTokens), tokens }
}

/** Returns the URL of a superuser of the PostgreSQL server. */
export async function serverUrl(): Promise<string> {
  return (await nodeUrls())[0]
}

/**
 * Changes a setting (`NAME = VALUE`) of a database on the workers of a Citus cluster. Ends the sessions of the coordinator there,
 * which would keep the previous value. Without workers, does nothing.
 */
export async function configureWorkers(databaseUrl: string, setting: string): Promise<void> {
  const [, ...workers] = await nodeUrls()
  const name = new URL(databaseUrl).pathname.slice(1)
  for (const worker of workers) {
    await run(worker, `ALTER DATABASE ${name} SET ${setting}`)
    await run(
      worker,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
       WHERE datname = '${name}' AND backend_type = 'client backend'`,
    )
  }
}

/** Returns the URLs of a superuser of each node of a Citus cluster, the coordinator first, or of the only server. */
export async function nodeUrls(): Promise<[string, ...string[]]> {
  return (await server()).urls
}

function server(): Promise<{ urls: [string, ...string[]]; cloneOptions: string }> {
  return ask('/server')
}

/** Creates a database on each node. */
async function createDatabase(t: Scope, template: string): Promise<string> {
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  const { urls, cloneOptions } = await server()
  const statement = `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' ${cloneOptions}`
  await Promise.all(urls.map((url) => run(url, statement)))
  lifo(t).after(async () => {
    // In turn, because Citus connects the nodes.
    for (const url of urls) await dropDatabase(url, name)
  })
  const url = new URL(urls[0])
  url.pathname = name
  return url.href
}

/** Tries a few times, because a session that connects to a database during its drop cannot be ended. */
async function dropDatabase(url: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      return
    } catch (error) {
      const isInUse = error instanceof DatabaseError && error.code === '55006'
      if (!isInUse || attempt === 10) throw error
    }
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Sends a request to the broker (scripts/postgres-broker.js). */
async function ask<T>(path: string): Promise<T> {
  const broker = process.env.TEST_POSTGRES_BROKER
  if (!broker) throw new Error('This test needs PostgreSQL. Run it with npm test.')
  const response = await fetch(broker + path)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as T
}
