/** The stable error codes of the API (contract, "Errors"). */
export type FaultCode =
  | 'malformed_request'
  | 'malformed_json'
  | 'body_required'
  | 'validation_failed'
  | 'name_required'
  | 'invalid_method_override'
  | 'invalid_idempotency_key'
  | 'invalid_position'
  | 'unauthenticated'
  | 'forbidden'
  | 'user_group_not_found'
  | 'token_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'headers_too_large'
  | 'token_superseded'
  | 'idempotency_key_in_use'
  | 'revision_mismatch'
  | 'already_exists'
  | 'in_use'
  | 'limit_reached'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'internal'
  | 'not_implemented'
  | 'unavailable'

/** An invalid field: a JSON Pointer (RFC 6901) into the body, and the problem. */
export interface FieldFault {
  readonly path: string
  readonly message: string
}

/**
 * A failure that the service reports to the client. `message` is public and never contains a token, a stack trace or a driver's
 * message. `reason` goes to the log under the same rule: it is a code such as `SQLITE_FULL`.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  readonly fields: readonly FieldFault[]
  readonly reason: string | undefined

  constructor(
    code: FaultCode,
    message: string,
    details: { fields?: readonly FieldFault[]; reason?: string } = {},
  ) {
    // A flood of refused requests would spend a sixth of its CPU time on stack traces, which nobody reads.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(withoutTokens(message))
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.fields = (details.fields ?? []).map(({ path, message }) => ({
      path: withoutTokens(path),
      message: withoutTokens(message),
    }))
    this.reason = details.reason
  }
}

/** A failed authentication: the client sent credentials, and they are not valid. Their number is limited by client address. */
export class WrongCredentials extends Fault {
  constructor(message: string) {
    super('unauthenticated', message)
  }
}

/** Returns a fault that lists the invalid fields. An empty path means the body as a whole. */
export function validationFailed(fields: readonly FieldFault[]): Fault {
  const shown = fields
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'body' : path.slice(1)}: ${message}`)
  const rest = fields.length - shown.length
  return new Fault('validation_failed', shown.join('; ') + (rest > 0 ? `; and ${rest} more` : ''), { fields })
}

/** Redacts tokens, sessions and webhook secrets. A message may quote the name of an unknown field, which can be any text, even a token. */
export function withoutTokens(text: string): string {
  return text.replace(/ug[at]_(?:customer|testing)_\w+|whsec_[\w+/=]+|eyJ[\w-]+\.[\w-]+\.[\w-]*/gi, '[token]')
}
