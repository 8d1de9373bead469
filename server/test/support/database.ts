import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import type { Scope } from './scope.ts'

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
export function freshDatabase(t: Scope): Promise<string> {
  return createDatabase(t, "TEMPLATE template0 ENCODING 'UTF8'")
}

/** Creates a PostgreSQL database with all migrations that is dropped after the test, and returns its URL. */
export async function migratedDatabase(t: Scope): Promise<string> {
  return createDatabase(t, `TEMPLATE ${(await ask<Templates>('/templates')).migrated}`)
}

/** Creates a PostgreSQL database with all migrations and two API tokens. It is dropped after the test. */
export async function databaseWithTokens(t: Scope): Promise<DatabaseWithTokens> {
  const { withTokens, tokens } = await ask<Templates>('/templates')
  return { url: await createDatabase(t, `TEMPLATE ${withTokens}`), tokens }
}

/** Returns the URL of a superuser of the PostgreSQL server. */
export async function serverUrl(): Promise<string> {
  return process.env.TEST_DATABASE_URL ?? (await ask<{ url: string }>('/server')).url
}

async function createDatabase(t: Scope, source: string): Promise<string> {
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  await run(`CREATE DATABASE ${name} ${source}`)
  t.after(() => run(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(await serverUrl())
  url.pathname = name
  return url.href
}

async function run(statement: string): Promise<void> {
  const client = new Client(await serverUrl())
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
