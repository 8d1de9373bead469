import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { UserGroupClient as FetchClient } from '../../src/fetch.ts'
import { UserGroupClient } from '../../src/index.ts'
import { snakeCased } from '../../src/names.ts'
import { camelCased, RemoteFailure, remotesFor, type Remote } from './adapters.ts'
import { apiToken } from './client.ts'
import { TestClock } from './test-clock.ts'

/** A client library, with the interface of the TypeScript client. */
export type Client = Pick<
  UserGroupClient,
  'getOrCreate' | 'update' | 'rotate' | 'createSession' | 'endSessions' | 'introspect'
>

export interface ClientLibrary {
  readonly language: 'TypeScript' | 'TypeScript with fetch' | Remote['language']
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
 * Defines a suite for each client library, or only for those that send a GET with a body. Suites are skipped with a message if the
 * language is missing.
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
  for (const remote of remotesFor(name)) {
    const isMissing = 'missing' in remote
    describe(`${name}, ${isMissing ? remote.missing : remote.variant}`, { skip: isMissing }, () => {
      if (!isMissing) define(remoteLibrary(remote))
    })
  }
}

function remoteLibrary(remote: Remote): ClientLibrary {
  const clientOf = (origin: string, options: ClientOptions) =>
    new RemoteClient(remote, snakeCased({ origin, apiToken, ...options }))
  return {
    language: remote.language,
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

class RemoteClient implements Client {
  pauses: readonly number[] = []
  readonly #remote: Remote
  readonly #options: object

  constructor(remote: Remote, options: object) {
    this.#remote = remote
    this.#options = options
  }

  async getOrCreate(fields: object) {
    const result = await this.#call('get_or_create', snakeCased(fields))
    const { new_user_group: newUserGroup, user_group: group, ...more } = result as Record<string, unknown>
    return { newUserGroup, userGroup: camelCased(group as object), ...more } as never
  }

  async update(fields: object) {
    return camelCased((await this.#call('update', snakeCased(fields))) as object) as never
  }

  async rotate(rotation: object, options: object = {}) {
    return camelCased(
      (await this.#call('rotate', snakeCased({ ...rotation, ...options }))) as object,
    ) as never
  }

  async createSession(userGroupId: string, viewer: object, options: object = {}) {
    const args = { ...snakeCased({ userGroupId, ...options }), viewer: snakeCased(viewer) }
    const session = (await this.#call('create_session', args)) as { readonly expires_at: string }
    return { ...camelCased(session), expiresAt: Date.parse(session.expires_at) } as never
  }

  async endSessions(userGroupId: string, viewerId?: string) {
    const args = { user_group_id: userGroupId, viewer_id: viewerId }
    return ((await this.#call('end_sessions', args)) ?? undefined) as undefined
  }

  async introspect(token: string | null | undefined, options: object = {}) {
    const args = { token: token ?? null, ...snakeCased(options) }
    const group = (await this.#call('introspect', args)) as RemoteIntrospection | null
    if (group === null) return null
    const { token_issued_at: issued, token_expires_at: expires, ...others } = group
    const sources = Object.entries(group.data_sources).map(([key, { schema, ...source }]) => [
      key,
      { ...camelCased(source), schema: camelCased(schema) },
    ])
    return {
      ...camelCased(others),
      dataSources: Object.fromEntries(sources) as unknown,
      viewer: group.viewer && camelCased(group.viewer),
      token: { issuedAt: Date.parse(issued), expiresAt: expires && Date.parse(expires) },
    } as never
  }

  async #call(method: string, args: object): Promise<unknown> {
    const call = { api: 'UserGroupClient', client: this.#options, method, args } as const
    try {
      const { result, pauses } = await this.#remote.run(call)
      this.pauses = pauses
      return result
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error
      this.pauses = error.pauses
      throw error.cause
    }
  }
}

interface RemoteIntrospection {
  readonly data_sources: Readonly<
    Record<string, { readonly schema: object; readonly [member: string]: unknown }>
  >
  readonly viewer: object | null
  readonly token_issued_at: string
  readonly token_expires_at: string | null
}
