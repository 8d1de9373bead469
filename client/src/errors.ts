import type { UserWire } from './wire.ts'

type WireError = UserWire['ErrorResponse']['error']

/** Error code of the service. `docs/api.md` explains each. Newer services may send codes that are not listed here. */
export type ErrorCode = WireError['code']

/** An invalid field: its JSON Pointer (RFC 6901) in the request body, such as `/properties/region`, and the reason. */
export type FieldFault = Readonly<NonNullable<WireError['fields']>[number]>

/** An operation failed. Every error of this package is one, except those for invalid arguments. */
export abstract class UserGroupServiceError extends Error {
  /** Tells the kind of failure. */
  abstract readonly code: ErrorCode | TransportErrorCode
  /** HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Wait that `Retry-After` requests before the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails) {
    super(message, details)
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The service responded that the operation failed. */
export class ServiceError extends UserGroupServiceError {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  /** 400 to 599. */
  declare readonly status: number
  /** Invalid fields; may be empty. */
  readonly fields: readonly FieldFault[]
  /** Identifies the request in the log of the service. */
  readonly requestId: string

  constructor(error: WireError, details: ErrorDetails & { readonly status: number }) {
    super(withoutTokens(error.message), details)
    this.code = error.code
    this.fields = (error.fields ?? []).map(({ path, message }) => ({
      path: withoutTokens(path),
      message: withoutTokens(message),
    }))
    this.requestId = withoutTokens(error.request_id)
  }
}

/** Reason why there is no response of the service. */
export type TransportErrorCode =
  /** No connection, or it broke. */
  | 'unreachable'
  /** The deadline passed. */
  | 'timed_out'
  /** The certificate is not trusted, or the peer does not speak TLS. */
  | 'tls_failed'
  /** A proxy responded with an error; `status` has its status. */
  | 'refused'
  /** The response is not from the service, or is a redirect. */
  | 'bad_response'

/**
 * The service did not respond, so the operation may or may not have taken effect. It is safe to repeat `getOrCreate`,
 * `update`, `createSession` and `endSessions`, and `rotate` with the same `idempotencyKey`. For `UserGroupManagement`, see each method.
 */
export class TransportError extends UserGroupServiceError {
  override readonly name = 'TransportError'
  readonly code: TransportErrorCode

  constructor(code: TransportErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.code = code
  }
}

interface ErrorDetails {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  /** The error of the platform, if there is one. */
  readonly cause?: unknown
}

export function badResponse(detail: string, details?: ErrorDetails): TransportError {
  return new TransportError(
    'bad_response',
    `Unexpected response: ${detail}. ` +
      'Check origin, and that no login page or redirect is in front of the User Group Service.',
    details,
  )
}

function withoutTokens(text: string): string {
  return text.replace(/ug[at]_(?:customer|testing)_\w+/gi, '[token]')
}
