import type { components } from './wire.ts'

type WireError = components['schemas']['ErrorAnswer']['error']

/**
 * Why the service refuses a call; `docs/api.md` says of each what to do. A newer service may send one that is not listed
 * here.
 */
export type ErrorCode = WireError['code']

/** One field at fault: a JSON Pointer (RFC 6901) into the body that was sent, such as `/properties/region`. */
export type FieldFault = Readonly<NonNullable<WireError['fields']>[number]>

/** The service has answered, and says that the call failed. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  /** Status of the answer: 400 to 599. */
  readonly status: number
  /** The fields at fault; empty where none is. */
  readonly fields: readonly FieldFault[]
  /** Finds the call in the log of the service. */
  readonly requestId: string
  /** How long the service asks to wait before the next call (`Retry-After`), in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(error: WireError, { status, retryAfterMs }: AnswerDetails & { status: number }) {
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

/** Why there is no answer of the service. */
export type TransportErrorCode =
  /** No connection, or one that broke. */
  | 'unreachable'
  /** The deadline has passed. */
  | 'timed_out'
  /** No secure connection: the certificate is not trusted, or what answers does not speak TLS. */
  | 'tls_failed'
  /** Something before the service answers with an error of its own; `status` has it. */
  | 'refused'
  /** What answers is not the service, or redirects. */
  | 'bad_answer'

/**
 * There is no answer of the service, and it is not known whether the call took effect. Nothing is lost by repeating a
 * `getOrCreate` or an `update`; a `rotate` is repeated with the same `idempotencyKey`. Of `UserGroupManagement` each method
 * says what a repeat does.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly code: TransportErrorCode
  /** Status of the answer, where there was one. */
  readonly status: number | undefined
  /** How long `Retry-After` asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  // No `cause`: the errors of Node.js may hold the bytes that arrived, and a token among them.
  constructor(code: TransportErrorCode, message: string, details: AnswerDetails = {}) {
    super(message)
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}

interface AnswerDetails {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
}

export function badAnswer(what: string, status?: number): TransportError {
  return new TransportError(
    'bad_answer',
    `What answers is not the User Group Service as it should be (${what}): ` +
      'check origin, and that there is no login page or redirect before it',
    { status },
  )
}

function withoutTokens(text: string): string {
  return text.replace(/ug[at]_(?:customer|testing)_\w+/gi, '[token]')
}
