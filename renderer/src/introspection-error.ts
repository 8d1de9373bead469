/** Why it is not known whose token it is. */
export type IntrospectionErrorCode =
  /** No connection, or one that broke. */
  | 'unreachable'
  | 'timed_out'
  /** The API token is wrong, revoked or expired. */
  | 'unauthenticated'
  /** The API token lacks the scope `introspect`. */
  | 'forbidden'
  | 'rate_limited'
  /** 502, 503, 504: the service, or what it needs, is away for the moment. */
  | 'unavailable'
  /** Another answer with a status of 400 or more. */
  | 'refused'
  /** What answers does not keep to the protocol: most likely it is not the service. */
  | 'bad_answer'

/**
 * The service did not say whose token it is. That is not the same as an inactive token: show an error, and no dashboard.
 * No message holds a token, or anything that was answered.
 */
export class IntrospectionError extends Error {
  override readonly name = 'IntrospectionError'
  readonly code: IntrospectionErrorCode
  /** The status of the answer, where there was one. */
  readonly status: number | undefined
  /** How long the service asked to wait (`Retry-After`), in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: IntrospectionErrorCode,
    message: string,
    details: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}
