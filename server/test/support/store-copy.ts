import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import BetterSqlite3 from 'better-sqlite3'
import type { Client } from 'pg'
import type { Environment } from '../../src/domain/environment.ts'
import { bucketOf } from '../../src/domain/user-group/location.ts'
import { uncopiedTables } from '../../src/store/tables.ts'
import type { Scope } from './scope.ts'
import { runUgs, ugsFile, type CommandResult } from './service.ts'
import { openSession } from './session.ts'

/** Runs `ugs store copy`, also on a machine that is too busy to open connections within the default time. */
export function copyStore(from: string, to: string, ...options: string[]): Promise<CommandResult> {
  const settings = { UGS_POSTGRES_CONNECT_TIMEOUT_MS: '20000' }
  return runUgs(['store', 'copy', '--from', from, '--to', to, ...options], settings)
}

/** Starts `ugs store copy`, for a test that interrupts it. */
export function startCopy(t: Scope, from: string, to: string): ChildProcess {
  const child = spawn(process.execPath, [ugsFile, 'store', 'copy', '--from', from, '--to', to], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: 'ignore',
  })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

/** Kills the process. */
export async function kill(child: ChildProcess): Promise<void> {
  assert.equal(child.exitCode, null, 'it had ended by itself')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

export interface CopiedTable {
  readonly name: string
  readonly rows: number
  readonly checksum: string
}

/** Returns the report of a successful copy, by table. */
export function copiedTables({ code, stdout, stderr }: CommandResult): CopiedTable[] {
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  const lines = stderr.matchAll(/^(\w+): (\d+) rows?, identical in both stores \(SHA-256 ([0-9a-f]{64})\)$/gm)
  return [...lines].map(([, name = '', rows = '', checksum = '']) => ({ name, rows: Number(rows), checksum }))
}

/** Asserts that the copy failed with a message for the operator, without texts of a driver or a server. */
export function assertCopyFails({ code, stdout, stderr }: CommandResult, expected: RegExp): void {
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  const message = /^ugs: .*/m.exec(stderr)?.[0] ?? ''
  assert.match(message, expected)
  assert.ok(stderr.endsWith(`${message}\n`), stderr)
  assert.doesNotMatch(stderr, /internal error|Failure|SqliteError|\bat .*:\d+:\d+|node:internal|Copied/)
}

type Row = Record<string, unknown>
type Rows = readonly (readonly [table: string, rows: readonly Row[]])[]

/** Asserts that both stores hold the same rows in every column of every table that is copied, independently of the copy's report. */
export async function assertSameRows(t: Scope, path: string, databaseUrl: string): Promise<void> {
  const session = await openSession(t, databaseUrl)
  const rows = await rowsOfDatabase(session)
  await session.end()
  assertBuckets(rows)
  const source = textsOf(rowsOfFile(path))
  const target = textsOf(rows.map(([name, ofTable]) => [name, ofTable.map(storedBySqlite)]))
  assert.deepEqual(Object.keys(target).sort(), Object.keys(source).sort())
  for (const [table, rows] of Object.entries(source)) assert.deepEqual(target[table], rows, table)
}

function isCopied(name: string): boolean {
  return !uncopiedTables.some((table) => table === name)
}

function rowsOfFile(path: string): Rows {
  const database = new BetterSqlite3(path, { readonly: true })
  const names = database
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('schema_migration', 'change_count')",
    )
    .pluck()
    .all()
    .filter(isCopied)
  const rows = names.map((name) => [name, database.prepare<[], Row>(`SELECT * FROM ${name}`).all()] as const)
  database.close()
  return rows
}

async function rowsOfDatabase(session: Client): Promise<Rows> {
  const { rows: tables } = await session.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migration'",
  )
  const rows: [string, Row[]][] = []
  for (const { name } of tables.filter(({ name }) => isCopied(name)))
    rows.push([name, (await session.query<Row>(`SELECT * FROM ${name}`)).rows])
  return rows
}

/** Asserts that each row has the bucket of its user group. */
function assertBuckets(rows: Rows): void {
  const bucketIn = ({ workspace_id, environment, provided_id }: Row) =>
    bucketOf({
      workspaceId: Number(workspace_id),
      environment: environment as Environment,
      providedId: String(provided_id),
    })
  const buckets = new Map<number | null, number>([[null, 0]])
  for (const [name, ofTable] of rows) {
    if (name !== 'user_group' && name !== 'deleted_user_group') continue
    for (const row of ofTable) buckets.set(Number(row.team_id), bucketIn(row))
  }
  for (const [name, ofTable] of rows) {
    for (const row of ofTable.filter((candidate) => 'bucket' in candidate)) {
      const teamId = row.team_id === null ? null : Number(row.team_id)
      // The user group of an audit event may have been deleted for good.
      const bucket = buckets.get(teamId) ?? bucketIn(row)
      assert.equal(Number(row.bucket), bucket, `${name} of ${teamId}`)
    }
  }
}

/** Returns the cells that SQLite stores too. It computes the bucket. */
function storedBySqlite(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => column !== 'bucket'))
}

/** Returns the rows of each table as sorted texts. */
function textsOf(rows: Rows): Record<string, string[]> {
  return Object.fromEntries(rows.map(([name, ofTable]) => [name, ofTable.map(textOf).sort()]))
}

function textOf(row: Row): string {
  const cells = Object.entries(row).map(([column, cell]) => {
    if (Buffer.isBuffer(cell)) return [column, { hex: cell.toString('hex') }]
    // One driver reads bigint as text, the other as a number.
    return [column, typeof cell === 'number' ? String(cell) : cell]
  })
  return JSON.stringify(cells.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
}

/** Returns the content of a database. Rewriting a row or using a sequence number changes it, even if the values stay the same. */
export async function stateOf(t: Scope, databaseUrl: string): Promise<Record<string, unknown[]>> {
  const session = await openSession(t, databaseUrl)
  const rowsOf = async <Row>(query: string) => (await session.query<Row & object>(query)).rows
  const relations = await rowsOf<{ name: string; kind: string }>(
    `SELECT oid::regclass::text AS name, relkind::text AS kind, obj_description(oid, 'pg_class') AS comment
     FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
  )
  const state: Record<string, unknown[]> = { relations }
  for (const { name, kind } of relations) {
    // A service that runs writes marks.
    if (kind === 'r' && name !== 'process_mark')
      state[name] = await rowsOf(`SELECT ctid, xmin, t.* FROM ${name} t ORDER BY ctid`)
    if (kind === 'S') state[name] = await rowsOf(`SELECT last_value, is_called FROM ${name}`)
  }
  await session.end()
  return state
}
