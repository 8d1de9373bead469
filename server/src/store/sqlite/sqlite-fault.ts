import BetterSqlite3 from 'better-sqlite3'
import { Fault } from '../../domain/fault.ts'

/** What stands between the service and its file; any other code of SQLite's is a defect of ours. */
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB|PERM|AUTH|PROTOCOL)/

export function isUnavailable({ code }: { readonly code: string }): boolean {
  return unavailable.test(code)
}

/** A failure of SQLite as the domain knows it: the code for the log, never the driver's message. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error
  return isUnavailable(error)
    ? new Fault('unavailable', 'The store cannot be used at the moment', { reason: error.code })
    : new Fault('internal', 'Something went wrong on our side', { reason: error.code })
}
