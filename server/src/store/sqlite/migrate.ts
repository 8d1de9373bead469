import type { Database } from 'better-sqlite3'
import type { Environment } from '../../domain/environment.ts'
import { bucketOf } from '../../domain/user-group/location.ts'
import {
  checkKnown,
  pendingMigrations,
  readMigrations,
  type AppliedMigration,
  type MigrateMode,
  type Migration,
} from '../migrations.ts'
import { StoreError } from '../store-error.ts'

/** Marks a file as one of this service in SQLite's header field for that purpose: "UGS" and a NUL. */
const applicationId = 0x55475300

/** @throws StoreError if the database belongs to another program. An empty one is accepted. */
export function checkOwner(database: Database): void {
  // One transaction, because another process may create the tables in between.
  const isAnothers = database.transaction(() => {
    if (isOurs(database)) return false
    const owner = database.pragma('application_id', { simple: true })
    const tables = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
    return owner !== 0 || tables !== 0
  })
  if (isAnothers()) throw new StoreError('the database belongs to another program; use another file')
}

interface MigrateOptions {
  /** Default is the migrations of this release. */
  readonly migrations?: readonly Migration[] | undefined
  /** Called before the tables change. May throw. */
  readonly beforeChange?: () => void
}

/**
 * Applies pending migrations under the write lock. If several processes start at once, one does the work and the others find
 * it done. An up-to-date database is only read. Adds the SQL function `user_group_bucket` to the connection.
 * @throws StoreError if the database belongs to a newer release or an earlier build, or has pending migrations in mode `check`
 */
export function migrate(
  database: Database,
  mode: MigrateMode,
  { migrations = readMigrations('sqlite'), beforeChange }: MigrateOptions = {},
): void {
  database.function('user_group_bucket', { deterministic: true }, userGroupBucket)
  const pending = () => pendingMigrations(migrations, readApplied(database), mode)
  if (pending().length === 0) return
  beforeChange?.()
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

function userGroupBucket(workspaceId: number, environment: Environment, providedId: string): number {
  return bucketOf({ workspaceId, environment, providedId })
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

/** @throws StoreError if a newer release has added anything to the database */
export function refuseNewer(database: Database): void {
  checkKnown(readMigrations('sqlite'), readApplied(database))
}

/** @throws StoreError if the database has lost its tables, as after a repair that copied nothing */
export function readApplied(database: Database): AppliedMigration[] {
  if (!isOurs(database)) return []
  const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'")
  if (tables.get() === undefined) throw new StoreError('the database has lost its tables; restore a backup')
  return database.prepare<[], AppliedMigration>('SELECT version, name FROM schema_migration').all()
}
