import { Connection, type Operation } from './connection.ts'
import { jsonText } from './json-text.ts'
import { snakeCased } from './names.ts'
import { settingsOf, type RequestOptions, type ConnectionOptions } from './options.ts'
import {
  readEndSessions,
  readGetOrCreate,
  readIntrospection,
  readRotation,
  readSession,
  readUpdate,
} from './responses.ts'
import type { CreateTransport } from './transport.ts'
import type {
  GetOrCreateResult,
  IntrospectedUserGroup,
  JsonInterface,
  JsonObject,
  Narrowing,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroupFields,
  Viewer,
  ViewerSession,
} from './user-group.ts'

/** Longer strings cannot be tokens: the service issues sessions of at most 6 KiB. */
const maxTokenLength = 6 * 1024

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

export interface SessionOptions extends RequestOptions {
  /** The part of the user group that the session leaves. Default: all of it. */
  readonly narrow?: Narrowing | undefined
  /** The dashboards that the session is for, by your own names: 1 to 100. Default: all. */
  readonly resources?: readonly string[] | undefined
  /** Lifetime in seconds: 60 to 86400, at most 3600 with `include` or `claims`. Default: 900. */
  readonly expiresInSeconds?: number | undefined
  /** The engine that verifies the token itself, as its claim `aud`. */
  readonly audience?: string | undefined
  /**
   * Members of the user group that the token itself carries, for engines that verify it themselves: `name`, or `properties.` and
   * the name of a property.
   */
  readonly include?: readonly string[] | undefined
  /** Other claims of the token, for engines that verify it themselves. At most 2 KiB as JSON. */
  readonly claims?: JsonObject | JsonInterface | undefined
}

export interface IntrospectionOptions extends RequestOptions {
  /**
   * The dashboard to show, by your own name. A session for others is inactive. Without it, refuse all dashboards that are not in the
   * `resources` of the result.
   */
  readonly resource?: string | undefined
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
    return this.#execute(
      { ...postOf('', fields, readGetOrCreate), method: 'GET', hasOverride: true },
      options,
    )
  }

  /**
   * Updates an existing user group.
   *
   * A retry after a lost response overwrites changes that others made in between.
   * @throws ServiceError `user_group_not_found`; `validation_failed` with `fields`; `forbidden`
   */
  async update(fields: UserGroupFields, options: RequestOptions = {}): Promise<UpdatedUserGroup> {
    return this.#execute({ ...postOf('', fields, readUpdate), method: 'PUT', hasOverride: true }, options)
  }

  /**
   * Replaces the token of a user group. The old one stops at once, or after the grace period.
   *
   * Retries never rotate a second time.
   * @throws ServiceError `token_superseded` if the token was already replaced: `getOrCreate` returns the current one;
   * `token_not_found`; `idempotency_key_reused`; `forbidden`
   */
  async rotate(fields: RotationFields, options: RotationOptions = {}): Promise<RotatedUserGroup> {
    const { idempotencyKey = crypto.randomUUID() } = options
    const headers = { ...jsonType, 'idempotency-key': idempotencyKey }
    return this.#execute({ ...postOf('', fields, readRotation), headers }, options)
  }

  /**
   * Creates a session: a short-lived token of one viewer, for the page that shows the dashboard. The session shows what the user
   * group has at the time of each introspection, and can only narrow that. Nothing is stored, so retries are safe.
   * @throws ServiceError `user_group_not_found`; `validation_failed` with `fields`; `forbidden`
   */
  async createSession(
    userGroupId: string,
    viewer: Viewer,
    { signal, deadlineMs, ...fields }: SessionOptions = {},
  ): Promise<ViewerSession> {
    const body = { userGroupId, viewer: snakeCased(viewer), ...fields }
    return this.#execute(postOf('/create-session', body, readSession), { signal, deadlineMs })
  }

  /**
   * Ends the sessions of one viewer, or of all viewers of a user group. The user group token stays. Create the next session of
   * the viewer a second later. A retry also ends sessions that were created in between.
   * @throws ServiceError `user_group_not_found`; `forbidden`
   */
  async endSessions(userGroupId: string, viewerId?: string, options: RequestOptions = {}): Promise<void> {
    return this.#execute(postOf('/end-sessions', { userGroupId, viewerId }, readEndSessions), options)
  }

  /**
   * Returns the user group of a user group token or session, with its data sources and properties. Returns null for an inactive
   * token: unknown, superseded, expired, ended, not for the resource, or of another workspace or environment. The API token needs
   * the scope `introspect`.
   * @throws ServiceError `forbidden`
   */
  async introspect(
    token: string | undefined,
    { resource, ...options }: IntrospectionOptions = {},
  ): Promise<IntrospectedUserGroup | null> {
    options.signal?.throwIfAborted()
    if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) return null
    return this.#execute(
      {
        method: 'POST',
        path: '/oauth2/introspect',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token, ...(resource !== undefined && { resource }) }).toString(),
        read: readIntrospection,
      },
      options,
    )
  }

  #execute<Result>(operation: Operation<Result>, options: RequestOptions): Promise<Result> {
    return this.#connection.execute(operation, this.#connection.limitsFor(options))
  }
}

/** Unknown fields are passed on: the service names them in its error. */
function postOf<Result>(path: string, fields: object, read: Operation<Result>['read']): Operation<Result> {
  return {
    method: 'POST',
    path: `/api/user${path}`,
    headers: jsonType,
    body: jsonText(snakeCased(fields)),
    read,
  }
}
