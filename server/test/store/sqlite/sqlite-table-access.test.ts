import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Environment } from '../../../src/domain/environment.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { openStore, openTablesToRead } from '../../../src/store/open-store.ts'
import { tables, type Cells } from '../../../src/store/tables.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { rowsOfSource, sourceFile } from '../copy-support.ts'
import { defaults } from '../store-options.ts'

type Row = Readonly<Record<string, Cells[number] | undefined>>

/** Returns the rows of each table, as a copy reads them. */
async function readAll(path: string): Promise<Record<string, Row[]>> {
  const reader = await openTablesToRead({ kind: 'sqlite', path }, defaults)
  const rows: Record<string, Row[]> = {}
  for (const table of tables) {
    const columns = Object.keys(table.columns)
    const cells = await reader.read(table, null)
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
    const withBuckets = tables.filter(({ name, columns }) => 'bucket' in columns && name !== 'legacy_token')
    assert.equal(withBuckets.length, 8)
    for (const { name } of withBuckets) {
      for (const row of rows[name] ?? [])
        assert.equal(row.bucket, row.team_id === null ? 0 : buckets.get(row.team_id), name)
    }
    assert.deepEqual(rows.legacy_token?.map(({ bucket }) => bucket).sort(), [0, 1023])

    // The previous release issued a token after the migration.
    const database = new BetterSqlite3(path)
    database.exec('UPDATE legacy_token SET bucket = NULL')
    database.close()
    const { legacy_token } = await readAll(path)
    for (const { bucket, team_id } of legacy_token ?? []) assert.equal(bucket, buckets.get(team_id))
  })

  it('have no rows for a table that the store lacks', async () => {
    const path = join(temporaryFolder({ after }), 'ugs.db')
    await (await openStore({ kind: 'sqlite', path }, defaults)).close()
    const { legacy_token, locator_key } = await readAll(path)
    assert.deepEqual(legacy_token, [])
    assert.equal(locator_key?.length, 1)
  })
})
