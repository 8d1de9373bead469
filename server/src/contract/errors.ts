import { Type } from 'typebox'
import type { Fault, FaultCode } from '../domain/fault.ts'
import { object, textEnum } from './schema.ts'

/** The HTTP status and the meaning of each error code (contract, "Errors"). */
export const errorTable = {
  malformed_request: { status: 400, meaning: 'The request is not valid HTTP.' },
  malformed_json: {
    status: 400,
    meaning:
      'The body is not strict JSON (RFC 7493): a syntax error, invalid UTF-8, a duplicate key, a lone surrogate, or a number that a double cannot represent.',
  },
  body_required: {
    status: 400,
    meaning: 'The request has no body; a proxy may have dropped it from the GET.',
  },
  validation_failed: { status: 400, meaning: 'A field is missing, unknown or invalid.' },
  name_required: { status: 400, meaning: 'The user group does not exist, and name is missing to create it.' },
  invalid_method_override: {
    status: 400,
    meaning: 'X-HTTP-Method-Override is neither GET nor PUT.',
  },
  invalid_idempotency_key: {
    status: 400,
    meaning: 'Idempotency-Key is not 1 to 255 visible ASCII characters.',
  },
  invalid_position: {
    status: 400,
    meaning: 'The position in the events is not one that the service has sent.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'Authorization is missing, or has no valid API token in the scheme of this path.',
  },
  forbidden: { status: 403, meaning: 'The API token lacks the scope of this operation.' },
  user_group_not_found: { status: 404, meaning: 'No user group has this id in this environment.' },
  token_not_found: { status: 404, meaning: 'No user group has this token in this environment.' },
  not_found: { status: 404, meaning: 'This path or object does not exist.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method; Allow lists its methods.',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  token_superseded: { status: 409, meaning: 'The token was already replaced and cannot be rotated.' },
  idempotency_key_in_use: { status: 409, meaning: 'The first request with this key is still in flight.' },
  already_exists: { status: 409, meaning: 'The id or the name is taken.' },
  in_use: {
    status: 409,
    meaning: 'The object is in use, or its provided_id would change existing mappings.',
  },
  limit_reached: {
    status: 409,
    meaning: 'There are as many objects of this kind as are allowed; the message says what to do.',
  },
  revision_mismatch: {
    status: 412,
    meaning: 'The user group has changed since the ETag in If-Match, or the finding since its version.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body exceeds the limit, which is 1 MiB or the configured value.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'Content-Type is not that of this path in UTF-8, or the body has a Content-Encoding.',
  },
  idempotency_key_reused: { status: 422, meaning: 'The key was already used with another body.' },
  rate_limited: {
    status: 429,
    meaning:
      'The API token exceeds its rate limit, or too many requests with wrong credentials came from this address; retry after the time in Retry-After.',
  },
  headers_too_large: { status: 431, meaning: 'The headers are too large.' },
  internal: { status: 500, meaning: 'A defect of the service. Search the log for the request id.' },
  not_implemented: { status: 501, meaning: 'The request has a transfer coding other than chunked.' },
  unavailable: {
    status: 503,
    meaning:
      'The store is unreachable, or the service is overloaded; on /readyz, also while the service is stopping.',
  },
} as const satisfies Record<FaultCode, { status: number; meaning: string }>

export const ErrorResponse = object({
  success: Type.Literal(0, { description: '0: the request failed.' }),
  error: object({
    code: textEnum(Object.keys(errorTable) as FaultCode[], {
      description: 'A stable code for programs.',
      examples: ['validation_failed'],
    }),
    message: Type.String({
      description: 'A text for people. It may change.',
      examples: ['name: must be a string'],
    }),
    request_id: Type.String({
      description: 'The id of the request in the log of the service.',
      examples: ['k3Jf81Qz-2s'],
    }),
    fields: Type.Optional(
      Type.Array(
        object({
          path: Type.String({
            description: 'A JSON Pointer (RFC 6901) into the body.',
            examples: ['/name'],
          }),
          message: Type.String({ examples: ['must be a string'] }),
        }),
        { description: 'The invalid fields, if any.' },
      ),
    ),
  }),
})

/** Error codes of OAuth (RFC 6749, section 5.2; RFC 6750, section 3.1). Other faults are `invalid_request`. */
const oauthCodes: Partial<Record<FaultCode, string>> = {
  unauthenticated: 'invalid_client',
  forbidden: 'insufficient_scope',
  rate_limited: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
}

const invalidRequest = 'invalid_request'

export function oauthCodeOf(code: FaultCode): string {
  return oauthCodes[code] ?? invalidRequest
}

/** Errors of the OAuth endpoints. */
export const OAuthErrorResponse = object({
  error: textEnum([...new Set([invalidRequest, ...Object.values(oauthCodes)])], {
    description: 'A code of OAuth.',
    examples: ['invalid_client'],
  }),
  error_description: Type.String({
    description: 'A text for people. It may change.',
    examples: ['token: is required'],
  }),
  request_id: Type.String({
    description: 'The id of the request in the log of the service.',
    examples: ['k3Jf81Qz-2s'],
  }),
})

export function oauthErrorBody(
  { code, message }: Pick<Fault, 'code' | 'message'>,
  requestId: string,
): string {
  return JSON.stringify({
    error: oauthCodeOf(code),
    // RFC 6749, section 5.2, allows only these characters.
    error_description: message.replaceAll('"', "'").replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?'),
    request_id: requestId,
  })
}

export function errorBody({ code, message, fields }: Fault, requestId: string): string {
  return JSON.stringify({
    success: 0,
    error: { code, message, request_id: requestId, ...(fields.length > 0 && { fields }) },
  })
}
