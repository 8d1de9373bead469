import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ServiceError, TransportError, type ErrorCode, type TransportErrorCode } from '../../src/errors.ts'
import { UserGroupClient as FetchClient } from '../../src/fetch.ts'
import { UserGroupClient } from '../../src/index.ts'
import { apiToken, assertNoToken } from './client.ts'
import { findPython, runPythonCall, type PythonCall, type PythonError } from './python.ts'
import { TestClock } from './test-clock.ts'

/** A client library, with the interface of the TypeScript client. */
export type Client = Pick<
  UserGroupClient,
  'getOrCreate' | 'update' | 'rotate' | 'createSession' | 'endSessions' | 'introspect'
>

export interface ClientLibrary {
  readonly language: 'TypeScript' | 'TypeScript with fetch' | 'Python'
  /** Creates a client with the API token of `client.ts`. */
  readonly clientOf: (origin: string, options?: ClientOptions) => Client
  /**
   * Runs a call without waiting in this many pauses between attempts. Returns the pauses, in milliseconds, and the call, which has
   * ended.
   */
  readonly pausesOf: <Result>(
    origin: string,
    count: number,
    run: (client: Client) => Promise<Result>,
  ) => Promise<{ readonly pauses: readonly number[]; readonly call: Promise<Result> }>
}

interface ClientOptions {
  readonly apiToken?: string
  readonly maxTries?: number
  readonly methodOverride?: boolean
}

function typeScriptLibrary(
  language: ClientLibrary['language'],
  Client: typeof UserGroupClient | typeof FetchClient,
): ClientLibrary {
  return {
    language,
    clientOf: (origin, options = {}) => new Client({ origin, apiToken, ...options }),
    async pausesOf(origin, count, run) {
      const clock = new TestClock()
      const call = run(new Client({ origin, apiToken, clock }))
      const pauses = await clock.passPauses(count)
      await call.catch(() => undefined)
      return { pauses, call }
    },
  }
}

/**
 * Defines a suite for each client library, or only for those that send a GET with a body. The suites for Python are skipped with a
 * message if Python is missing.
 */
export function describeClients(
  name: string,
  define: (library: ClientLibrary) => void,
  { onlyWithGet = false } = {},
): void {
  describe(`${name}, TypeScript`, () => define(typeScriptLibrary('TypeScript', UserGroupClient)))
  if (!onlyWithGet) {
    const language = 'TypeScript with fetch'
    describe(`${name}, ${language}`, () => define(typeScriptLibrary(language, FetchClient)))
  }
  for (const isAsync of [false, true]) {
    const suite = `${name}, Python${isAsync ? ' with asyncio' : ''}`
    const python = findPython(suite)
    describe(suite, { skip: python === undefined }, () => {
      if (python !== undefined) define(pythonLibrary(python, isAsync))
    })
  }
}

function pythonLibrary(python: string, isAsync: boolean): ClientLibrary {
  const clientOf = (origin: string, options: ClientOptions) =>
    new PythonClient(python, isAsync, snakeCase({ origin, apiToken, ...options }))
  return {
    language: 'Python',
    clientOf: (origin, options = {}) => clientOf(origin, options),
    async pausesOf(origin, count, callOf) {
      const client = clientOf(origin, {})
      const call = callOf(client)
      await call.catch(() => undefined)
      assert.equal(client.pauses.length, count)
      return { pauses: client.pauses, call }
    },
  }
}

interface PythonUserGroup {
  readonly team_id: number
  readonly token: string
  readonly name: string
  readonly provided_id: string
  readonly [more: string]: unknown
}

class PythonClient implements Client {
  pauses: readonly number[] = []
  readonly #python: string
  readonly #isAsync: boolean
  readonly #options: Readonly<Record<string, unknown>>

  constructor(python: string, isAsync: boolean, options: Readonly<Record<string, unknown>>) {
    this.#python = python
    this.#isAsync = isAsync
    this.#options = options
  }

  async getOrCreate(fields: object) {
    const result = await this.#call('get_or_create', snakeCase(fields))
    const { new_user_group: newUserGroup, user_group: group, ...more } = result as Record<string, unknown>
    return { newUserGroup, userGroup: camelCase(group as object), ...more } as never
  }

  async update(fields: object) {
    return camelCase((await this.#call('update', snakeCase(fields))) as object) as never
  }

  async rotate(rotation: object, options: object = {}) {
    return camelCase((await this.#call('rotate', snakeCase({ ...rotation, ...options }))) as object) as never
  }

  async createSession(userGroupId: string, viewer: object, options: object = {}) {
    const args = { ...snakeCase({ userGroupId, ...options }), viewer: snakeCase(viewer) }
    const session = (await this.#call('create_session', args)) as { readonly expires_at: string }
    return { ...camelCase(session), expiresAt: Date.parse(session.expires_at) } as never
  }

  async endSessions(userGroupId: string, viewerId?: string) {
    const args = { user_group_id: userGroupId, viewer_id: viewerId }
    return ((await this.#call('end_sessions', args)) ?? undefined) as undefined
  }

  async introspect(token: string | null | undefined) {
    const group = (await this.#call('introspect', { token: token ?? null })) as PythonIntrospection | null
    if (group === null) return null
    const { token_issued_at: issued, token_expires_at: expires, ...others } = group
    const sources = Object.entries(group.data_sources).map(([key, { schema, ...source }]) => [
      key,
      { ...camelCase(source), schema: camelCase(schema) },
    ])
    return {
      ...camelCase(others),
      dataSources: Object.fromEntries(sources) as unknown,
      token: { issuedAt: Date.parse(issued), expiresAt: expires && Date.parse(expires) },
    } as never
  }

  async #call(method: PythonCall['method'], args: object): Promise<unknown> {
    const call = { client: this.#options, method, args, isAsync: this.#isAsync }
    const { result, error, pauses } = await runPythonCall(this.#python, call)
    this.pauses = pauses.map((seconds) => seconds * 1000)
    if (error !== undefined) throw errorOf(error)
    return result
  }
}

interface PythonIntrospection extends Omit<PythonUserGroup, 'token'> {
  readonly data_sources: Readonly<
    Record<string, { readonly schema: object; readonly [member: string]: unknown }>
  >
  readonly token_issued_at: string
  readonly token_expires_at: string | null
}

function errorOf({ type, code, message, status, ...details }: PythonError): ServiceError | TransportError {
  assertNoToken(details.printed)
  const seconds = details.retry_after_seconds
  const retryAfterMs = seconds === null ? undefined : seconds * 1000
  if (type === 'TransportError')
    return new TransportError(code as TransportErrorCode, message, {
      status: status ?? undefined,
      retryAfterMs,
    })
  const { fields, request_id = '' } = details
  return new ServiceError(
    { code: code as ErrorCode, message, request_id, fields: [...fields] },
    { status: status ?? 0, retryAfterMs },
  )
}

/** Converts the keys of an object, but not of its values. */
function snakeCase(object: object): Record<string, unknown> {
  return renamed(object, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

function camelCase(object: object): Record<string, unknown> {
  return renamed(object, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
}

function renamed(object: object, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [rename(key), value as unknown]))
}
