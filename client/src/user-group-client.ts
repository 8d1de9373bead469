import { randomUUID } from 'node:crypto'
import type { Agent } from 'node:http'
import { systemClock, type Clock } from './clock.ts'
import { Connection, type Limits } from './connection.ts'
import { jsonText } from './json-text.ts'
import { readGetOrCreate, readIntrospection, readRotation, readUpdate } from './results.ts'
import type {
  GetOrCreateResult,
  IntrospectedUserGroup,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroupFields,
} from './user-group.ts'
import type { components } from './wire.ts'

/** What is longer is no token: the service's have 80 characters at most. */
const maxTokenLength = 1000
/** The longest that a timer waits. */
const longestTimeoutMs = 2_147_483_647

const userPath = '/api/user'
const jsonType = { 'content-type': 'application/json' }

export interface UserGroupClientOptions {
  /**
   * Where the service is: `https://user-groups.example.com`, without `/api/user`. Where a gateway has it under a path, with
   * that path.
   */
  readonly origin: string
  /** An API token; it decides about the workspace and the environment. It belongs on servers, never into a page. */
  readonly apiToken: string
  /** How long a call may take, in milliseconds, all tries and pauses included. Default: 15000. */
  readonly deadlineMs?: number | undefined
  /** How often a call is tried at most. Default: 8; 1 for no repeat. */
  readonly maxTries?: number | undefined
  /**
   * Sends GET and PUT as a POST with `X-HTTP-Method-Override` from the first call on. Else the client does so once it
   * notices that GET with a body, or PUT, does not get through. Default: false.
   */
  readonly methodOverride?: boolean | undefined
  /** Makes the connections, with a certificate or through a proxy for example. Default: one that keeps them alive. */
  readonly agent?: Agent | undefined
  readonly clock?: Clock | undefined
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. It may have taken effect. */
  readonly signal?: AbortSignal | undefined
  /** In place of the client's, for this call. */
  readonly deadlineMs?: number | undefined
}

export interface RotationFields {
  /** The current token of the user group. */
  readonly currentToken: string
  /** For how long the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0, it stops at once. */
  readonly gracePeriodSeconds?: number | undefined
}

export interface RotationOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. Default: a new random one for each call, kept over its repeats. With one of your own
   * you can repeat a rotation that failed in the end, within 24 hours: it rotates once, and you get its answer.
   */
  readonly idempotencyKey?: string | undefined
}

/**
 * Calls the User Group Service. One serves any number of calls at once.
 *
 * Every method throws a `ServiceError` where the service refuses the call, a `TransportError` where it does not answer, and
 * the reason of `signal` where that is aborted. Before they do, they repeat the call within the deadline where the connection
 * fails, where there is no answer, and after 408, 429, 502, 503 and 504, not before the time that `Retry-After` names.
 */
export class UserGroupClient {
  readonly #connection: Connection

  constructor(options: UserGroupClientOptions) {
    const { origin, apiToken, deadlineMs = 15_000, maxTries = 8, methodOverride = false } = options
    // From an environment variable, each may well be missing or a text.
    if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken)) {
      throw new TypeError('apiToken must be the API token alone: visible ASCII characters, no white space')
    }
    if (!Number.isSafeInteger(maxTries) || maxTries < 1) {
      throw new RangeError('maxTries must be a whole number, 1 or more')
    }
    this.#connection = new Connection({
      origin: readOrigin(origin),
      apiToken,
      deadlineMs: readDeadline(deadlineMs),
      maxTries,
      methodOverride,
      agent: options.agent,
      clock: options.clock ?? systemClock,
    })
  }

  /**
   * Makes the user group be as described, creating it if needed. Its token never changes here.
   *
   * Of any number of simultaneous first calls exactly one gets `newUserGroup: true`, and all get the same token.
   * @throws ServiceError `name_required` where it would be created without a name; `validation_failed` with `fields`;
   * `forbidden` where something would change and the API token may only read
   */
  async getOrCreate(fields: UserGroupFields, options: CallOptions = {}): Promise<GetOrCreateResult> {
    return this.#connection.call(
      {
        method: 'GET',
        path: userPath,
        headers: jsonType,
        body: userGroupBody(fields),
        read: readGetOrCreate,
      },
      limitsOf(options),
    )
  }

  /**
   * Changes a user group that exists.
   *
   * A repeat after a lost answer overwrites what somebody else may have changed in between.
   * @throws ServiceError `user_group_not_found`; `validation_failed` with `fields`; `forbidden`
   */
  async update(fields: UserGroupFields, options: CallOptions = {}): Promise<UpdatedUserGroup> {
    return this.#connection.call(
      { method: 'PUT', path: userPath, headers: jsonType, body: userGroupBody(fields), read: readUpdate },
      limitsOf(options),
    )
  }

  /**
   * Replaces the token of a user group. The old one stops at once, or after the grace period.
   *
   * It rotates once, however often it has to be repeated.
   * @throws ServiceError `token_superseded` where it was already replaced: `getOrCreate` tells the current one;
   * `token_not_found`; `idempotency_key_reused`; `forbidden`
   */
  async rotate(
    { currentToken, gracePeriodSeconds, ...others }: RotationFields,
    options: RotationOptions = {},
  ): Promise<RotatedUserGroup> {
    const { idempotencyKey = randomUUID() } = options
    const body: Unset<components['schemas']['RotationBody']> = {
      current_token: currentToken,
      grace_period_seconds: gracePeriodSeconds,
    }
    return this.#connection.call(
      {
        method: 'POST',
        path: userPath,
        headers: { ...jsonType, 'idempotency-key': idempotencyKey },
        body: jsonText({ ...others, ...body }),
        read: readRotation,
      },
      limitsOf(options),
    )
  }

  /**
   * Whose user group token this is, and what it may see; or null for one that is not active: unknown, replaced, expired, of
   * another workspace or environment, or none at all. The API token needs the scope `introspect`.
   * @throws ServiceError `forbidden`
   */
  async introspect(
    token: string | undefined,
    options: CallOptions = {},
  ): Promise<IntrospectedUserGroup | null> {
    options.signal?.throwIfAborted()
    if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) return null
    const form: components['schemas']['IntrospectionBody'] = { token, token_type_hint: 'user_group' }
    return this.#connection.call(
      {
        method: 'POST',
        path: '/oauth2/introspect',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...form }).toString(),
        read: readIntrospection,
      },
      limitsOf(options),
    )
  }
}

/** Members that may be undefined: those are not sent. */
type Unset<Body> = { readonly [Name in keyof Body]: Body[Name] | undefined }

function userGroupBody({ userGroupId, name, mapping, properties, ...others }: UserGroupFields): string {
  const body: Unset<components['schemas']['UserGroupBody']> = {
    user_group_id: userGroupId,
    name,
    mapping,
    properties,
  }
  // What no compiler has refused, the service names.
  return jsonText({ ...others, ...body })
}

function limitsOf({ signal, deadlineMs }: CallOptions): Limits {
  return { signal, deadlineMs: deadlineMs === undefined ? undefined : readDeadline(deadlineMs) }
}

function readOrigin(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRight =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}` === ''
  if (!isRight) throw new TypeError('origin must be an http or https URL, without user, password and query')
  return url
}

function readDeadline(deadlineMs: number): number {
  if (typeof deadlineMs === 'number' && deadlineMs >= 1 && deadlineMs <= longestTimeoutMs) return deadlineMs
  throw new RangeError('deadlineMs must be a number, 1 or more')
}
