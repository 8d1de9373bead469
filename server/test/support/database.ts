import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import type { Scope } from './scope.ts'

/** An empty PostgreSQL database, until the test has ended; returns its URL. */
export async function freshDatabase(t: Scope): Promise<string> {
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  await run(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  t.after(() => run(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(serverUrl())
  url.pathname = name
  return url.href
}

async function run(statement: string): Promise<void> {
  const client = new Client(serverUrl())
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL
  if (!url) throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test')
  return url
}
