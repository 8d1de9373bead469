import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import BetterSqlite3 from 'better-sqlite3'
import type { Client } from 'pg'
import type { Scope } from './scope.ts'
import { runUgs, ugsFile, type CommandResult } from './service.ts'
import { openSession } from './session.ts'

/** `ugs store copy`, as a user runs it. */
export function copyStore(from: string, to: string, ...options: string[]): Promise<CommandResult> {
  return runUgs(['store', 'copy', '--from', from, '--to', to, ...options], {})
}

/** The same, while it runs: for a test that ends it in the middle. */
export function startCopy(t: Scope, from: string, to: string): ChildProcess {
  const child = spawn(process.execPath, [ugsFile, 'store', 'copy', '--from', from, '--to', to], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: 'ignore',
  })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

/** Ends it at once, wherever it is. */
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

/** What a copy that succeeded said of each table. */
export function copiedTables({ code, stdout, stderr }: CommandResult): CopiedTable[] {
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  const lines = stderr.matchAll(/^(\w+): (\d+) rows?, the same on both sides \(SHA-256 ([0-9a-f]{64})\)$/gm)
  return [...lines].map(([, name = '', rows = '', checksum = '']) => ({ name, rows: Number(rows), checksum }))
}

/** That it failed, with a message for the operator alone: no word of a driver's or a server's. */
export function assertCopyFails({ code, stdout, stderr }: CommandResult, expected: RegExp): void {
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  const message = /^ugs: .*/m.exec(stderr)?.[0] ?? ''
  assert.match(message, expected)
  assert.ok(stderr.endsWith(`${message}\n`), stderr)
  assert.doesNotMatch(stderr, /internal error|Failure|SqliteError|\bat .*:\d+:\d+|node:internal|Copied/)
}

type Rows = Record<string, string[]>

/** That both hold the same rows, whatever the copy itself says of them: every table and every column of either. */
export async function assertSameRows(t: Scope, path: string, databaseUrl: string): Promise<void> {
  const session = await openSession(t, databaseUrl)
  const [source, target] = [rowsOfFile(path), await rowsOfDatabase(session)]
  await session.end()
  assert.deepEqual(Object.keys(target).sort(), Object.keys(source).sort())
  for (const [table, rows] of Object.entries(source)) assert.deepEqual(target[table], rows, table)
}

/** Of each table that holds what the service keeps: its rows as text, in the order of that text. */
function rowsOfFile(path: string): Rows {
  const database = new BetterSqlite3(path, { readonly: true })
  const names = database
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('schema_migration', 'change_count')",
    )
    .pluck()
    .all()
  const rows = names.map((name) => {
    const ofTable = database.prepare<[], Record<string, unknown>>(`SELECT * FROM ${name}`).all()
    return [name, ofTable.map(textOf).sort()] as const
  })
  database.close()
  return Object.fromEntries(rows)
}

async function rowsOfDatabase(session: Client): Promise<Rows> {
  const { rows: tables } = await session.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migration'",
  )
  const rows: Rows = {}
  for (const { name } of tables) {
    const { rows: ofTable } = await session.query<Record<string, unknown>>(`SELECT * FROM ${name}`)
    rows[name] = ofTable.map(textOf).sort()
  }
  return rows
}

function textOf(row: Record<string, unknown>): string {
  const cells = Object.entries(row).map(([column, cell]) => {
    if (Buffer.isBuffer(cell)) return [column, { hex: cell.toString('hex') }]
    // The one driver reads bigint as text, the other as a number.
    return [column, typeof cell === 'number' ? String(cell) : cell]
  })
  return JSON.stringify(cells.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
}

/** All that a database holds; writing a row anew, or using a number up, changes it, even where the row stays the same. */
export async function stateOf(t: Scope, databaseUrl: string): Promise<Record<string, unknown[]>> {
  const session = await openSession(t, databaseUrl)
  const rowsOf = async <Row>(query: string) => (await session.query<Row & object>(query)).rows
  const relations = await rowsOf<{ name: string; kind: string }>(
    `SELECT oid::regclass::text AS name, relkind::text AS kind, obj_description(oid, 'pg_class') AS comment
     FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
  )
  const state: Record<string, unknown[]> = { relations }
  for (const { name, kind } of relations) {
    if (kind === 'r') state[name] = await rowsOf(`SELECT ctid, xmin, t.* FROM ${name} t ORDER BY ctid`)
    if (kind === 'S') state[name] = await rowsOf(`SELECT last_value, is_called FROM ${name}`)
  }
  await session.end()
  return state
}
