import type { Database } from 'better-sqlite3'
import { readMigrations } from '../migrations.ts'
import { StoreError } from '../store-error.ts'

/** Marks a file as this service's, in SQLite's own header field for that purpose: "UGS" and a NUL. */
const applicationId = 0x55475300

/**
 * Applies the migrations that the database lacks, under the write lock, so that of several processes that start at
 * once one does the work and the others find it done.
 * @returns the names of those applied.
 * @throws StoreError where the database is a newer version's or another program's.
 */
export function migrate(database: Database): string[] {
  const migrations = readMigrations('sqlite')
  return database
    .transaction(() => {
      const version = readVersion(database)
      if (version > migrations.length) {
        throw new StoreError(
          `the database has schema version ${version}, and this release knows up to ${migrations.length}: start the release that wrote it, or a newer one`,
        )
      }
      const pending = migrations.slice(version)
      const record = () =>
        database.prepare('INSERT INTO schema_migration (version, name, applied_at) VALUES (?, ?, ?)')
      for (const { version, name, sql } of pending) {
        database.exec(sql)
        record().run(version, name, Date.now())
      }
      return pending.map(({ name }) => name)
    })
    .immediate()
}

function readVersion(database: Database): number {
  const owner = database.pragma('application_id', { simple: true })
  if (owner !== applicationId) {
    const tables = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
    if (owner !== 0 || tables !== 0) {
      throw new StoreError('the database belongs to another program: name another file in DATABASE_URL')
    }
    database.pragma(`application_id = ${applicationId}`)
    database.exec(
      'CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
    )
  }
  return database.prepare('SELECT coalesce(max(version), 0) FROM schema_migration').pluck().get() as number
}
