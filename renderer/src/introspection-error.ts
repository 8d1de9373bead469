import { RendererError } from './renderer-error.ts'

/** Reason why the result of an introspection is unknown. */
export type IntrospectionErrorCode =
  /** No connection, or it broke. */
  | 'unreachable'
  | 'timed_out'
  /** The API token is wrong, revoked or expired. */
  | 'unauthenticated'
  /** The API token lacks the scope `introspect`. */
  | 'forbidden'
  | 'rate_limited'
  /** Status 500, 502, 503 or 504: the service or its store is temporarily unavailable. */
  | 'unavailable'
  /** Another status of 400 or more. */
  | 'refused'
  /** The response violates the protocol, most likely because it is not from the service. */
  | 'bad_response'

/**
 * The result of an introspection is unknown, which differs from an inactive token. Show an error instead of the
 * dashboard. No message holds a token or a part of a response.
 */
export class IntrospectionError extends RendererError {
  override readonly name = 'IntrospectionError'
  readonly code: IntrospectionErrorCode
  /** HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Wait that the service requests (`Retry-After`), in milliseconds. */
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
