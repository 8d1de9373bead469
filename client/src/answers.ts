import { badAnswer, ServiceError, TransportError } from './errors.ts'
import type { Answer } from './exchange.ts'
import { isArray, isObject, isText, read, type Shape } from './shape.ts'
import type { components } from './wire.ts'

type WireError = components['schemas']['ErrorAnswer']['error']

/** The longest that a timer waits. */
const longestTimeoutMs = 2_147_483_647

const fieldShape: Shape<NonNullable<WireError['fields']>[number]> = {
  path: (value) => typeof value === 'string',
  message: isText,
}
const errorShape: Shape<WireError> = {
  // Any, so that what a newer service says is passed on.
  code: isText,
  message: isText,
  request_id: isText,
  fields: (value) =>
    value === undefined ||
    (isArray(value) && value.every((field) => read(field, 'a field', fieldShape) === field)),
}

export interface Expected {
  readonly method: string
  /** Of an answer that says that the call succeeded. */
  readonly status: number
  /** In milliseconds since the Unix epoch; a `Retry-After` may be a date. */
  readonly now: number
  /** Whether it is a JSON value a line (NDJSON), to be read as an array of them. */
  readonly isLines: boolean
}

/**
 * The JSON value of an answer that the service gives where a call succeeds.
 * @throws ServiceError where the service answers that it failed
 * @throws TransportError `refused`, `bad_answer` where it is not the service that answers
 */
export function readJson(answer: Answer, { method, status: success, now, isLines }: Expected): unknown {
  const { status, body } = answer
  const retryAfterMs = readRetryAfter(answer.retryAfter, now)
  if (status >= 400) {
    const error = body && readError(body)
    if (error !== undefined) throw new ServiceError(error, { status, retryAfterMs })
    throw new TransportError(
      'refused',
      `Something before the User Group Service refuses ${refused(method, status)}, and what is on the way`,
      { status, retryAfterMs },
    )
  }
  if (status !== success) throw badAnswer(`its status is ${status}`, status)
  const mediaType = isLines ? 'application/x-ndjson' : 'application/json'
  if (answer.contentType.split(';')[0]?.trim().toLowerCase() !== mediaType) {
    throw badAnswer(`its Content-Type is not ${mediaType}`, status)
  }
  if (body === undefined) throw badAnswer('it is too long', status)
  const value = isLines ? parseLines(body) : parse(body)
  if (value === undefined) throw badAnswer('it is not JSON', status)
  return value
}

/** Many proxies know GET and POST alone. */
function refused(method: string, status: number): string {
  return (method === 'PATCH' || method === 'DELETE') && [403, 405, 501].includes(status)
    ? `${method} with status ${status}: have it pass PATCH and DELETE to the service, or check origin`
    : `the call with status ${status}: check origin`
}

/** What the service says went wrong, or undefined where these are somebody else's words. */
function readError(body: Buffer): WireError | undefined {
  const value = parse(body)
  if (!isObject(value) || value.success !== 0) return undefined
  try {
    return read(value.error, 'the error', errorShape)
  } catch {
    return undefined
  }
}

/** `Retry-After` is a number of seconds, or a date (RFC 9110, section 10.2.3). In milliseconds from now. */
function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestTimeoutMs)
}

/** Undefined where any of them is no JSON. */
function parseLines(body: Buffer): unknown {
  const values = body.toString('latin1').trimEnd().split('\n')
  const parsed = values.map((line) => parse(Buffer.from(line, 'latin1')))
  return parsed.includes(undefined) ? undefined : parsed
}

/** Undefined where it is no JSON. The words of JSON.parse would quote it, and it may hold a token. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
