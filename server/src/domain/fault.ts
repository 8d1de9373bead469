/** Each way in which a call can fail, by its stable code (contract, "Errors"). */
export type FaultCode =
  | 'malformed_request'
  | 'malformed_json'
  | 'body_required'
  | 'validation_failed'
  | 'name_required'
  | 'invalid_method_override'
  | 'invalid_idempotency_key'
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
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'internal'
  | 'not_implemented'
  | 'unavailable'

/** One field at fault: a JSON Pointer (RFC 6901) into the body, and what is wrong there. */
export interface FieldFault {
  readonly path: string
  readonly message: string
}

/**
 * A failure that the caller is told of. `message` is public: it never holds a token, a stack or a driver's words.
 * `reason` is for the log, and is held to the same rule: a code such as `SQLITE_FULL`.
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
    super(withoutTokens(message))
    this.code = code
    this.fields = (details.fields ?? []).map(({ path, message }) => ({
      path: withoutTokens(path),
      message: withoutTokens(message),
    }))
    this.reason = details.reason
  }
}

/** The fields of an input that are at fault, those at the root with an empty path. */
export function validationFailed(fields: readonly FieldFault[]): Fault {
  const shown = fields
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'body' : path.slice(1)}: ${message}`)
  const rest = fields.length - shown.length
  return new Fault('validation_failed', shown.join('; ') + (rest > 0 ? `; and ${rest} more` : ''), { fields })
}

/** Replaces what looks like a token: a message may quote the name of an unknown field, and that may be anything. */
export function withoutTokens(text: string): string {
  return text.replace(/ug[at]_(?:customer|testing)_\w+/gi, '[token]')
}
