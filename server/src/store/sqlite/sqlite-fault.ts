import BetterSqlite3 from 'better-sqlite3'
import { Fault } from '../../domain/fault.ts'

/** What stands between the service and its file; any other code of SQLite's is a defect of ours. */
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB|PERM|AUTH|PROTOCOL)/

/** A failure of SQLite as the domain knows it: the code for the log, never the driver's message. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error
  return unavailable.test(error.code)
    ? new Fault('unavailable', 'The store cannot be reached; retry in a moment', { reason: error.code })
    : new Fault('internal', 'Something went wrong on our side', { reason: error.code })
}
