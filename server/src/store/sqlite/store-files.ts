import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { endianness } from 'node:os'
import { basename, dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import type { StoreSpace } from '../../domain/store.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { StoreError } from '../store-error.ts'

/** Minimum interval of file checks while nothing is written, in milliseconds. */
const checkEveryMs = 1000

const suffixes = ['', '-wal', '-shm'] as const
type Suffix = (typeof suffixes)[number]

/** Distinguishes a file from a later one with the same name. */
interface Identity {
  readonly device: number
  readonly inode: number
  readonly size: number
}

/** A file of the open database was removed or replaced. The message has a code and the remedy, for the log. */
export class StoreFilesError extends Error {
  override readonly name = 'StoreFilesError'
}

/**
 * Detects that files of the open database were removed or replaced. The process could continue to read and write such a file, but
 * its writes would be lost. The check runs after each commit that wrote, and about once a second otherwise.
 */
export class StoreFiles {
  readonly #database: Database
  readonly #path: string
  #opened: ReadonlyMap<Suffix, Identity>
  #checkedAt = -Infinity

  constructor(database: Database, path: string) {
    this.#database = database
    this.#path = path
    this.#opened = this.#identify()
  }

  /** @throws StoreFilesError */
  checkOccasionally(): void {
    if (performance.now() - this.#checkedAt >= checkEveryMs) this.check()
  }

  /** @throws StoreFilesError; no transaction may be open */
  check(): void {
    // Check every time until the files are fine again.
    this.#checkedAt = -Infinity
    const files = this.#identify()
    const database = files.get('')
    if (database === undefined)
      throw this.#lost(
        'the database was removed or moved; copy it from /proc/PID/fd before you stop the service, or put it back',
      )
    for (const [suffix, { device, inode }] of files) {
      const opened = this.#opened.get(suffix)
      if (opened !== undefined && (opened.device !== device || opened.inode !== inode))
        throw this.#lost(
          `${basename(this.#path)}${suffix} was replaced; stop the service, put the files back that belong together, start it`,
        )
    }
    this.#checkSize(database)
    if (files.size < suffixes.length) this.#repairLog()
    else this.#opened = files
    this.#checkedAt = performance.now()
  }

  /** Only VACUUM makes the file smaller, and it reduces the page count too. */
  #checkSize({ size }: Identity): void {
    if (size >= (this.#opened.get('')?.size ?? 0)) return
    const pragma = (name: string) => Number(this.#database.pragma(name, { simple: true }))
    if (size < pragma('page_count') * pragma('page_size'))
      throw this.#lost('the database was cut short; stop the service and restore a backup')
  }

  /**
   * Handles a removed write-ahead log or index. The open files still have its content: checkpoints it and creates both files again,
   * which is impossible while another process has the database open.
   */
  #repairLog(): void {
    if (this.#recreateLog()) return
    // At least the content of the log is checkpointed.
    this.#database.pragma('wal_checkpoint')
    throw this.#lost(
      'the log was removed; stop every process that has the database open, by SIGTERM, and start again',
    )
  }

  #recreateLog(): boolean {
    try {
      this.#database.pragma('journal_mode = DELETE')
      // From here on, SQLite creates the other files, now or at the next attempt.
      this.#opened = this.#identify()
      this.#database.pragma('journal_mode = WAL')
      this.#database.prepare('SELECT count(*) FROM sqlite_schema').get()
    } catch (error) {
      if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) return false
      throw error
    }
    this.#opened = this.#identify()
    return this.#opened.size === suffixes.length
  }

  #identify(): ReadonlyMap<Suffix, Identity> {
    const files = new Map<Suffix, Identity>()
    for (const suffix of suffixes) {
      const file = statSync(this.#path + suffix, { throwIfNoEntry: false })
      if (file !== undefined) files.set(suffix, { device: file.dev, inode: file.ino, size: file.size })
    }
    return files
  }

  #lost(problem: string): StoreFilesError {
    return new StoreFilesError(`STORE_FILES_LOST: ${problem}`)
  }
}

/** Returns the size of the files of a database, and the space that this user may still write on their disk. */
export async function spaceOf(path: string): Promise<StoreSpace> {
  const sizes = await Promise.all(
    suffixes.map((suffix) =>
      stat(path + suffix).then(
        ({ size }) => size,
        (error: unknown) => {
          if (errorCodeOf(error) !== 'ENOENT') throw error
          return 0
        },
      ),
    ),
  )
  const { bavail, bsize } = await statfs(dirname(path))
  const [, log = 0] = sizes
  return { size: sizes.reduce((sum, size) => sum + size, 0), log, free: bavail * bsize }
}

/** Byte offsets in the index of the write-ahead log (https://sqlite.org/walformat.html, section 2.1). */
const isInitAt = 12
const framesAt = 16
const checkpointedAt = 96
const headerLength = 100

/**
 * Refuses a database whose write-ahead log is missing. A database that was not closed needs its log; SQLite would open it
 * without, and the last commits would be lost. The index of the log, if it still exists, shows that there was one.
 * @throws StoreError
 */
export function refuseLostLog(path: string): void {
  const log = `${path}-wal`
  if (existsSync(log)) return
  const header = readIndexHeader(path)
  if (header === null || !holdsCommits(header)) return
  // Another process may have created or deleted both files meanwhile. Each new index has other salts.
  if (existsSync(log) || readIndexHeader(path)?.equals(header) !== true) return
  const name = basename(path)
  throw new StoreError(
    `${name}-wal is missing and holds the last commits; put it back, or, if a service is running, stop it by SIGTERM; ` +
      `to continue without these commits, remove ${name}-shm`,
  )
}

/** Returns null if there is no index. */
function readIndexHeader(path: string): Buffer | null {
  const header = Buffer.alloc(headerLength)
  try {
    // Closing the file releases this process's locks on it. It has none, because there is no log.
    const file = openSync(`${path}-shm`, 'r')
    readSync(file, header, 0, headerLength, 0)
    closeSync(file)
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error
    return null
  }
  return header
}

/** Tells whether an index says that its log has commits that the database lacks. */
function holdsCommits(header: Buffer): boolean {
  const read = (at: number) => (endianness() === 'LE' ? header.readUInt32LE(at) : header.readUInt32BE(at))
  return header[isInitAt] !== 0 && read(framesAt) > read(checkpointedAt)
}
