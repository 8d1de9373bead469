import { randomUUID } from 'node:crypto'
import { Connection } from './connection.ts'
import { jsonText, type Unset } from './json-text.ts'
import { settingsOf, type CallOptions, type ConnectionOptions } from './options.ts'
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

const userPath = '/api/user'
const jsonType = { 'content-type': 'application/json' }

export interface UserGroupClientOptions extends ConnectionOptions {
  /**
   * Sends GET and PUT as a POST with `X-HTTP-Method-Override` from the first call on. Else the client does so once it
   * notices that GET with a body, or PUT, does not get through. Default: false.
   */
  readonly methodOverride?: boolean | undefined
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
    this.#connection = new Connection(settingsOf(options), options.methodOverride ?? false)
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
        hasOverride: true,
        path: userPath,
        headers: jsonType,
        body: userGroupBody(fields),
        read: readGetOrCreate,
      },
      this.#connection.limitsOf(options),
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
      {
        method: 'PUT',
        hasOverride: true,
        path: userPath,
        headers: jsonType,
        body: userGroupBody(fields),
        read: readUpdate,
      },
      this.#connection.limitsOf(options),
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
      this.#connection.limitsOf(options),
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
      this.#connection.limitsOf(options),
    )
  }
}

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
