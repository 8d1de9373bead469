import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { endianness } from 'node:os'
import { basename } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { StoreError } from '../store-error.ts'

/** Where nothing is written, the files are looked at so often at most, in milliseconds. */
const lookEveryMs = 1000

const suffixes = ['', '-wal', '-shm'] as const
type Suffix = (typeof suffixes)[number]

/** What tells a file from another that has its name later. */
interface Identity {
  readonly device: number
  readonly inode: number
  readonly size: number
}

/** The files of the open database are not those that have their names. The message is a code for the log, and the cure. */
export class StoreFilesError extends Error {
  override readonly name = 'StoreFilesError'
}

/**
 * The files of an open database, as they were when it was opened. A process goes on reading and writing a file that was
 * removed or replaced, and nobody else ever sees what it writes: so it is looked for, after each commit that wrote and
 * now and then besides.
 */
export class StoreFiles {
  readonly #database: Database
  readonly #path: string
  #opened: ReadonlyMap<Suffix, Identity>
  #lookedAt = -Infinity

  constructor(database: Database, path: string) {
    this.#database = database
    this.#path = path
    this.#opened = this.#lookAtAll()
  }

  /** @throws StoreFilesError */
  checkNowAndThen(): void {
    if (performance.now() - this.#lookedAt >= lookEveryMs) this.check()
  }

  /** @throws StoreFilesError; no transaction may be open */
  check(): void {
    // Until all is well again, each time.
    this.#lookedAt = -Infinity
    const files = this.#lookAtAll()
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
    this.#lookedAt = performance.now()
  }

  /** It grows, and is shortened by VACUUM alone, which leaves fewer pages. */
  #checkSize({ size }: Identity): void {
    if (size >= (this.#opened.get('')?.size ?? 0)) return
    const pragma = (name: string) => Number(this.#database.pragma(name, { simple: true }))
    if (size < pragma('page_count') * pragma('page_size'))
      throw this.#lost('the database was cut short; stop the service and restore a backup')
  }

  /**
   * The log, or the index of it, was removed. The open files still have all that is in it: it is brought home to the
   * database, and both are made anew. Where another process has the database open that cannot be.
   */
  #repairLog(): void {
    if (this.#recreateLog()) return
    // What is in the log is at least brought home.
    this.#database.pragma('wal_checkpoint')
    throw this.#lost(
      'the log was removed; stop every process that has the database open, by SIGTERM, and start again',
    )
  }

  #recreateLog(): boolean {
    try {
      this.#database.pragma('journal_mode = DELETE')
      // From here on the others are those that SQLite makes, now or, if that fails, at the next try.
      this.#opened = this.#lookAtAll()
      this.#database.pragma('journal_mode = WAL')
      this.#database.prepare('SELECT count(*) FROM sqlite_schema').get()
    } catch (error) {
      if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) return false
      throw error
    }
    this.#opened = this.#lookAtAll()
    return this.#opened.size === suffixes.length
  }

  #lookAtAll(): ReadonlyMap<Suffix, Identity> {
    const files = new Map<Suffix, Identity>()
    for (const suffix of suffixes) {
      const file = statSync(this.#path + suffix, { throwIfNoEntry: false })
      if (file !== undefined) files.set(suffix, { device: file.dev, inode: file.ino, size: file.size })
    }
    return files
  }

  #lost(what: string): StoreFilesError {
    return new StoreFilesError(`STORE_FILES_LOST: ${what}`)
  }
}

/** Of the index of the log (https://sqlite.org/walformat.html, section 2.1): bytes. */
const isInitAt = 12
const framesAt = 16
const checkpointedAt = 96
const headerLength = 100

/**
 * A database that was not closed has its log beside it. SQLite itself would open it without, and what was answered last
 * would be gone; the index of the log, where it is still there, tells that there was one.
 * @throws StoreError
 */
export function refuseLostLog(path: string): void {
  if (existsSync(`${path}-wal`) || !existsSync(`${path}-shm`)) return
  const header = Buffer.alloc(headerLength)
  // Closing it gives up the locks on it that this process has: it has none, or else there would be a log.
  const file = openSync(`${path}-shm`, 'r')
  readSync(file, header, 0, headerLength, 0)
  closeSync(file)
  const read = (at: number) => (endianness() === 'LE' ? header.readUInt32LE(at) : header.readUInt32BE(at))
  if (header[isInitAt] === 0 || read(framesAt) <= read(checkpointedAt)) return
  const name = basename(path)
  throw new StoreError(
    `${name}-wal is missing, and holds what was answered last; put it back, or, if a service is running, stop it by SIGTERM; ` +
      `to go on without what it held, remove ${name}-shm`,
  )
}
