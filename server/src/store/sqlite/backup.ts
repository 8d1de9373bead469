import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { fileExists } from '../file-access.ts'
import { StoreError } from '../store-error.ts'
import { removeMark } from './damage-mark.ts'
import { firstFault } from './first-fault.ts'
import { isOurs, refuseNewer } from './migrate.ts'
import { storeErrorOf } from './sqlite-store.ts'
import { refuseLostLog } from './store-files.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { flush, UnfinishedFile } from '../../output-file.ts'

/** Maximum number of pages copied at a time: some milliseconds of work. */
const maxBatchPages = 1000

export interface BackupProgress {
  /** Pages of the database. */
  readonly done: number
  readonly total: number
}

/**
 * Copies the current state of a SQLite store to a new file; services may write to the store meanwhile. When the promise
 * resolves, the copy is one file, checked and flushed to disk. Until then it has another name.
 * @returns size in bytes
 * @throws StoreError if `from` is damaged or not a store of this service, or if `to` exists
 */
export async function copyDatabase(
  from: string,
  to: string,
  report: (progress: BackupProgress) => void,
): Promise<number> {
  if (!fileExists(from)) throw new StoreError(`${from}: there is no such file`)
  refuseExisting(to)
  if (!fileExists(dirname(to))) throw new StoreError(`${to}: the folder does not exist; create it`)
  const unfinished = naming(to, () => new UnfinishedFile(to, { mustBeNew: true }))
  try {
    await at(from, () => copyPages(from, unfinished.path, report), to)
    await at(unfinished.path, () => makeWhole(unfinished.path))
    // That of the damaged store which this one replaces.
    removeMark(to)
    naming(to, () => unfinished.finish())
    return statSync(to).size
  } finally {
    unfinished.delete()
  }
}

/** @throws StoreError with the system's error code */
function naming<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'EEXIST') refuseExisting(file)
    throw code === undefined ? error : new StoreError(`${file}: cannot be created (${code})`)
  }
}

function refuseExisting(file: string): void {
  const existing = [file, `${file}-wal`].find(fileExists)
  if (existing !== undefined) throw new StoreError(`${existing}: already exists; move it or use another path`)
}

/**
 * Runs `work` and names the file in its errors.
 * @param written file to name if the disk is full
 * @throws StoreError
 */
async function at<T>(file: string, work: () => T | Promise<T>, written = file): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeErrorOf(errorCodeOf(error) === 'SQLITE_FULL' ? written : file, error)
  }
}

async function copyPages(
  from: string,
  to: string,
  report: (progress: BackupProgress) => void,
): Promise<void> {
  refuseLostLog(from)
  const source = new BetterSqlite3(from, { fileMustExist: true })
  try {
    if (!isOurs(source)) throw new StoreError('is not a store of the User Group Service')
    refuseNewer(source)
    // One read transaction is one snapshot. Without it, SQLite would restart the copy at every write.
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    const { totalPages: total } = await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        report({ done: totalPages - remainingPages, total: totalPages })
        // Otherwise the system would write the whole copy at once, and the commits of services would wait for it.
        if (remainingPages < totalPages) flush(to)
        return maxBatchPages
      },
    })
    report({ done: total, total })
  } finally {
    source.close()
  }
}

/** Makes the copy a single file without a log, and checks it. */
function makeWhole(file: string): void {
  const copy = new BetterSqlite3(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = DELETE')
    renewStoreId(copy)
    const fault = firstFault(copy)
    if (fault !== null) throw new StoreError(`the copy is damaged (${fault}); use an older backup`)
  } finally {
    copy.close()
  }
}

/** A service that runs on the copy has other events after the same positions, so that positions of the original must not be valid. */
function renewStoreId(database: Database): void {
  const hasEvents =
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'event_log'").get() !== undefined
  if (hasEvents) database.exec('UPDATE event_log SET store_id = lower(hex(randomblob(4)))')
}
