import type { Database } from 'better-sqlite3'
import {
  checkKnown,
  pendingMigrations,
  readMigrations,
  type AppliedMigration,
  type MigrateMode,
} from '../migrations.ts'
import { StoreError } from '../store-error.ts'

/** Marks a file as this service's, in SQLite's own header field for that purpose: "UGS" and a NUL. */
const applicationId = 0x55475300

/** @throws StoreError where the database is another program's; an empty one is anybody's. */
export function checkOwner(database: Database): void {
  // In one look: another process may make the tables in between.
  const isAnothers = database.transaction(() => {
    if (isOurs(database)) return false
    const owner = database.pragma('application_id', { simple: true })
    const tables = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
    return owner !== 0 || tables !== 0
  })
  if (isAnothers()) throw new StoreError('the database belongs to another program: name another file')
}

/**
 * Applies the migrations that the database lacks, under the write lock, so that of several processes that start at
 * once one does the work and the others find it done. One that is up to date is only read.
 * @throws StoreError where the database is a newer release's, or, with the mode `check`, behind.
 */
export function migrate(database: Database, mode: MigrateMode): void {
  const migrations = readMigrations('sqlite')
  const pending = () => pendingMigrations(migrations, readApplied(database), mode)
  if (pending().length === 0) return
  database
    .transaction(() => {
      if (!isOurs(database)) claim(database)
      const record = database.prepare(
        'INSERT INTO schema_migration (version, name, applied_at) VALUES (?, ?, ?)',
      )
      for (const { version, name, sql } of pending()) {
        database.exec(sql)
        record.run(version, name, Date.now())
      }
    })
    .immediate()
}

export function isOurs(database: Database): boolean {
  return database.pragma('application_id', { simple: true }) === applicationId
}

function claim(database: Database): void {
  database.pragma(`application_id = ${applicationId}`)
  database.exec(
    'CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
}

/** @throws StoreError where a newer release has added anything to the database */
export function refuseNewer(database: Database): void {
  checkKnown(readMigrations('sqlite'), readApplied(database))
}

function readApplied(database: Database): AppliedMigration[] {
  if (!isOurs(database)) return []
  return database.prepare<[], AppliedMigration>('SELECT version, name FROM schema_migration').all()
}
