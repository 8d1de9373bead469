import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import type { RunningService } from './service.ts'

/** All bytes that a service keeps: by the file of its data folder, and by the table where it has a database. */
export async function kept({ dataFolder, databaseUrl }: RunningService): Promise<Map<string, Buffer>> {
  const files = readdirSync(dataFolder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map([
    ...files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))] as const),
    ...(databaseUrl === undefined ? [] : await tables(databaseUrl)),
  ])
}

/** The same, to see whether anything was written. */
export async function written(service: RunningService): Promise<Map<string, Buffer>> {
  const all = await kept(service)
  // Reading leaves marks in it.
  all.delete('ugs.db-shm')
  return all
}

/** Asserts that nothing is written by `work`, which may be done again. */
export async function writingNothing<T>(service: RunningService, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const uses = await lastUses(service)
    const before = await written(service)
    const result = await work()
    const after = await written(service)
    // What the service writes by itself, at most once a minute, is not of the work.
    if (JSON.stringify(await lastUses(service)) !== JSON.stringify(uses)) continue
    assert.deepEqual(after, before)
    return result
  }
}

/** A row as it stands in a table, by its columns. */
export type KeptRow = Readonly<Record<string, unknown>> & { readonly table: string }

/**
 * All rows of all tables, by themselves as a text, and in the order of these, since PostgreSQL moves a row that it
 * writes; but for what is written when there is time, when who was last used, and for what SQLite counts for itself.
 */
export async function rowsOf({ dataFolder, databaseUrl }: RunningService): Promise<Map<string, KeptRow>> {
  const rows = databaseUrl === undefined ? sqliteRows(dataFolder) : await postgresRows(databaseUrl)
  return new Map(rows.map((row) => [JSON.stringify(row), row] as const).sort(byText))
}

function byText([one]: readonly [string, KeptRow], [other]: readonly [string, KeptRow]): number {
  return one < other ? -1 : 1
}

function sqliteRows(dataFolder: string): KeptRow[] {
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'), { readonly: true })
  try {
    const names = database
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all()
    return names
      .filter((table) => !notKept.includes(table))
      .flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all().map(keptRow(table)))
  } finally {
    database.close()
  }
}

async function postgresRows(url: string): Promise<KeptRow[]> {
  const client = new Client(url)
  await client.connect()
  try {
    const { rows: names } = await client.query<{ name: string }>(tableNames)
    const all: KeptRow[] = []
    for (const { name } of names.filter(({ name }) => !notKept.some((table) => name.endsWith(`.${table}`))))
      all.push(...(await client.query(`SELECT * FROM ${name}`)).rows.map(keptRow(name)))
    return all
  } finally {
    await client.end()
  }
}

const notKept = ['last_introspection', 'change_count']

function keptRow(table: string): (row: unknown) => KeptRow {
  return (row) => ({ ...(row as object), table, last_used_at: undefined })
}

async function lastUses({ dataFolder, databaseUrl }: RunningService): Promise<unknown[]> {
  const query =
    'SELECT last_used_at FROM api_token UNION ALL SELECT last_used_at FROM console_session ORDER BY 1'
  if (databaseUrl !== undefined) {
    const client = new Client(databaseUrl)
    await client.connect()
    try {
      return (await client.query({ text: query, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'), { readonly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

const tableNames =
  "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema$'"

async function tables(url: string): Promise<[name: string, bytes: Buffer][]> {
  const client = new Client(url)
  await client.connect()
  try {
    const { rows: names } = await client.query<{ name: string }>(tableNames)
    const tables: [string, Buffer][] = []
    for (const { name } of names) {
      // Writing a row anew changes both, even where the row stays the same.
      const query = `SELECT ctid::text, xmin::text, t.* FROM ${name} t ORDER BY ctid`
      const { rows } = await client.query<unknown[]>({ text: query, rowMode: 'array' })
      tables.push([name, Buffer.concat(rows.flat().map(bytesOf))])
    }
    return tables
  } finally {
    await client.end()
  }
}

function bytesOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}
