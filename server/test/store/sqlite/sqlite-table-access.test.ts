import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Environment } from '../../../src/domain/environment.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { openTablesToRead } from '../../../src/store/open-store.ts'
import { tables, type Cells, type Table } from '../../../src/store/tables.ts'
import { rowsOfSource, sourceFile } from '../postgres/copy-support.ts'
import { defaults } from '../store-options.ts'

type Row = Readonly<Record<string, Cells[number] | undefined>>

/** Tables whose rows have a bucket in PostgreSQL. */
const withBuckets = [
  'user_group',
  'user_group_version',
  'deleted_user_group',
  'last_introspection',
  'mapping_entry',
  'superseded_token',
  'idempotency_key',
  'unindexed_user_group',
  'ended_session',
  'viewing',
  'audit_event',
]

/** Returns the columns that a copy reads. */
function columnsOf(path: string, { name, key }: Table): string[] {
  const database = new BetterSqlite3(path, { readonly: true })
  const stored = database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
  database.close()
  return [...new Set([...key, ...stored, ...(withBuckets.includes(name) ? ['bucket'] : [])])]
}

/** Returns the rows of each table, as a copy reads them. */
async function readAll(path: string): Promise<Record<string, Row[]>> {
  const reader = await openTablesToRead({ kind: 'sqlite', path }, defaults)
  const rows: Record<string, Row[]> = {}
  for (const table of tables) {
    const columns = columnsOf(path, table)
    const cells = await reader.read({ ...table, columns: new Map(columns.map((name) => [name, ''])) }, null)
    assert.equal(await reader.count(table), cells.length)
    rows[table.name] = cells.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])))
  }
  await reader.close()
  return rows
}

describe('SQLite: the tables of a store, as a copy reads them', () => {
  it('have the bucket of the user group in each row', async (t) => {
    const { path } = await sourceFile(t)
    const rows = await readAll(path)
    const counts = Object.entries(rows).map(([name, { length }]) => [name, length])
    assert.deepEqual(Object.fromEntries(counts), rowsOfSource(2))
    const bucketIn = ({ workspace_id, environment, provided_id }: Row) =>
      bucketOf({
        workspaceId: workspace_id as number,
        environment: environment as Environment,
        providedId: provided_id as string,
      })
    const buckets = new Map(
      ['user_group', 'deleted_user_group']
        .flatMap((name) => rows[name] ?? [])
        .map((row) => [row.team_id, bucketIn(row)]),
    )
    assert.equal(buckets.size, 3)
    for (const name of withBuckets) {
      for (const row of rows[name] ?? [])
        assert.equal(row.bucket, row.team_id === null ? 0 : buckets.get(row.team_id), name)
    }
  })
})
