import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { AuditEvent } from '../../../src/domain/audit/audit-event.ts'
import { copyStore, type CopiedTable, type CopyProgress } from '../../../src/store/copy.ts'
import { openTablesToRead, openTablesToWrite } from '../../../src/store/open-store.ts'
import { tables, uncopiedTables, type DescribedTable } from '../../../src/store/tables.ts'
import { freshDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { assertSameRows } from '../../support/store-copy.ts'
import { allOf, auditLogOf } from '../contract/audit-events.ts'
import { changing, markFinished, markUnfinished, rowsOfSource, sourceFile } from './copy-support.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'
import { defaults } from '../store-options.ts'

const openSource = (url: string) => openTablesToRead(parseDatabaseUrl(url), { ...defaults, migrate: 'check' })
const openTarget = (url: string) => openTablesToWrite(parseDatabaseUrl(url), defaults)

/** Copies a store in this process and returns the copied tables and the reported progress. */
async function copy(
  from: string,
  to: string,
): Promise<{ copied: readonly CopiedTable[]; progress: CopyProgress[] }> {
  const progress: CopyProgress[] = []
  const source = await openSource(from)
  try {
    const target = await openTarget(to)
    try {
      const { tables: copied } = await copyStore(source, target, (step) => progress.push(step))
      return { copied, progress }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Returns the tables that are copied, with their columns in PostgreSQL. */
async function describeTables(): Promise<DescribedTable[]> {
  const scope = suiteScope()
  const target = await openTarget(await freshDatabase(scope))
  const described = await Promise.all(tables.map((table) => target.describe(table)))
  await target.close()
  return described
}

const describedTables = await describeTables()

describe('the tables of a store copy', () => {
  const isCopied = (name: string) => !uncopiedTables.some((table) => table === name)

  it('are all SQLite tables that are copied, with the columns of PostgreSQL except computed buckets', async (t) => {
    const { path } = await sourceFile(t)
    const database = new BetterSqlite3(path, { readonly: true })
    const columns = database
      .prepare<[], { name: string; column: string }>(
        `SELECT t.name, c.name AS column FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT IN ('schema_migration', 'change_count')`,
      )
      .all()
    database.close()
    const stored = columns.filter(({ name }) => isCopied(name)).map(({ name, column }) => `${name}.${column}`)
    const read = describedTables.flatMap(({ name, columns: described }) =>
      [...described.keys()].filter((column) => column !== 'bucket').map((column) => `${name}.${column}`),
    )
    assert.deepEqual(stored.sort(), read.sort())
  })

  it('are all tables of a new PostgreSQL store that are copied', async (t) => {
    const url = await freshDatabase(t)
    await openPostgres(t, url)
    const session = await openSession(t, url)
    const { rows } = await session.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migration'",
    )
    const stored = rows.map(({ name }) => name).filter(isCopied)
    assert.deepEqual(stored.sort(), tables.map(({ name }) => name).sort())
  })
})

describe('copying a store', () => {
  it('copies the audit log unchanged', async (t) => {
    const source = await sourceFile(t)
    const url = await freshDatabase(t)
    const before: AuditEvent[] = []
    await changing(source, async (store) => before.push(...(await auditLogOf(store))))
    await copy(source.url, url)
    assert.equal(before.length, rowsOfSource(2).audit_event)
    const target = await openPostgres(t, url)
    assert.deepEqual(await auditLogOf(target), before)
    const { teamId } = before.find(({ action }) => action === 'user_group.deleted')?.userGroup ?? {}
    const ofDeleted = { ...allOf({ workspaceId: 1, environment: 'Customer' }), teamId: teamId ?? 0 }
    assert.deepEqual(
      (await target.audit.list(ofDeleted)).map(({ action }) => action),
      ['deleted', 'suspended', 'created'].map((title) => `user_group.${title}`),
    )
  })

  it('copies tables in several batches and reports its progress', async (t) => {
    const source = await sourceFile(t, 1045)
    const url = await freshDatabase(t)
    const { copied, progress } = await copy(source.url, url)
    await assertSameRows(t, source.path, url)
    assert.equal(copied.find(({ name }) => name === 'user_group')?.rows, 1045)
    const ofUserGroups = progress.filter(({ table }) => table === 'user_group')
    assert.deepEqual(
      ofUserGroups.map(({ phase, done, total }) => [phase, done, total]),
      [
        ...[1000, 1045].map((done) => ['copying', done, 1045]),
        ...[1000, 1045, 2045, 2090].map((done) => ['verifying', done, 2090]),
      ],
    )
    const ends = progress.filter(({ done, total }) => done === total)
    assert.deepEqual(
      ends.map(({ phase, table }) => `${phase} ${table}`),
      ['copying', 'verifying'].flatMap((phase) => tables.map(({ name }) => `${phase} ${name}`)),
    )
  })

  it('resumes at the row where it was interrupted', async (t) => {
    const source = await sourceFile(t, 1010)
    const url = await freshDatabase(t)
    const whole = await copy(source.url, url)
    const session = await openSession(t, url)
    for (const missing of [10, 11]) {
      await session.query(
        `DELETE FROM user_group WHERE (workspace_id, environment, provided_id) IN
         (SELECT workspace_id, environment, provided_id FROM user_group ORDER BY 1, 2, 3 DESC LIMIT ${missing})`,
      )
      await markUnfinished(session)
      const { copied, progress } = await copy(source.url, url)
      assert.deepEqual(copied, whole.copied)
      assert.deepEqual(
        progress.filter(({ phase, table }) => phase === 'comparing' && table === 'user_group').at(-1),
        { phase: 'comparing', table: 'user_group', done: 1010 - missing, total: 1010 - missing },
      )
      await assertSameRows(t, source.path, url)
    }
  })

  it('copies an empty store', async (t) => {
    const [from, to] = [await freshDatabase(t), await freshDatabase(t)]
    await openPostgres(t, from)
    const { copied } = await copy(from, to)
    assert.deepEqual(
      copied.map(({ name, rows }) => [name, rows]),
      tables.map(({ name }) => [name, ['workspace', 'locator_key'].includes(name) ? 1 : 0]),
    )
    assert.deepEqual((await (await openPostgres(t, to)).workspaces.list()).length, 1)
  })
})

describe('copying a store, with a changed target:', async () => {
  const scope = suiteScope()
  const source = await sourceFile({ after })
  const url = await freshDatabase(scope)
  await copy(source.url, url)
  const [from, to] = [await openSource(source.url), await openTarget(url)]
  after(async () => {
    await from.close()
    await to.close()
  })
  const copyAgain = () => copyStore(from, to, () => undefined)
  const session = await openSession(scope, url)
  // Disables foreign keys, so that single tables can be emptied and restored.
  await session.query('SET session_replication_role = replica')
  await session.query('CREATE SCHEMA backup')
  for (const { name, counter } of tables) {
    await session.query(`CREATE TABLE backup.${name} AS TABLE ${name}`)
    // Team ids have no identity column.
    if (counter !== undefined && name !== 'user_group')
      await session.query(`ALTER TABLE ${name} ALTER COLUMN ${counter} SET GENERATED BY DEFAULT`)
  }

  /** Tests that a change is detected in an unfinished copy, with the name of the table, and also in a finished one. */
  function testDetection(title: string, table: string, change: string, alsoFinished = true): void {
    it(`detects ${title}`, async () => {
      const { rowCount } = await session.query(change)
      assert.equal(rowCount, 1)
      const isRefused = (message: string) => assert.rejects(copyAgain(), { name: 'StoreError', message })
      if (alsoFinished) await isRefused('the target already contains other data; use an empty database')
      await markUnfinished(session)
      await isRefused(
        `the target holds a row of ${table} that the source does not, or no longer: name an empty database`,
      )
      await session.query(`DELETE FROM ${table}`)
      await session.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE backup.${table}`)
      await markFinished(session)
    })
  }

  /** Two allowed values of each column that does not allow other texts. */
  const choices: Record<string, [string, string]> = {
    environment: ['Testing', 'Customer'],
    state: ['active', 'paused'],
  }
  const other: Record<string, (column: string) => string> = {
    bigint: (column: string) => `coalesce(${column}, 0) + 1`,
    integer: (column: string) => `${column} + 1`,
    smallint: (column: string) => `(${column} + 1) % 1024`,
    text: (column: string) => {
      const [one, another] = choices[column] ?? []
      return one === undefined
        ? `${column} || 'x'`
        : `CASE ${column} WHEN '${one}' THEN '${another}' ELSE '${one}' END`
    },
    uuid: (column: string) => `overlay(${column}::text placing 'f' from 1)::uuid`,
    bytea: (column: string) => `${column} || '\\x00'`,
  }
  // The comparison is the same for all columns of a type. That it knows all columns is tested above.
  const compared = new Set<string>()
  for (const { name, columns } of describedTables) {
    for (const [column, type] of columns) {
      const isNewType = !compared.has(type)
      if (compared.has(name) && !isNewType) continue
      compared.add(name).add(type)
      const row = `SELECT ctid FROM ${name} ORDER BY ${column} DESC NULLS LAST LIMIT 1`
      testDetection(
        `another ${column} of a ${name}`,
        name,
        `UPDATE ${name} SET ${column} = ${other[type]?.(column)} WHERE ctid = (${row})`,
        isNewType,
      )
    }
  }
  for (const column of [
    'expires_at',
    'revoked_at',
    'last_used_at',
    'replaced_by',
    'calls_at_once',
    'booked_until',
  ]) {
    testDetection(
      `an api_token without its ${column}`,
      'api_token',
      `UPDATE api_token SET ${column} = NULL
       WHERE ctid = (SELECT ctid FROM api_token WHERE ${column} IS NOT NULL LIMIT 1)`,
    )
  }
  testDetection(
    'a user_group with the JSON value null as properties',
    'user_group',
    "UPDATE user_group SET properties = 'null' WHERE properties IS NULL",
  )
  testDetection(
    'an additional row',
    'workspace',
    "INSERT INTO workspace (workspace_id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (0, 'zero', 0)",
  )
  it('accepts the target once it is as it was', async () => {
    await copyAgain()
  })
})
