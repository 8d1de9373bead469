import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeAtomicAudit } from '../contract/audit-atomic-contract.ts'
import { defaults } from '../store-options.ts'

describeAtomicAudit('SQLite', {
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
})
