import assert from 'node:assert/strict'
import type { Client } from 'pg'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { migratedDatabase } from '../../support/database.ts'
import { lifo } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'
import { describeAtomicAudit } from '../contract/audit-atomic-contract.ts'
import { defaults } from '../store-options.ts'

describeAtomicAudit('PostgreSQL', {
  open: async (t) => {
    const url = await migratedDatabase(t)
    const store = await openStore(parseDatabaseUrl(url), defaults)
    lifo(t).after(() => store.close())
    const session = await openSession(t, url)
    await session.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no event'; END $$`,
    )
    const isOnCitus = (await session.query("SELECT FROM pg_extension WHERE extname = 'citus'")).rowCount === 1
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
})

/** Runs a statement on each shard of the audit events: Citus refuses triggers on a distributed table. */
async function runOnShards(session: Client, sql: string): Promise<void> {
  const { rows } = await session.query<{ success: boolean; result: string }>(
    "SELECT success, result FROM run_command_on_shards('audit_event', $1)",
    [sql.replace('audit_event', '%s')],
  )
  for (const { success, result } of rows) assert.ok(success, result)
}
