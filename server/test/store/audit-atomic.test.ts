import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Client } from 'pg'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Store } from '../../src/domain/store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { tables } from '../../src/store/tables.ts'
import { migratedDatabase } from '../support/database.ts'
import { lifo, type Scope } from '../support/scope.ts'
import { temporaryFolder } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { recordedEvents } from './contract/audit-events.ts'
import { changes } from './contract/audited-changes.ts'
import { suiteScope } from './postgres/postgres-support.ts'
import { defaults } from './store-options.ts'

interface OpenedStore {
  readonly store: Store
  /** Runs SQL on a second connection, past the store. */
  readonly run: (sql: string) => Promise<unknown>
  readonly rowsOf: (table: string) => Promise<unknown[]>
}

interface Dialect {
  readonly open: (t: Scope) => Promise<OpenedStore>
  /** SQL that makes every insert of an audit event fail. */
  readonly failInsert: string
  /** SQL that makes the commit of a transaction with an audit event fail. */
  readonly failCommit: string
  readonly removeFailure: string
}

const dialects: Record<'SQLite' | 'PostgreSQL', Dialect> = {
  SQLite: {
    open: async (t) => {
      const path = join(temporaryFolder(t), 'ugs.db')
      const store = await openStore({ kind: 'sqlite', path }, defaults)
      const database = new BetterSqlite3(path)
      t.after(async () => {
        database.close()
        await store.close()
      })
      return {
        store,
        run: (sql) => Promise.resolve(database.exec(sql)),
        rowsOf: (table) => Promise.resolve(database.prepare(`SELECT * FROM ${table}`).all()),
      }
    },
    failInsert: `CREATE TRIGGER gate AFTER INSERT ON audit_event BEGIN SELECT RAISE(ABORT, 'no event'); END`,
    failCommit: `CREATE TABLE IF NOT EXISTS absent (id INTEGER PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS refers (id INTEGER REFERENCES absent (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER gate AFTER INSERT ON audit_event BEGIN INSERT INTO refers VALUES (1); END`,
    removeFailure: 'DROP TRIGGER gate',
  },
  PostgreSQL: {
    open: async (t) => {
      const url = await migratedDatabase(t)
      const store = await openStore(parseDatabaseUrl(url), defaults)
      lifo(t).after(() => store.close())
      const session = await openSession(t, url)
      await session.query(
        `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no event'; END $$`,
      )
      const isOnCitus =
        (await session.query("SELECT FROM pg_extension WHERE extname = 'citus'")).rowCount === 1
      return {
        store,
        run: (sql) => (isOnCitus ? runOnShards(session, sql) : session.query(sql)),
        rowsOf: async (table) =>
          (await session.query<object>(`SELECT one::text FROM ${table} AS one ORDER BY 1`)).rows,
      }
    },
    failInsert: 'CREATE TRIGGER gate AFTER INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fail()',
    failCommit: `CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON audit_event DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION fail()`,
    removeFailure: 'DROP TRIGGER gate ON audit_event',
  },
}

/** Runs a statement on each shard of the audit events: Citus refuses triggers on a distributed table. */
async function runOnShards(session: Client, sql: string): Promise<void> {
  const { rows } = await session.query<{ success: boolean; result: string }>(
    "SELECT success, result FROM run_command_on_shards('audit_event', $1)",
    [sql.replace('audit_event', '%s')],
  )
  for (const { success, result } of rows) assert.ok(success, result)
}

// The run on Citus needs no SQLite.
const tested = process.env.UGS_TEST_STORE === 'postgres' ? { PostgreSQL: dialects.PostgreSQL } : dialects
for (const [name, { open, removeFailure, ...failures }] of Object.entries(tested)) {
  describe(`${name}: a change and its audit events`, () => {
    let opened: OpenedStore
    const scope = suiteScope()
    before(async () => {
      opened = await open(scope)
    })
    for (const [title, prepare] of Object.entries(changes)) {
      it(`are committed together or not at all: ${title}`, async () => {
        const { store, run, rowsOf } = opened
        const { change, events } = await prepare(store)
        const allRows = () =>
          Promise.all(
            [...tables.map((table) => table.name), 'event'].map(async (table) => [
              table,
              await rowsOf(table),
            ]),
          )
        const rowsBefore = await allRows()
        for (const fail of [failures.failInsert, failures.failCommit]) {
          await run(fail)
          await assert.rejects(change())
          assert.deepEqual(await allRows(), rowsBefore)
          await run(removeFailure)
        }
        const { events: recorded } = await recordedEvents(store, change)
        assert.deepEqual(recorded, await events())
        assert.notDeepEqual(await allRows(), rowsBefore)
      })
    }
  })
}
