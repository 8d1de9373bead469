import { Type } from 'typebox'
import type { Fault, FaultCode } from '../domain/fault.ts'

/** How a fault is told over HTTP: the one place where a code becomes a status (contract, "Errors"). */
export const errorTable = {
  malformed_request: { status: 400, meaning: 'The request is not valid HTTP.' },
  malformed_json: {
    status: 400,
    meaning:
      'The body is not strict JSON (RFC 7493): a syntax error, not UTF-8, a duplicate key, a lone surrogate, or a number that a double cannot hold.',
  },
  body_required: { status: 400, meaning: 'There is no body; a proxy may have dropped it from the GET.' },
  validation_failed: { status: 400, meaning: 'A field is missing, unknown, or not as it must be.' },
  name_required: { status: 400, meaning: 'A user group would be created, and name is missing.' },
  invalid_method_override: {
    status: 400,
    meaning: 'X-HTTP-Method-Override is neither GET nor PUT.',
  },
  invalid_idempotency_key: {
    status: 400,
    meaning: 'Idempotency-Key is not 1 to 255 visible ASCII characters.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'Authorization is missing, or holds no valid API token in a form that the path takes.',
  },
  forbidden: { status: 403, meaning: 'The API token lacks the scope that this call needs.' },
  user_group_not_found: { status: 404, meaning: 'No user group has this id in this environment.' },
  token_not_found: { status: 404, meaning: 'No user group has this token in this environment.' },
  not_found: { status: 404, meaning: 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not have this method; Allow lists those it has.',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  token_superseded: { status: 409, meaning: 'The token was already replaced and cannot be rotated.' },
  idempotency_key_in_use: { status: 409, meaning: 'The first request with this key is still running.' },
  already_exists: { status: 409, meaning: 'The id or the name is taken.' },
  in_use: { status: 409, meaning: 'What is to be removed is still in use.' },
  revision_mismatch: {
    status: 412,
    meaning: 'The user group has been changed since the ETag that If-Match names.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is larger than the service takes: 1 MiB, or what it was set to.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'Content-Type is not the one that the path takes, in UTF-8, or there is a Content-Encoding.',
  },
  idempotency_key_reused: { status: 422, meaning: 'The key was already used with another body.' },
  rate_limited: {
    status: 429,
    meaning: 'More calls were made with the API token than it may make; Retry-After says when to go on.',
  },
  headers_too_large: { status: 431, meaning: 'The headers are too large.' },
  internal: { status: 500, meaning: 'A defect of the service; the request id finds it in the log.' },
  not_implemented: { status: 501, meaning: 'A transfer coding other than chunked.' },
  unavailable: {
    status: 503,
    meaning:
      'The store cannot be reached, or there are more calls than the service can answer; on /readyz also: the service is stopping.',
  },
} as const satisfies Record<FaultCode, { status: number; meaning: string }>

export const ErrorResponse = Type.Object(
  {
    success: Type.Literal(0, { description: '0: the call did not succeed.' }),
    error: Type.Object(
      {
        code: Type.Enum(Object.keys(errorTable) as FaultCode[], {
          description: 'Stable: for programs.',
          examples: ['validation_failed'],
        }),
        message: Type.String({
          description: 'For a person; may change.',
          examples: ['name: must be a string'],
        }),
        request_id: Type.String({
          description: 'Finds the request in the log of the service.',
          examples: ['k3Jf81Qz-2s'],
        }),
        fields: Type.Optional(
          Type.Array(
            Type.Object(
              {
                path: Type.String({
                  description: 'A JSON Pointer (RFC 6901) into the body.',
                  examples: ['/name'],
                }),
                message: Type.String({ examples: ['must be a string'] }),
              },
              { additionalProperties: false },
            ),
            { description: 'Only where fields are at fault.' },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export function errorBody({ code, message, fields }: Fault, requestId: string): string {
  return JSON.stringify({
    success: 0,
    error: { code, message, request_id: requestId, ...(fields.length > 0 && { fields }) },
  })
}
