import { badResponse, ServiceError, TransportError } from './errors.ts'
import { isArray, isObject, isText, read, type Shape } from './shape.ts'
import { maxTimeoutMs } from './options.ts'
import type { HttpResponse } from './transport.ts'
import type { UserWire } from './wire.ts'

type WireError = UserWire['ErrorResponse']['error']

const fieldShape: Shape<NonNullable<WireError['fields']>[number]> = {
  path: (value) => typeof value === 'string',
  message: isText,
}
const errorShape: Shape<WireError> = {
  // Any string, so that codes of newer services are passed on.
  code: isText,
  message: isText,
  request_id: isText,
  fields: (value) =>
    value === undefined ||
    (isArray(value) && value.every((field) => read(field, 'a field', fieldShape) === field)),
}

const oauthErrorShape: Shape<Record<'error' | 'error_description' | 'request_id', string>> = {
  error: isText,
  error_description: isText,
  request_id: isText,
}

export interface Expected {
  readonly method: string
  /** Status of a successful response. */
  readonly status: number
  /** Milliseconds since the Unix epoch, to interpret a `Retry-After` that is a date. */
  readonly now: number
  /** True if the body is NDJSON, which is read as an array. */
  readonly isNdjson: boolean
}

/**
 * Returns the JSON of a successful response.
 * @throws ServiceError if the service responded with an error
 * @throws TransportError `refused` or `bad_response` if the response is not from the service
 */
export function readJson(
  response: HttpResponse,
  { method, status: success, now, isNdjson }: Expected,
): unknown {
  const { status, body } = response
  const retryAfterMs = readRetryAfter(response.retryAfter, now)
  if (status >= 400) {
    const error = body && readError(body, status)
    if (error !== undefined) throw new ServiceError(error, { status, retryAfterMs })
    throw new TransportError(
      'refused',
      `A proxy in front of the User Group Service refused ${method} with status ${status}. ` +
        `Check origin, and that the proxies on the way pass ${method}.`,
      { status, retryAfterMs },
    )
  }
  if (status !== success) throw badResponse(`its status is ${status}`, { status })
  const mediaType = isNdjson ? 'application/x-ndjson' : 'application/json'
  if (response.contentType.split(';')[0]?.trim().toLowerCase() !== mediaType) {
    throw badResponse(`its Content-Type is not ${mediaType}`, { status })
  }
  if (body === undefined) throw badResponse('it is too long', { status })
  const value = parse(body, isNdjson)
  if (value === undefined) throw badResponse('it is not JSON', { status })
  return value
}

/** Error codes of the OAuth endpoints, whose errors have no code of the service, by status. */
const codeOfStatus: Partial<Record<number, WireError['code']>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
}

/** Returns the error, that of an OAuth endpoint in the form of the others, or undefined if the body is not from the service. */
function readError(body: Uint8Array, status: number): WireError | undefined {
  const value = parse(body)
  try {
    if (isObject(value) && value.success === 0) return read(value.error, 'the error', errorShape)
    const { error_description: message, request_id } = read(value, 'the error', oauthErrorShape)
    return { code: codeOfStatus[status] ?? 'validation_failed', message, request_id }
  } catch {
    return undefined
  }
}

/** Returns the wait in milliseconds. `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxTimeoutMs)
}

/**
 * Returns undefined if the body is not JSON. Drops the message of JSON.parse, which quotes the input and may hold a
 * token.
 */
function parse(body: Uint8Array, isNdjson = false): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return JSON.parse(isNdjson ? `[${text.trimEnd().replaceAll('\n', ',')}]` : text)
  } catch {
    return undefined
  }
}
