// Thread of `Checkpointer`. Each message is a request, and is followed by the outcome.
import { parentPort } from 'node:worker_threads'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { isBusy } from './sqlite-fault.ts'

export interface CheckpointRequest {
  /** Path of the database. */
  readonly path: string
  /** True to also empty the file of the log. */
  readonly truncates: boolean
}

/** `blocked` if another process kept the checkpoint from reaching the end of the log: a long read transaction, or a busy writer. */
export type CheckpointOutcome = 'done' | 'blocked' | 'failed'

interface Log {
  /** 1 if another process is checkpointing. */
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

/** Number of checkpoints before the lock is taken. One of them usually reaches the end of the log and flushes the database file. */
const unlockedCheckpoints = 3
/** Maximum number of pages that are left for the time during which no process can write. */
const lockedPages = 1000
/** Maximum time to wait for the write lock, in milliseconds. */
const lockTimeoutMs = 100

parentPort?.on('message', (request: CheckpointRequest) => {
  parentPort?.postMessage(outcomeOf(request))
})

/** Opens the database only for the checkpoint, because repairing its files needs exclusive access. */
function outcomeOf({ path, truncates }: CheckpointRequest): CheckpointOutcome {
  const databases: Database[] = []
  const open = () => {
    const database = new BetterSqlite3(path, { fileMustExist: true, timeout: lockTimeoutMs })
    databases.push(database)
    return database
  }
  try {
    return checkpoint(open(), open(), truncates) ? 'done' : 'blocked'
  } catch (error) {
    return isBusy(error) ? 'blocked' : 'failed'
  } finally {
    for (const database of databases) database.close()
  }
}

/** @returns whether all of the log was checkpointed, so that the next commit restarts it */
function checkpoint(database: Database, locking: Database, truncates: boolean): boolean {
  // PASSIVE copies as many pages as it can without blocking readers or writers.
  const passive = database.prepare<[], Log>('PRAGMA wal_checkpoint(PASSIVE)')
  const pagesLeft = () => {
    const { busy, log, checkpointed } = passive.get() as Log
    return busy === 1 ? Infinity : log - checkpointed
  }
  let left = Infinity
  for (let i = 0; i < unlockedCheckpoints; i++) left = pagesLeft()
  if (left > lockedPages) return false
  if (truncates) {
    // No process could write while SQLite waits for a reader.
    locking.pragma('busy_timeout = 0')
    return locking.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0
  }
  locking.exec('BEGIN IMMEDIATE')
  return pagesLeft() === 0
}
