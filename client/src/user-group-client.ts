import { Connection } from './connection.ts'
import { jsonText, type WithUndefined } from './json-text.ts'
import { settingsOf, type RequestOptions, type ConnectionOptions } from './options.ts'
import { readGetOrCreate, readIntrospection, readRotation, readUpdate } from './responses.ts'
import type { CreateTransport } from './transport.ts'
import type {
  GetOrCreateResult,
  IntrospectedUserGroup,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroupFields,
} from './user-group.ts'
import type { UserWire } from './wire.ts'

/** Longer strings cannot be tokens: the service issues at most 80 characters. */
const maxTokenLength = 1000

const userPath = '/api/user'
const jsonType = { 'content-type': 'application/json' }

export interface UserGroupClientOptions extends ConnectionOptions {
  /**
   * Always sends GET and PUT as a POST with `X-HTTP-Method-Override`. By default the client switches to it once it
   * notices that a proxy does not pass GET with a body, or PUT. Default: false.
   */
  readonly methodOverride?: boolean | undefined
}

export interface RotationFields {
  /** The current token of the user group. */
  readonly currentToken: string
  /** Time for which the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0. */
  readonly gracePeriodSeconds?: number | undefined
}

export interface RotationOptions extends RequestOptions {
  /**
   * 1 to 255 visible ASCII characters. Default: a random key for each call, reused for its retries. With your own key
   * you can repeat a failed rotation within 24 hours: the token is rotated once, and you get the original response.
   */
  readonly idempotencyKey?: string | undefined
}

/**
 * A client for `/api/user` and introspection. One instance serves any number of concurrent calls.
 *
 * Every method throws a `ServiceError` if the service responds with an error, a `TransportError` if it does not
 * respond, and the reason of `signal` if that is aborted. Before that, it retries within the deadline: after a failed
 * connection, after a missing response, and after status 408, 429, 500, 502, 503 and 504. It waits at least as long as
 * `Retry-After` requests.
 */
export class UserGroupClient {
  readonly #connection: Connection

  constructor(options: UserGroupClientOptions, createTransport: CreateTransport) {
    this.#connection = new Connection(settingsOf(options), createTransport, options.methodOverride ?? false)
  }

  /**
   * Creates the user group or updates it to match the fields. The token never changes.
   *
   * If several calls create the same user group at once, exactly one returns `newUserGroup: true`, and all return the
   * same token.
   * @throws ServiceError `name_required` if the user group does not exist and no name is given; `validation_failed`
   * with `fields`; `forbidden` if something would change and the API token is read-only
   */
  async getOrCreate(fields: UserGroupFields, options: RequestOptions = {}): Promise<GetOrCreateResult> {
    return this.#connection.execute(
      {
        method: 'GET',
        hasOverride: true,
        path: userPath,
        headers: jsonType,
        body: userGroupBody(fields),
        read: readGetOrCreate,
      },
      this.#connection.limitsFor(options),
    )
  }

  /**
   * Updates an existing user group.
   *
   * A retry after a lost response overwrites changes that others made in between.
   * @throws ServiceError `user_group_not_found`; `validation_failed` with `fields`; `forbidden`
   */
  async update(fields: UserGroupFields, options: RequestOptions = {}): Promise<UpdatedUserGroup> {
    return this.#connection.execute(
      {
        method: 'PUT',
        hasOverride: true,
        path: userPath,
        headers: jsonType,
        body: userGroupBody(fields),
        read: readUpdate,
      },
      this.#connection.limitsFor(options),
    )
  }

  /**
   * Replaces the token of a user group. The old one stops at once, or after the grace period.
   *
   * Retries never rotate a second time.
   * @throws ServiceError `token_superseded` if the token was already replaced: `getOrCreate` returns the current one;
   * `token_not_found`; `idempotency_key_reused`; `forbidden`
   */
  async rotate(
    { currentToken, gracePeriodSeconds, ...others }: RotationFields,
    options: RotationOptions = {},
  ): Promise<RotatedUserGroup> {
    const { idempotencyKey = crypto.randomUUID() } = options
    const body: WithUndefined<UserWire['RotationBody']> = {
      current_token: currentToken,
      grace_period_seconds: gracePeriodSeconds,
    }
    return this.#connection.execute(
      {
        method: 'POST',
        path: userPath,
        headers: { ...jsonType, 'idempotency-key': idempotencyKey },
        body: jsonText({ ...others, ...body }),
        read: readRotation,
      },
      this.#connection.limitsFor(options),
    )
  }

  /**
   * Returns the user group of a token, with its data sources and properties. Returns null for an inactive token:
   * unknown, superseded, expired, or of another workspace or environment. The API token needs the scope `introspect`.
   * @throws ServiceError `forbidden`
   */
  async introspect(
    token: string | undefined,
    options: RequestOptions = {},
  ): Promise<IntrospectedUserGroup | null> {
    options.signal?.throwIfAborted()
    if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) return null
    const form: UserWire['IntrospectionBody'] = { token, token_type_hint: 'user_group' }
    return this.#connection.execute(
      {
        method: 'POST',
        path: '/oauth2/introspect',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...form }).toString(),
        read: readIntrospection,
      },
      this.#connection.limitsFor(options),
    )
  }
}

function userGroupBody({ userGroupId, name, mapping, properties, ...others }: UserGroupFields): string {
  const body: WithUndefined<UserWire['UserGroupBody']> = {
    user_group_id: userGroupId,
    name,
    mapping,
    properties,
  }
  // Pass unknown fields on: the service names them in its error.
  return jsonText({ ...others, ...body })
}
