import type { Operation } from './connection.ts'
import { jsonText } from './json-text.ts'
import { camelCase, snakeCase } from './names.ts'
import { read, type Schema } from './schema.ts'
import { operations, schemas } from './schemas.ts'

export type OperationName = keyof typeof operations

/** Arguments of an operation. */
export interface Arguments {
  /** Numbers in the path. */
  readonly ids?: readonly unknown[]
  /** Query or body. */
  readonly fields?: object | undefined
  readonly ifRevision?: number | undefined
}

interface Description {
  readonly method: Operation<unknown>['method']
  /** Names in braces stand for numbers. */
  readonly path: string
  /** True if the operation has a query (GET, DELETE) or a body. */
  readonly sends?: true
  /** Fields that are times. */
  readonly times?: readonly string[]
  readonly takesIfMatch?: true
  readonly status?: 201
  /**
   * Meaning of a retry after an attempt whose outcome is unknown. `never`: it has a second effect. Otherwise by error code: the earlier
   * attempt `succeeded`, or may have (`unknown`).
   */
  readonly retry?: 'never' | Readonly<Partial<Record<string, 'succeeded' | 'unknown'>>>
  readonly returns: keyof typeof schemas
}

type Handlers = NonNullable<Operation<unknown>['afterAmbiguousFailure']>

/** Far above a page of 200 user groups of the maximum request body size. */
const maxResponseBytes = 256 * 1024 * 1024

/** The latest time that RFC 3339 can represent. */
const latestTime = Date.parse('9999-12-31T23:59:59.999Z')

export const descriptionOf = (name: OperationName): Description => operations[name]

/**
 * Returns the request of an operation and the reader of its response, which returns the only member of the response, or all of several.
 * @throws TypeError for arguments that cannot be sent
 */
export function requestOf(
  name: OperationName,
  { ids = [], fields, ifRevision }: Arguments,
): Operation<unknown> {
  const { method, path, sends, takesIfMatch, status, retry = {}, returns, times = [] } = descriptionOf(name)
  const numbers = namesIn(path).map((member, i) => idOf(camelCase(member), ids[i]))
  const sent = Object.entries(fields ?? {}).map(([field, value]) => [
    snakeCase(field),
    times.includes(field) ? timeText(field, value) : (value as unknown),
  ])
  const isGet = method === 'GET'
  const isConditional = takesIfMatch === true && ifRevision !== undefined
  const hasBody = !isGet && method !== 'DELETE' && sends === true
  return {
    method,
    path: `/admin/v1${path.replaceAll(/\{\w+\}/g, () => String(numbers.shift()))}`,
    headers: {
      ...(hasBody && { 'content-type': 'application/json' }),
      // The ETag of this revision.
      ...(isConditional && { 'if-match': `"${String(ids[0])}.${idOf('ifRevision', ifRevision)}"` }),
    },
    ...(!hasBody && { query: queryText(sent) }),
    ...(isGet ? { maxResponseBytes } : { body: hasBody ? jsonText(Object.fromEntries(sent) as object) : '' }),
    ...(status !== undefined && { status }),
    // A revision is replaced only once.
    ...(retry === 'never'
      ? !isConditional && { isNonIdempotent: true }
      : { afterAmbiguousFailure: handlersOf(retry) }),
    read: (json) => resultOf(read(returns, json, 'the response')),
  }
}

/** Returns the numbers of names in braces. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

export function isPaged({ returns }: Description): boolean {
  const response: Schema = schemas[returns]
  return typeof response === 'object' && 'next_cursor' in response
}

function resultOf(response: unknown): unknown {
  const { nextCursor, total, ...members } = response as Record<string, unknown>
  const [only, ...others] = Object.values(members)
  if (nextCursor !== undefined) return { items: only, nextCursor, ...(total !== undefined && { total }) }
  if (others.length > 0) return members
  return members.deleted === true ? undefined : only
}

function handlersOf(retry: Exclude<Description['retry'], 'never' | undefined>): Handlers {
  const handlers = Object.entries(retry).map(([code, outcome]) => [
    code,
    (ambiguous: Error) => {
      if (outcome === 'succeeded') return undefined
      throw ambiguous
    },
  ])
  return Object.fromEntries(handlers) as Handlers
}

/** @throws TypeError for an id that would change the path */
export function idOf(name: string, id: unknown): number {
  if (Number.isSafeInteger(id) && (id as number) >= 1) return id as number
  throw new TypeError(`${name} must be an integer, 1 or more`)
}

/** @throws TypeError for an invalid time */
function timeText(name: string, time: unknown): string | undefined {
  if (time === undefined) return undefined
  if (Number.isSafeInteger(time) && (time as number) >= 0 && (time as number) <= latestTime)
    return new Date(time as number).toISOString()
  throw new TypeError(`${name} must be a time in milliseconds since the Unix epoch`)
}

/** @throws TypeError for a value that a query cannot represent */
function queryText(parameters: readonly unknown[][]): string {
  return parameters
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isValid = typeof value === 'number' ? Number.isFinite(value) : isTextOrBoolean(value)
      if (!isValid) throw new TypeError(`${String(name)} cannot be sent in a query string`)
      return `${encodeURIComponent(String(name))}=${encodeURIComponent(String(value))}`
    })
    .join('&')
}

function isTextOrBoolean(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value === 'boolean'
}
