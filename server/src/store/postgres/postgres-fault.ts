import { Fault } from '../../domain/fault.ts'

/**
 * A failed statement or connection, classified for the store. It contains no text of the server or the driver.
 */
export class PostgresFailure extends Error {
  override readonly name = 'PostgresFailure'
  /** SQLSTATE, system error code or a code of this service, for the log. */
  readonly code: string
  /** True if the same statement may succeed later. */
  readonly isTransient: boolean
  /** True if an immediate retry makes sense: the failure took no long wait and needs no repair. */
  readonly isRetryable: boolean
  /** True if the statement may have taken effect: the connection broke, or Citus lost a node, before the response. */
  readonly isAmbiguous: boolean
  /** True if the content of the statement or a locked row caused the failure, so that another statement may succeed. */
  readonly isOfStatement: boolean
  /** True if the connection is unusable. */
  readonly closesConnection: boolean

  constructor(code: string, phase: 'connecting' | 'querying', origin: FailureOrigin = {}) {
    super(code)
    // System codes such as EPIPE contain no digit.
    const isState = /^(?=.*\d)[0-9A-Z]{5}$/.test(code)
    const stateClass = isState ? code.slice(0, 2) : ''
    this.code = code
    this.isTransient =
      !isState || transientClasses.has(stateClass) || transientStates.has(code) || phase === 'connecting'
    this.isRetryable = this.isTransient && !needsRepair.has(code)
    const isRefusal = isState && !connectionClasses.has(stateClass) && !endsOfSession.has(code)
    const isOfCommit =
      stateClass === internalError || (origin.commitsOnNode === true && code === statementTimedOut)
    this.isAmbiguous = phase === 'querying' && (!isRefusal || isOfCommit)
    this.isOfStatement = phase === 'querying' && isRefusal && (!this.isTransient || statesOfOneItem.has(code))
    this.closesConnection =
      (!isRefusal && origin.isConnectionUsable !== true) || code === readOnly || code === cachedPlanChanged
  }
}

interface FailureOrigin {
  /** True if the server keeps the session, as a coordinator does when a worker does not respond. */
  readonly isConnectionUsable?: boolean
  /**
   * True if the statement may commit on a node of a Citus cluster by itself. The coordinator gives up waiting for the node at its
   * statement timeout, but not while it commits a transaction.
   */
  readonly commitsOnNode?: boolean
}

const lockNotAvailable = '55P03'
const diskFull = '53100'
const statementTimedOut = '57014'
/** Code of the driver's own time-out. */
export const timedOut = 'ETIMEDOUT'
/** Code of a statement that was not sent, because its node does not respond. */
export const nodeDown = 'NODE_DOWN'
/** Code of a primary that lacks changes which this process saw acknowledged. */
export const primaryBehind = 'PRIMARY_BEHIND'
export const uniqueViolation = '23505'
/** All ids of a sequence are used. */
const idsExhausted = '2200H'
/** Failures that an immediate retry repeats, or that already took a long wait. */
const needsRepair = new Set([lockNotAvailable, diskFull, nodeDown, idsExhausted])
/** Transient failures that one item of a statement may cause: lock time-out, statement time-out, and an id that is taken. */
const statesOfOneItem = new Set([lockNotAvailable, statementTimedOut, uniqueViolation])
/** Class of internal errors. Citus reports one if it loses a node during a commit, which may have taken effect. */
const internalError = 'XX'
/** SQLSTATE of a write to a standby or a demoted primary. */
export const readOnly = '25006'
/** A table was altered under a prepared statement. */
const cachedPlanChanged = '0A000'

/**
 * Connection exception, transaction rollback (deadlock, serialization), insufficient resources, operator intervention,
 * system error, internal error.
 */
const transientClasses = new Set(['08', '40', '53', '57', '58', internalError])
const transientStates = new Set([
  lockNotAvailable,
  readOnly,
  cachedPlanChanged,
  idsExhausted,
  uniqueViolation, // a retried creation met its own first attempt, whose commit is ambiguous
  '25P03', // idle in transaction session timeout
  '26000', // invalid SQL statement name, behind PgBouncer
  '42P05', // duplicate prepared statement, behind PgBouncer
])
/** The connection has ended, and a commit in flight is ambiguous. */
const connectionClasses = new Set(['08', '58'])
const endsOfSession = new Set(['57P01', '57P02', '57P03', '57P05', '25P03'])

/** Returns whether a node of a Citus cluster that does not respond causes this code. Other failures may have it too. */
export function isOfNode(code: string): boolean {
  return code.startsWith('08') || code === statementTimedOut || code === timedOut
}

/**
 * Converts a failure to the fault that the caller gets.
 * @param wasAmbiguous true if an earlier attempt may have taken effect
 */
export function faultOf(error: unknown, wasAmbiguous = false): unknown {
  if (!(error instanceof PostgresFailure)) return error
  return error.isTransient
    ? unavailable(
        error.code === diskFull ? `${diskFull}: ${remediationFor(diskFull)}` : error.code,
        wasAmbiguous || error.isAmbiguous,
      )
    : new Fault('internal', 'Something went wrong on our side', { reason: error.code })
}

export function unavailable(reason: string, isAmbiguous: boolean): Fault {
  const message = isAmbiguous
    ? 'The store failed during this request, which may have taken effect or may still do so. GET the user group before you retry'
    : 'The store is unavailable'
  return new Fault('unavailable', message, { reason })
}

/** Returns whether waiting cannot help: the role, the database or a certificate is wrong. */
export function isPermanent(code: string): boolean {
  return /^(28|3D|42501)/.test(code) || isOfTls(code)
}

/** Returns the problem and the remedy of a database that cannot be opened. */
export function remediationFor(code: string): string {
  if (code === readOnly)
    return 'no host accepts writes; add the primary to the hosts of the URL, or set default_transaction_read_only to off on it'
  if (code.startsWith('28'))
    return 'the role or its password is refused; check the user and the password in the URL'
  if (code === '3D000') return 'the database does not exist; create it, or use another one in the URL'
  if (code === '42501')
    return 'the role lacks rights; grant it CONNECT on the database, and all on its tables'
  if (code === 'TLS_NOT_SUPPORTED') {
    return 'the server does not encrypt; enable TLS there, or add sslmode=disable if the network in between is trusted'
  }
  if (code.startsWith('ERR_OSSL')) {
    return 'the certificates cannot be used; check the files of sslrootcert, sslcert and sslkey, and that the last two belong together'
  }
  if (isOfTls(code)) {
    return "the server's certificate cannot be verified; set sslrootcert to the certificate of its authority, and use the host name in the certificate"
  }
  if (code === diskFull) return "the server's disk is full; free some space there"
  if (code === idsExhausted) return 'the ids of a table are used up; run `ugs doctor`'
  if (code === '42P01') return 'a table is missing; run `ugs doctor`'
  if (/^(53|57)/.test(code)) return 'the server accepts no connections at the moment; retry later'
  if (/^(?!08)[\dX]\w{4}$/.test(code))
    return 'the server refused a statement of the service; run `ugs doctor`'
  return 'the server cannot be reached; check that it runs, and the hosts and ports in the URL'
}

function isOfTls(code: string): boolean {
  return /CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)
}
