import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import type { RunningService } from './service.ts'

/** Returns all stored bytes of a service, by file of its data folder and by table of its database. */
export async function kept({ dataFolder, databaseUrl }: RunningService): Promise<Map<string, Buffer>> {
  return new Map([...filesOf(dataFolder), ...(databaseUrl === undefined ? [] : await tables(databaseUrl))])
}

/**
 * Reads a copy. Closing a file releases all locks that this process has on it, and with them those of a service on its store in
 * this process.
 */
function filesOf(folder: string): [name: string, bytes: Buffer][] {
  const copy = mkdtempSync(join(tmpdir(), 'ugs-test-'))
  try {
    execFileSync('cp', ['-R', folder, copy])
    return readdirSync(copy, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))])
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Returns all stored data, to detect writes. */
export async function written(service: RunningService): Promise<Map<string, Buffer>> {
  const all = await kept(service)
  // Reading changes this file.
  all.delete('ugs.db-shm')
  // While there is a log, a write changes the log, and a checkpoint this file.
  if (all.get('ugs.db-wal')?.length) all.delete('ugs.db')
  // A reader that closes while another one opens leaves an empty log.
  else all.delete('ugs.db-wal')
  return all
}

/** Asserts that `work` writes nothing. Runs `work` again if the service wrote in the background. */
export async function writingNothing<T>(service: RunningService, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const uses = await lastUses(service)
    const changes = await unindexed(service)
    const before = await written(service)
    const result = await work()
    const after = await written(service)
    // The service may have written in the background, at most a few times a minute.
    if (JSON.stringify(await lastUses(service)) !== JSON.stringify(uses)) continue
    if ((await unindexed(service)) < changes) continue
    assert.deepEqual(after, before)
    return result
  }
}

/** A row of a table, by column. */
export type KeptRow = Readonly<Record<string, unknown>> & { readonly table: string }

/**
 * Returns all rows of all tables as sorted texts, because PostgreSQL moves a row that it writes. Leaves out what is
 * written in the background, such as times of last use, and SQLite's internal counters.
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
    const queries = names
      .filter(({ name }) => !notKept.some((table) => name.endsWith(`.${table}`)))
      .map(({ name }) => `SELECT '${name}' AS name, to_jsonb(t) AS row FROM ${name} t`)
    const { rows } = await client.query<{ name: string; row: object }>(queries.join(' UNION ALL '))
    return rows.map(({ name, row }) => keptRow(name)(row))
  } finally {
    await client.end()
  }
}

/** Tables that the service also writes in the background. */
const notKept = [
  'job',
  'job_result',
  'last_introspection',
  'viewing',
  'change_count',
  'webhook_leader',
  'webhook_delivery',
  'search_posting',
  'unindexed_user_group',
]

function keptRow(table: string): (row: unknown) => KeptRow {
  const inBackground = { last_used_at: undefined, last_success_at: undefined, failing_since: undefined }
  return (row) => ({ ...(row as object), table, ...inBackground })
}

/** Returns what the service writes in the background, besides deletions of `unindexed`. */
function lastUses(service: RunningService): Promise<unknown[]> {
  return ask(
    service,
    `SELECT last_used_at FROM api_token UNION ALL SELECT last_used_at FROM console_session
     UNION ALL SELECT expires_at FROM webhook_leader UNION ALL SELECT count(*) FROM webhook_delivery
     UNION ALL SELECT sum(team_count) FROM search_posting ORDER BY 1`,
  )
}

/** Returns the number of changes that the search index lacks. Only the background lowers it. */
async function unindexed(service: RunningService): Promise<number> {
  const [[count] = []] = await ask(service, 'SELECT count(*) FROM unindexed_user_group')
  return Number(count)
}

async function ask({ dataFolder, databaseUrl }: RunningService, query: string): Promise<unknown[][]> {
  if (databaseUrl !== undefined) {
    const client = new Client(databaseUrl)
    await client.connect()
    try {
      return (await client.query<unknown[]>({ text: query, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'), { readonly: true })
  try {
    return database.prepare<[], unknown[]>(query).raw().all()
  } finally {
    database.close()
  }
}

/** Leaves out the tables that each service writes every second, or every ten. */
const tableNames = `
  SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
  WHERE schemaname !~ '^pg_|^information_schema$' AND tablename NOT IN ('process_mark', 'search_posting', 'unindexed_user_group')`

async function tables(url: string): Promise<[name: string, bytes: Buffer][]> {
  const client = new Client(url)
  await client.connect()
  try {
    const { rows: names } = await client.query<{ name: string }>(tableNames)
    const tables: [string, Buffer][] = []
    for (const { name } of names) {
      // Writing a row changes both, even if its values stay the same. On Citus, each shard has rows with the same ctid.
      const query = `SELECT ctid::text, xmin::text, t.* FROM ${name} t`
      const { rows } = await client.query<unknown[]>({ text: query, rowMode: 'array' })
      const sorted = rows.map((row) => Buffer.concat(row.map(bytesOf))).sort((a, b) => Buffer.compare(a, b))
      tables.push([name, Buffer.concat(sorted)])
    }
    return tables
  } finally {
    await client.end()
  }
}

function bytesOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}

export type Rows = Awaited<ReturnType<typeof rowsOf>>

/** Asserts that no row was changed or added, except in this workspace and environment and in new workspaces. */
export function assertOnlyTheirs(
  { id, environment }: { readonly id: number; readonly environment: string },
  earlier: Rows,
  later: Rows,
): void {
  const known = new Set([...earlier.values()].map(({ workspace_id }) => workspace_id))
  const isTheirs = (row: KeptRow) =>
    !known.has(row.workspace_id) ||
    (Number(row.workspace_id) === id && (row.environment ?? environment) === environment)
  const changed = [...earlier, ...later].filter(([text]) => !earlier.has(text) || !later.has(text))
  assert.deepEqual(
    changed.filter(([, row]) => !isTheirs(row)),
    [],
  )
}
