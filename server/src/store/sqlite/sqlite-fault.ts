import BetterSqlite3 from 'better-sqlite3'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { findMissingPermission } from '../file-access.ts'
import { Fault } from '../../domain/fault.ts'
import { StoreDamagedError } from './damage-mark.ts'
import { FlushError } from './log-flusher.ts'
import { StoreFilesError } from './store-files.ts'

/** Error codes that the environment causes. All others are defects of the service. */
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB|PERM|AUTH|PROTOCOL)/

export function isUnavailable({ code }: { readonly code: string }): boolean {
  return unavailable.test(code)
}

/** Returns whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** Errors that not every statement meets: with a full disk, a read-only file or a damaged page, other reads succeed. */
const ofSome = /^SQLITE_(FULL|READONLY|CORRUPT|IOERR_(WRITE|READ|SHORT_READ|CORRUPTFS|DATA))/

export function isOfSomeStatements(error: unknown): boolean {
  return (
    error instanceof StoreDamagedError ||
    (error instanceof BetterSqlite3.SqliteError && ofSome.test(error.code))
  )
}

/** Errors of a file whose content is not what SQLite wrote. A disk that cannot be read (IOERR_READ) gives no wrong data. */
const damage = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|CORRUPTFS|DATA))/

export function isDamage(error: unknown): error is InstanceType<typeof BetterSqlite3.SqliteError> {
  return error instanceof BetterSqlite3.SqliteError && damage.test(error.code)
}

const noAccess = /^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/

/** Returns the problem and the remedy, for the log. */
function remediationFor(code: string): string {
  if (code === 'SQLITE_NOTADB') {
    return 'the file is not a SQLite database; use another file, or restore a backup'
  }
  if (code.startsWith('SQLITE_CORRUPT')) return 'the database is damaged; restore a backup'
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code))
    return 'the database is locked by another process; stop it, or retry'
  if (noAccess.test(code)) {
    return 'the database cannot be opened for writing; check the owner and mode of the file and its folder'
  }
  if (/^SQLITE_(FULL|IOERR)/.test(code)) {
    return 'the disk is full or failing; free some space and check the disk'
  }
  return 'the database cannot be used'
}

/** Returns the problem and its remedy for an operator, or undefined for a defect. */
export function problemOf(error: unknown, path: string): string | undefined {
  if (error instanceof BetterSqlite3.SqliteError) {
    const missing = noAccess.test(error.code) ? findMissingPermission(path) : undefined
    return missing ?? `${remediationFor(error.code)} (${error.code})`
  }
  if (!(error instanceof Error)) return undefined
  const isMissing = error.message.startsWith('Could not locate the bindings file')
  if (!isMissing && errorCodeOf(error) !== 'ERR_DLOPEN_FAILED') return undefined
  const ofNode = `Node ${process.versions.node.split('.')[0]}`
  const [target, remedy] = isMissing
    ? [ofNode, '` (pnpm: `pnpm approve-builds`)']
    : error.message.includes('NODE_MODULE_VERSION')
      ? [ofNode, '` (pnpm: `pnpm rebuild better-sqlite3`)']
      : [`this system (${error.message.split('\n')[0]})`, ' --build-from-source`']
  return `better-sqlite3 is not built for ${target}: run \`npm rebuild better-sqlite3${remedy}, or set DATABASE_URL to PostgreSQL`
}

/** Converts an error to a fault. Its reason has the code and the remedy for the log, never the driver's message. */
export function faultOf(error: unknown): unknown {
  if (error instanceof StoreFilesError) {
    const message =
      'The files of the store are lost. This request may have taken effect, or may be lost with them; GET the user group before you retry.'
    return new Fault('unavailable', message, { reason: error.message })
  }
  if (error instanceof FlushError) {
    const message =
      'The disk of the store failed. This request may have taken effect; GET the user group before you retry.'
    return new Fault('unavailable', message, { reason: error.message })
  }
  if (error instanceof StoreDamagedError)
    return new Fault('unavailable', 'The store is damaged and refuses changes. Nothing was changed.', {
      reason: error.message,
    })
  // Of `JSON.parse`. Requests were parsed before.
  if (error instanceof SyntaxError)
    return new Fault('unavailable', 'The store is unavailable', {
      reason:
        'ROW_UNREADABLE: a row has text that is not JSON; run `ugs doctor --deep`, and restore a backup or update the user group',
    })
  if (!(error instanceof BetterSqlite3.SqliteError)) return error
  return isUnavailable(error)
    ? new Fault('unavailable', 'The store is unavailable', {
        reason: `${error.code}: ${remediationFor(error.code)}`,
      })
    : new Fault('internal', 'Something went wrong on our side', { reason: error.code })
}
