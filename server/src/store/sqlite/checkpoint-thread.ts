// Thread of `Checkpointer`. Each message is the path of a database to checkpoint.
import { parentPort } from 'node:worker_threads'
import BetterSqlite3 from 'better-sqlite3'

parentPort?.on('message', (path: string) => {
  try {
    // Opened only for the checkpoint: repairing the files needs exclusive access.
    const database = new BetterSqlite3(path, { fileMustExist: true })
    try {
      database.pragma('synchronous = FULL')
      // PASSIVE copies as many pages as it can without blocking readers or writers.
      database.pragma('wal_checkpoint(PASSIVE)')
    } finally {
      database.close()
    }
  } catch {
    // The commit that finds the log too long does the checkpoint and reports the error.
  }
  parentPort?.postMessage('done')
})
