import { basename, dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import type { Store } from '../../domain/store.ts'
import type { EventStore } from '../../domain/event/event-store.ts'
import { addDays, countBits } from '../../domain/usage/calendar.ts'
import { hasProperty, hasSchemaKey } from '../../domain/user-group/user-group-filter.ts'
import type { UserGroupStore } from '../../domain/user-group/user-group-store.ts'
import type { BatchObserver } from '../batch-observer.ts'
import type { SlowStatements } from '../slow-statements.ts'
import { pendingMigrations, readMigrations, type MigrateMode, type Migration } from '../migrations.ts'
import { fileExists } from '../file-access.ts'
import { StoreError } from '../store-error.ts'
import type { TableReader } from '../tables.ts'
import { coldPorts, searchPort } from '../cold/cold-ports.ts'
import { AuditLog } from './audit-log.ts'
import { Checkpointer } from './checkpointer.ts'
import { SqliteRunner } from './cold-runner.ts'
import { DamageMark, readMark, removeMark } from './damage-mark.ts'
import { Events } from './events.ts'
import { firstFault } from './first-fault.ts'
import { GroupCommit } from './group-commit.ts'
import { Integrity } from './integrity.ts'
import { LogFlusher } from './log-flusher.ts'
import { checkOwner, migrate, refuseNewer } from './migrate.ts'
import { portOf, untilDone } from './port.ts'
import { isBusy, problemOf } from './sqlite-fault.ts'
import { Mappings } from './mappings.ts'
import { refuseLostLog, spaceOf, StoreFiles } from './store-files.ts'
import { ChangeTracker } from './change-tracker.ts'
import { SqliteTableAccess } from './table-access.ts'
import { UserGroups } from './user-groups.ts'

export interface SqliteOptions {
  readonly migrate: MigrateMode
  /** Default is the migrations of this release. */
  readonly migrations?: readonly Migration[] | undefined
  readonly lockTimeoutMs: number
  readonly observer?: BatchObserver | undefined
  readonly slowStatements?: SlowStatements | undefined
  /** Called when this process finds that the store is damaged. */
  readonly onDamage?: ((reason: string) => void) | undefined
}

/** @throws StoreError */
export function openSqliteStore(path: string, options: SqliteOptions): Store {
  const database = openDatabase(path, options)
  const changeTracker = new ChangeTracker(database)
  const integrity = new Integrity(database, path, new DamageMark(path, options.onDamage))
  const { commit, checkpointer, close } = startGroupCommit(
    database,
    path,
    { changeTracker, integrity },
    options,
  )
  addFunctions(database)
  const audit = new AuditLog(database)
  const runner = new SqliteRunner(commit, database)
  const cold = coldPorts(runner)
  const mappings = new Mappings(database)
  const userGroups = new UserGroups(database, { changeTracker, mappings, audit, integrity })
  const selectAny = database.prepare('SELECT 1 FROM workspace LIMIT 1')
  return {
    ...cold,
    locatorKey: readLocatorKey(database),
    userGroups: {
      ...portOf<Omit<UserGroupStore, 'getOrCreateMany'>>(commit, userGroups),
      getOrCreateMany: (commands) =>
        inBatches(commit, 'UserGroups.getOrCreateMany', commands, (some) =>
          some.map((command) => userGroups.getOrCreate(command)),
        ),
      // A response is cached after its commit is on disk, so that an unchanged one does not depend on later commits.
      isUnchanged: (...args) =>
        commit.runWithoutFlush('UserGroups.isUnchanged', () => userGroups.isUnchanged(...args)),
    },
    userGroupSearch: searchPort(runner, searchLimits),
    dataSources: {
      ...cold.dataSources,
      resolveEntries: (scope, entries) =>
        commit.run('DataSources.resolveEntries', () => mappings.resolveEntries(scope, entries)),
    },
    events: eventsPort(commit, new Events(database)),
    integrity,
    space: () => spaceOf(path),
    shrinkLog: () => checkpointer.shrinkLog(),
    ping: () => commit.run('Workspaces.probe', () => void selectAny.get()),
    close,
  }
}

/** A call takes at most some milliseconds, for which other requests wait. */
const searchLimits = { rows: 500, ms: 4, runs: 32, indexedRows: 100 }

function addFunctions(database: Database): void {
  const options = { deterministic: true, directOnly: true }
  database.function('has_property', options, (properties: unknown, path: unknown, value: unknown) =>
    Number(hasProperty(properties as string | null, JSON.parse(String(path)) as string[], String(value))),
  )
  database.function('has_schema_key', options, (mapping: unknown, schemaKey: unknown) =>
    Number(hasSchemaKey(mapping as string | null, String(schemaKey))),
  )
  // As in PostgreSQL.
  database.function('bit_count', options, (days: unknown) => countBits(days as number))
  database.aggregate('bit_or', { ...options, start: 0, step: (all: number, days: number) => all | days })
  database.aggregate('count_days', {
    ...options,
    start: () => new Array<number>(31).fill(0),
    step: addDays,
    result: (counts: readonly number[]) => JSON.stringify(counts),
  })
}

function startGroupCommit(
  database: Database,
  path: string,
  guards: { readonly changeTracker: ChangeTracker; readonly integrity: Integrity },
  options: SqliteOptions,
): { commit: GroupCommit; checkpointer: Checkpointer; close: () => Promise<void> } {
  const files = new StoreFiles(database, path)
  const checkpointer = new Checkpointer(database, path)
  const flusher = new LogFlusher(database, `${path}-wal`, options)
  const commit = new GroupCommit(database, { ...guards, files, checkpointer, flusher }, options)
  const close = async () => {
    guards.integrity.close()
    await commit.finish()
    await checkpointer.close()
    database.close()
    flusher.close()
  }
  return { commit, checkpointer, close }
}

function eventsPort(commit: GroupCommit, events: Events): EventStore {
  return {
    head: () => commit.run('Events.head', () => events.head()),
    read: (after, limit) => commit.run('Events.read', () => events.read(after, limit)),
    deleteOlderThan: (before) =>
      untilDone(commit, 'Events.deleteOlderThan', () => events.deleteBatch(before)),
  }
}

function readLocatorKey(database: Database): Uint8Array {
  return database.prepare<[], Uint8Array>('SELECT key FROM locator_key').pluck().get() as Uint8Array
}

/**
 * Checks a damaged database that was repaired, and lets all processes change it again.
 * @returns false if it was not marked as damaged
 * @throws StoreError if it is still damaged
 */
export function resumeSqlite(path: string, options: SqliteOptions): boolean {
  if (!fileExists(path)) throw new StoreError(`${path}: there is no such file`)
  let database: Database | undefined
  try {
    refuseLostLog(path)
    database = new BetterSqlite3(path, { fileMustExist: true, timeout: options.lockTimeoutMs })
    checkOwner(database)
    database.pragma('cell_size_check = ON')
    const fault = firstFault(database)
    if (fault !== null)
      throw new StoreError(`the database is still damaged (${fault}); restore a backup, or repair it`)
    refuseNewer(database)
  } catch (error) {
    throw storeErrorOf(path, error)
  } finally {
    database?.close()
  }
  const isMarked = readMark(path) !== null
  removeMark(path)
  return isMarked
}

/** @throws StoreError */
export function openSqliteToRead(path: string, options: SqliteOptions): TableReader {
  if (!fileExists(path)) throw new StoreError(`${path}: there is no such file`)
  const database = openDatabase(path, options)
  try {
    refuseNewer(database)
    return new SqliteTableAccess(database)
  } catch (error) {
    database.close()
    throw storeErrorOf(path, error)
  }
}

function openDatabase(path: string, options: SqliteOptions): Database {
  if (!fileExists(dirname(path))) {
    throw new StoreError(`${path}: the folder does not exist; create it or use another path`)
  }
  const isNew = !fileExists(path)
  let database: Database | undefined
  try {
    // Refuse before creating a file.
    if (options.migrate === 'check' && isNew) pendingMigrations(readMigrations('sqlite'), [], 'check')
    refuseLostLog(path)
    if (isNew) refuseLostDatabase(path)
    database = new BetterSqlite3(path, { timeout: options.lockTimeoutMs })
    // Before any setting, so that another program's database stays unchanged.
    checkOwner(database)
    configure(database, options.lockTimeoutMs)
    migrate(database, options.migrate, {
      migrations: options.migrations,
      beforeChange: () => refuseDamaged(path),
    })
    refuseReadOnly(database, options.lockTimeoutMs)
    return database
  } catch (error) {
    database?.close()
    throw storeErrorOf(path, error)
  }
}

/** A new store in place of a damaged one would issue new tokens. @throws StoreError */
function refuseLostDatabase(path: string): void {
  if (readMark(path) !== null)
    throw new StoreError(
      `the database is missing, and was damaged; run \`ugs restore\`, or remove ${basename(path)}-damaged to begin with an empty store`,
    )
}

function refuseDamaged(path: string): void {
  const mark = readMark(path)
  if (mark !== null)
    throw new StoreError(
      `the database is damaged (${mark}), and this release has to change its tables; repair it and run \`ugs store resume\`, or restore a backup`,
    )
}

function configure(database: Database, lockTimeoutMs: number): void {
  // In WAL mode, readers such as `ugs` commands do not wait for the writer. On failure, SQLite returns the old mode.
  const journalMode = beginLog(database, lockTimeoutMs)
  if (journalMode !== 'wal') {
    throw new StoreError('the file system does not allow a write-ahead log; use a local disk')
  }
  // Migrations survive a power cut. Requests leave it to LogFlusher.
  database.pragma('synchronous = FULL')
  // In KiB. Four times as much, the default of better-sqlite3, makes reads no faster, because the system caches the file too, and
  // creations slower: SQLite scans its whole cache at each commit that splits a page.
  database.pragma('cache_size = -4000')
  database.pragma('foreign_keys = ON')
  // Detects a damaged page when it is read.
  database.pragma('cell_size_check = ON')
}

/** Retry interval for the lock that the WAL switch needs, in milliseconds. */
const lockRetryMs = 10

/** Switches to WAL mode. SQLite does not wait for the lock if several processes open a new file at once. */
function beginLog(database: Database, lockTimeoutMs: number): unknown {
  const lockDeadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return database.pragma('journal_mode = WAL', { simple: true })
    } catch (error) {
      if (!isBusy(error) || performance.now() >= lockDeadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockRetryMs)
    }
  }
}

/** SQLite also opens a read-only file and would fail only at the first write. */
function refuseReadOnly(database: Database, lockTimeoutMs: number): void {
  database.pragma('busy_timeout = 0')
  try {
    // BEGIN alone would not fail. The change is rolled back.
    database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 1; ROLLBACK')
  } catch (error) {
    // A held lock proves that the file is writable.
    if (!isBusy(error)) throw error
  } finally {
    database.pragma(`busy_timeout = ${lockTimeoutMs}`)
  }
}

/** Returns the problem of a file and its remedy. Throws defects. */
export function storeErrorOf(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return new StoreError(`${path}: ${error.message}`)
  const problem = problemOf(error, path)
  if (problem === undefined) throw error
  return new StoreError(`${path}: ${problem}`)
}

/** Maximum number of commands of a bulk call per transaction, for which other requests wait: 3 ms of work, or 1 ms if there are any. */
const batchSize = 32
const sharedBatchSize = 8

async function inBatches<Command, Outcome>(
  commit: GroupCommit,
  name: string,
  commands: readonly Command[],
  run: (commands: readonly Command[]) => Outcome[],
): Promise<Outcome[]> {
  return commit.runInIterations(async () => {
    const outcomes: Outcome[] = []
    while (outcomes.length < commands.length) {
      const size = commit.isShared ? sharedBatchSize : batchSize
      const some = commands.slice(outcomes.length, outcomes.length + size)
      outcomes.push(...(await commit.runInBackground(name, () => run(some))))
    }
    return outcomes
  })
}
