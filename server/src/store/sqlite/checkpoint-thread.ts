// The thread of `Checkpointer`: each message is the path of a database whose log is to be brought home.
import { parentPort } from 'node:worker_threads'
import BetterSqlite3 from 'better-sqlite3'

parentPort?.on('message', (path: string) => {
  try {
    // Only for as long as it takes: whoever mends the files needs them for itself.
    const database = new BetterSqlite3(path, { fileMustExist: true })
    try {
      database.pragma('synchronous = FULL')
      // What waits, waits in vain: PASSIVE brings home what it can, and holds up nobody.
      database.pragma('wal_checkpoint(PASSIVE)')
    } finally {
      database.close()
    }
  } catch {
    // The commit that finds the log too long does it, and tells what is wrong.
  }
  parentPort?.postMessage('done')
})
