import { accessSync, constants, existsSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import {
  error,
  findDiskProblems,
  findingOf,
  findNearLimit,
  findSchemaProblems,
  maxId,
  megabytes,
  warning,
  type Check,
  type Finding,
  type StoreExamination,
} from '../doctor.ts'
import { isLogLarge } from '../../domain/store.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { fileExists } from '../file-access.ts'
import { StoreError } from '../store-error.ts'
import { tables } from '../tables.ts'
import { readMark } from './damage-mark.ts'
import { firstFault } from './first-fault.ts'
import { isOurs, migrate, readApplied } from './migrate.ts'
import { problemOf } from './sqlite-fault.ts'
import { secretKeys } from '../cold/secret-keys.ts'
import { Statements } from './cold-runner.ts'
import { refuseLostLog } from './store-files.ts'

export interface SqliteExaminationOptions {
  readonly lockTimeoutMs: number
  /** True to read the whole file. */
  readonly deep: boolean
}

/** Difference of clocks that is tolerated, in milliseconds. */
const toleratedMs = 60_000

/** Opens the file when the check `file` runs, and changes nothing in it. */
export function examineSqlite(path: string, options: SqliteExaminationOptions): StoreExamination {
  /** Without a log that this process creates. */
  const files = ['', '-wal', '-shm'].map((suffix) => path + suffix).filter((file) => existsSync(file))
  let opened: Database | undefined
  const database = () => {
    if (opened === undefined) throw new Error('the check "file" must run first')
    return opened
  }
  /** Turns errors of the driver into findings. */
  const check = (name: string, needs: readonly string[], run: () => readonly Finding[] | null): Check => ({
    name,
    needs,
    run: () => {
      try {
        return run()
      } catch (failure) {
        return [findingOfFailure(path, failure)]
      }
    },
  })
  const open = () => {
    if (!fileExists(path))
      return [error(`${path} does not exist.`, 'Run `ugs migrate`, or check UGS_DATA_DIR and DATABASE_URL.')]
    refuseLostLog(path)
    opened = openUnchanged(path, options.lockTimeoutMs)
    return findOwnerProblems(path, opened)
  }
  return {
    checks: [
      check('file', [], open),
      check('damage', ['file'], () => findMark(path)),
      check('permissions', ['file'], () => findPermissionProblems(dirname(path), files)),
      check('schema', ['file'], () => findSchemaProblems('sqlite', readApplied(database()))),
      check('indexes', ['schema'], () => findMissingIndexes(path, database())),
      check('ids', ['schema'], () => findIdProblems(database())),
      check('clock', ['schema'], () => findFutureTimes(database())),
      check('log', ['file'], () => findLogProblems(path)),
      check('disk', ['file'], () => findDiskProblems(dirname(path), 2 * sizeOf(path))),
      check('content', ['file'], () => (options.deep ? findDamage(path, database()) : null)),
    ],
    secretKeys: {
      listChecks: () => Promise.resolve(new Statements(database()).run(secretKeys.listChecks())),
      listRetired: () => Promise.resolve(new Statements(database()).run(secretKeys.listRetired())),
    },
    close: () => {
      opened?.close()
      return Promise.resolve()
    },
  }
}

/**
 * Opens a file without creating it. A read-only connection would leave an empty log behind, possibly of another owner, so it is used
 * only where this process cannot write.
 */
function openUnchanged(path: string, lockTimeoutMs: number): Database {
  const readonly = !isWritable(path) || !isWritable(dirname(path))
  const database = new BetterSqlite3(path, { fileMustExist: true, readonly, timeout: lockTimeoutMs })
  try {
    database.pragma('query_only = ON')
    database.pragma('cell_size_check = ON')
    // The first read of the file, which fails if it is not a database.
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return database
  } catch (failure) {
    database.close()
    throw failure
  }
}

function findOwnerProblems(path: string, database: Database): Finding[] {
  if (isOurs(database)) return []
  const tableCount = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
  return tableCount === 0
    ? [error(`${path} is empty.`, 'Run `ugs migrate`.')]
    : [
        error(
          `${path} belongs to another program.`,
          'Set DATABASE_URL or UGS_DATA_DIR to the store of this service.',
        ),
      ]
}

function findPermissionProblems(folder: string, names: readonly string[]): Finding[] {
  const files = names.flatMap((name) => {
    const stats = statSync(name, { throwIfNoEntry: false })
    return stats === undefined ? [] : [{ name, stats }]
  })
  return [
    ...[...files.map(({ name }) => name), folder]
      .filter((name) => !isWritable(name))
      .map((name) =>
        error(
          `This user may not write ${name}.`,
          `Run \`ugs\` as the user of the service, or give ${name} to this user with \`chown\`.`,
        ),
      ),
    ...findReadable(folder, files),
  ]
}

function findReadable(folder: string, files: readonly { name: string; stats: Stats }[]): Finding[] {
  const isReachable = (statSync(folder).mode & 0o001) !== 0
  const readable = files.filter(({ stats }) => isReachable && (stats.mode & 0o006) !== 0)
  if (readable.length === 0) return []
  const names = readable.map(({ name }) => name).join(' ')
  return [warning(`All users of this machine may read or write ${names}.`, `Run \`chmod o-rwx ${names}\`.`)]
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Compares with the indexes of a new store. */
function findMissingIndexes(path: string, database: Database): Finding[] {
  const expected = new BetterSqlite3(':memory:')
  try {
    migrate(expected, 'auto')
    const present = new Set(indexesOf(database).map(({ name }) => name))
    return indexesOf(expected)
      .filter(({ name }) => !present.has(name))
      .map(({ name, sql }) =>
        error(
          `The index ${name} is missing.`,
          `Stop the service and run \`sqlite3 ${path} "${sql.replaceAll(/\s+/g, ' ')}"\`.`,
        ),
      )
  } finally {
    expected.close()
  }
}

/** Returns the indexes that have a statement of their own. The others cannot be removed. */
function indexesOf(database: Database): { name: string; sql: string }[] {
  return database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
    )
    .all()
}

function findIdProblems(database: Database): Finding[] {
  const last = database.prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck()
  return tables.flatMap(({ name, counter }) =>
    counter === undefined
      ? []
      : findNearLimit(
          `${name}.${counter}`,
          last.get(name) ?? 0,
          maxId,
          'A store cannot reach this by creating rows. Restore a backup from before the number jumped: `ugs restore`.',
        ),
  )
}

/** Times in the future show that a clock was set back. */
function findFutureTimes(database: Database): Finding[] {
  const newest = Number(
    database
      .prepare(
        `SELECT max(time) FROM (
           SELECT max(applied_at) AS time FROM schema_migration
           UNION ALL SELECT max(created_at) FROM workspace
           UNION ALL SELECT max(max(created_at), coalesce(max(last_used_at), 0)) FROM api_token
         )`,
      )
      .pluck()
      .get(),
  )
  const aheadMs = newest - Date.now()
  if (aheadMs <= toleratedMs) return []
  return [
    error(
      `The store has times that are ${Math.round(aheadMs / 1000)} s in the future of this machine's clock.`,
      'Set the clock, for example with `timedatectl set-ntp true`, then restart the service.',
    ),
  ]
}

function findLogProblems(path: string): Finding[] {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (!isLogLarge(bytes, sizeOf(path))) return []
  return [
    warning(
      `${path}-wal has ${megabytes(bytes)}, and the database ${megabytes(sizeOf(path) - bytes)}: a long read keeps the log from restarting.`,
      `Find the processes that have the file open with \`fuser -v ${path}\`, and end those that are not the service. Then it shrinks by itself.`,
    ),
  ]
}

function sizeOf(path: string): number {
  return [path, `${path}-wal`].reduce(
    (total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

function findMark(path: string): Finding[] {
  const mark = readMark(path)
  if (mark === null) return []
  return [
    error(
      `${path} is damaged (${mark}), so services refuse changes.`,
      'Restore a backup or repair the file, then run `ugs store resume` (docs/operations.md, "A damaged store").',
    ),
  ]
}

function findDamage(path: string, database: Database): Finding[] {
  return firstFault(database) === null ? [] : [damaged(path)]
}

function damaged(path: string): Finding {
  return error(
    `${path} is damaged.`,
    'Stop the service, move the file with its -wal and -shm away, and restore a backup: `ugs restore`.',
  )
}

/** Throws defects. */
function findingOfFailure(path: string, failure: unknown): Finding {
  if (failure instanceof StoreError) {
    const { message } = failure
    return findingOf(message.startsWith(path) ? message : `${path}: ${message}`, 'Restore a backup.')
  }
  if (errorCodeOf(failure)?.startsWith('SQLITE_CORRUPT')) return damaged(path)
  const problem = problemOf(failure, path)
  if (problem === undefined) throw failure
  return findingOf(`${path}: ${problem}`, 'Restore a backup.')
}
