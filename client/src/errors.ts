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
  abstract readonly status: number | undefined
  /** Wait that `Retry-After` requests before the next attempt, in milliseconds. */
  abstract readonly retryAfterMs: number | undefined
}

/** The service responded that the operation failed. */
export class ServiceError extends UserGroupServiceError {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  /** 400 to 599. */
  readonly status: number
  /** Invalid fields; may be empty. */
  readonly fields: readonly FieldFault[]
  /** Identifies the request in the log of the service. */
  readonly requestId: string
  readonly retryAfterMs: number | undefined

  constructor(error: WireError, { status, retryAfterMs }: ResponseDetails & { status: number }) {
    super(withoutTokens(error.message))
    this.code = error.code
    this.status = status
    this.fields = (error.fields ?? []).map(({ path, message }) => ({
      path: withoutTokens(path),
      message: withoutTokens(message),
    }))
    this.requestId = withoutTokens(error.request_id)
    this.retryAfterMs = retryAfterMs
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
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  /** `cause` is the error of the platform, if there is one. */
  constructor(
    code: TransportErrorCode,
    message: string,
    details: ResponseDetails & { readonly cause?: unknown } = {},
  ) {
    super(message, details)
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}

interface ResponseDetails {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
}

export function badResponse(
  detail: string,
  details: { readonly status?: number; readonly cause?: unknown } = {},
): TransportError {
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
