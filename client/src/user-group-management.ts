import { Connection, type Limits, type Operation } from './connection.ts'
import { ServiceError } from './errors.ts'
import type {
  ApiToken,
  AuditEvent,
  DeletedUserGroup,
  Difference,
  IsolationFinding,
  LeakedToken,
  AdminUserGroup,
  ListedUserGroup,
  NewApiToken,
  NewWorkspace,
  RotatedApiToken,
  PromotionCandidate,
  PromotionResult,
  RegisteredDataSource,
  RegisteredSchema,
  UserGroupVersion,
  UserGroupView,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointSecret,
  Workspace,
} from './admin-types.ts'
import type {
  ApiTokenFields,
  ApiTokenRotation,
  AuditSearch,
  CandidateSearch,
  ChangeOptions,
  DataSourceFields,
  DataSourceSearch,
  LeakedTokenFields,
  NewUserGroupFields,
  PageLimit,
  PromotionFields,
  SchemaFields,
  TokenRotation,
  UserGroupChange,
  UserGroupSearch,
  VersionRange,
  WebhookDeliverySearch,
  WebhookEndpointChange,
  WebhookEndpointFields,
  WebhookRedelivery,
  WebhookSecretRotation,
  WorkspaceFields,
} from './management-fields.ts'
import * as operations from './management-operations.ts'
import { settingsOf, type RequestOptions, type ConnectionOptions } from './options.ts'
import { paged, type Paged } from './paged.ts'
import type { CreateTransport } from './transport.ts'
import type { UserGroupFields } from './user-group.ts'
import { importRows, type ImportOptions, type ImportResult } from './user-group-import.ts'

/**
 * A client for the management API. Needs an API token with the scope `admin`. It sees one workspace and one
 * environment; resources of others are `user_group_not_found` or `not_found`.
 *
 * Every method throws a `ServiceError` if the service responds with an error, a `TransportError` if it does not
 * respond, the reason of `signal` if that is aborted, and a `TypeError` for arguments that cannot be sent. Before that,
 * it retries as `UserGroupClient` does, except that methods that create or rotate an API token or a webhook secret are
 * retried only if they cannot have taken effect. Each method describes what a retry does. All may throw `unauthenticated`, `forbidden`
 * (another scope), `validation_failed` and `unavailable`.
 */
export class UserGroupManagement {
  readonly #connection: Connection

  constructor(options: ConnectionOptions, createTransport: CreateTransport) {
    this.#connection = new Connection(settingsOf(options), createTransport)
  }

  /**
   * Finds user groups. Sorted by id if `userGroupIdPrefix` is given, by team id otherwise. The service spends at most a
   * tenth of a second on a page, so a page may be empty although another one follows.
   */
  searchUserGroups(search: UserGroupSearch = {}, options: RequestOptions = {}): Paged<ListedUserGroup> {
    return paged(async (cursor) => this.#execute(operations.searchUserGroups(search, cursor), options))
  }

  /**
   * Creates a user group, and never changes an existing one. `UserGroupClient.getOrCreate` returns its token.
   *
   * If a retry after a lost response finds a user group with this id, the method throws the error of the lost attempt.
   * @throws ServiceError `already_exists`
   */
  async createUserGroup(fields: NewUserGroupFields, options: RequestOptions = {}): Promise<AdminUserGroup> {
    return this.#execute(operations.createUserGroup(fields), options)
  }

  /** @throws ServiceError `user_group_not_found` */
  async getUserGroup(teamId: number, options: RequestOptions = {}): Promise<AdminUserGroup> {
    return this.#execute(operations.getUserGroup(teamId), options)
  }

  /**
   * Changes name, mapping or properties. Keeps the previous state as a version.
   *
   * A retry after a lost response overwrites changes that others made in between. With `ifRevision` it overwrites
   * nothing: if the user group has another revision by then, the call fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async updateUserGroup(
    teamId: number,
    change: UserGroupChange,
    options: ChangeOptions = {},
  ): Promise<AdminUserGroup> {
    return this.#execute(operations.updateUserGroup(teamId, change, options.ifRevision), options)
  }

  /**
   * Deletes a user group. Its tokens stop at once. It can be restored for 30 days, as long as its id is not in use
   * again.
   *
   * If a retry after a lost response finds no user group, the deletion succeeded.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async deleteUserGroup(teamId: number, options: ChangeOptions = {}): Promise<void> {
    return this.#execute(operations.deleteUserGroup(teamId, options.ifRevision), options)
  }

  /**
   * Returns the current token of a user group.
   * @throws ServiceError `user_group_not_found`
   */
  async getUserGroupToken(teamId: number, options: RequestOptions = {}): Promise<string> {
    return this.#execute(operations.getUserGroupToken(teamId), options)
  }

  /**
   * Replaces the token of a user group and returns the new one. The old one stops at once, or after the grace period.
   *
   * Retries never rotate a second time: the method first reads the revision, and every attempt names it. If a retry
   * after a lost response finds another token than before, it returns that one.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async rotateUserGroupToken(
    teamId: number,
    rotation: TokenRotation = {},
    { ifRevision, ...options }: ChangeOptions = {},
  ): Promise<string> {
    const limits = this.#connection.limitsFor(options)
    const find = () => this.#connection.execute(operations.getUserGroup(teamId), limits)
    for (;;) {
      const { revision, tokenIssuedAt } = await find()
      const operation: Operation<string> = {
        ...operations.rotateUserGroupToken(teamId, rotation, ifRevision ?? revision),
        afterAmbiguousFailure: {
          // The revision has changed, so no attempt can rotate any more.
          revision_mismatch: async (_, refusal) => {
            if ((await find()).tokenIssuedAt === tokenIssuedAt) throw refusal
            return this.#connection.execute(operations.getUserGroupToken(teamId), limits)
          },
        },
      }
      try {
        return await this.#connection.execute(operation, limits)
      } catch (error) {
        const isConcurrentChange = error instanceof ServiceError && error.code === 'revision_mismatch'
        if (!isConcurrentChange || ifRevision !== undefined) throw error
      }
    }
  }

  /**
   * Suspends a user group: its tokens are inactive for the renderer, from its next introspection. `getOrCreate`,
   * `update` and `rotate` keep working. Suspending a suspended user group changes nothing.
   *
   * A retry after a lost response suspends again if the user group was resumed in between. For `ifRevision`, see
   * `updateUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async suspendUserGroup(teamId: number, options: ChangeOptions = {}): Promise<AdminUserGroup> {
    return this.#execute(operations.setSuspended(teamId, 'suspend', options.ifRevision), options)
  }

  /**
   * Resumes a user group: its current token, and superseded ones in their grace period, work again. For retries, see
   * `suspendUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async resumeUserGroup(teamId: number, options: ChangeOptions = {}): Promise<AdminUserGroup> {
    return this.#execute(operations.setSuspended(teamId, 'resume', options.ifRevision), options)
  }

  /**
   * Returns the variables of a user group, the data sources that its mapping names, and the state of its token.
   * @throws ServiceError `user_group_not_found`
   */
  async viewUserGroup(teamId: number, options: RequestOptions = {}): Promise<UserGroupView> {
    return this.#execute(operations.viewUserGroup(teamId), options)
  }

  /**
   * Returns the versions of a user group among its last hundred revisions, newest first.
   * @throws ServiceError `user_group_not_found`
   */
  async listUserGroupVersions(
    teamId: number,
    options: RequestOptions = {},
  ): Promise<readonly UserGroupVersion[]> {
    return this.#execute(operations.listUserGroupVersions(teamId), options)
  }

  /**
   * Returns the differences between a version and another one, or the current state.
   * @throws ServiceError `user_group_not_found`; `not_found` if the version does not exist or is no longer kept
   */
  async diffUserGroupVersions(
    teamId: number,
    { from, to }: VersionRange,
    options: RequestOptions = {},
  ): Promise<readonly Difference[]> {
    return this.#execute(operations.diffUserGroupVersions(teamId, from, to), options)
  }

  /**
   * Restores name, mapping and properties of a version. The token stays. This is a change like any other; for retries,
   * see `updateUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`; `not_found` if the version does not exist or is
   * no longer kept
   */
  async restoreUserGroupVersion(
    teamId: number,
    revision: number,
    options: ChangeOptions = {},
  ): Promise<AdminUserGroup> {
    return this.#execute(operations.restoreUserGroupVersion(teamId, revision, options.ifRevision), options)
  }

  /** Lists user groups that were deleted within the last 30 days, sorted by team id. */
  listDeletedUserGroups({ limit }: PageLimit = {}, options: RequestOptions = {}): Paged<DeletedUserGroup> {
    return paged(async (cursor) => this.#execute(operations.listDeletedUserGroups(limit, cursor), options))
  }

  /**
   * Restores a user group that was deleted within the last 30 days, including its current token. Superseded tokens stay
   * unknown.
   *
   * If a retry after a lost response finds the user group restored, it returns that.
   * @throws ServiceError `user_group_not_found`; `already_exists` if another user group has its id
   */
  async restoreDeletedUserGroup(teamId: number, options: RequestOptions = {}): Promise<AdminUserGroup> {
    const limits = this.#connection.limitsFor(options)
    const getRestored = () => this.#connection.execute(operations.getUserGroup(teamId), limits)
    const operation = {
      ...operations.restoreDeletedUserGroup(teamId),
      afterAmbiguousFailure: { user_group_not_found: getRestored },
    }
    return this.#connection.execute(operation, limits)
  }

  /** Lists user groups that share a data source or have an unresolved one. Shared data sources come first. */
  listIsolationFindings({ limit }: PageLimit = {}, options: RequestOptions = {}): Paged<IsolationFinding> {
    return paged(async (cursor) => this.#execute(operations.listIsolationFindings(limit, cursor), options))
  }

  /**
   * Lists user groups of `Testing` that can be promoted, sorted by team id. The API token must belong to `Customer`.
   * @throws ServiceError `forbidden` with an API token of `Testing`
   */
  listPromotionCandidates(
    search: CandidateSearch = {},
    options: RequestOptions = {},
  ): Paged<PromotionCandidate> {
    return paged(async (cursor) => this.#execute(operations.listPromotionCandidates(search, cursor), options))
  }

  /**
   * Copies name, mapping and properties of user groups from `Testing` to `Customer`. New user groups get their own
   * token. An error of one user group does not stop the others. The API token must belong to `Customer`.
   *
   * A retry after a lost response reports user groups that the lost attempt promoted as `unchanged`.
   * @throws ServiceError `forbidden` with an API token of `Testing`
   */
  async promoteUserGroups(
    fields: PromotionFields,
    options: RequestOptions = {},
  ): Promise<readonly PromotionResult[]> {
    return this.#execute(operations.promoteUserGroups(fields), options)
  }

  /**
   * Creates or updates any number of user groups, several hundred per request. Sends the next batch when you iterate to
   * it, and stops when you leave the loop. An error of one row does not stop the others. If several rows have the same
   * id, the last one wins; within one request, they are refused.
   *
   * A retry after a lost response reports rows that the lost attempt imported as `unchanged`.
   */
  importUserGroups(
    rows: Iterable<UserGroupFields> | AsyncIterable<UserGroupFields>,
    options: ImportOptions = {},
  ): AsyncIterable<ImportResult> {
    return importRows(this.#connection, rows, options)
  }

  /**
   * Returns the owner of a leaked token and whether it works. With `rotate`, stops it.
   *
   * A retry after a lost response does nothing more to a token that the lost attempt stopped. It reports the current
   * state: `works` and `rotated` may be false although this call stopped the token, at `validUntil`.
   */
  async reportLeakedToken(fields: LeakedTokenFields, options: RequestOptions = {}): Promise<LeakedToken> {
    return this.#execute(operations.reportLeakedToken(fields), options)
  }

  /** Lists the API tokens of this workspace and environment, including revoked ones. */
  async listApiTokens(options: RequestOptions = {}): Promise<readonly ApiToken[]> {
    return this.#execute(operations.listApiTokens, options)
  }

  /**
   * Creates an API token for this workspace and environment. The token is shown only once.
   *
   * Never retried if an attempt may have taken effect, which includes a 503. In that case, list the API tokens and
   * revoke the unknown one.
   */
  async createApiToken(fields: ApiTokenFields, options: RequestOptions = {}): Promise<NewApiToken> {
    return this.#execute(operations.createApiToken(fields), options)
  }

  /**
   * Creates an API token with the name, scopes and lifetime of another one, which keeps working for the overlap. The
   * token is shown only once.
   *
   * Never retried if an attempt may have taken effect. In that case, rotate the API token that the old one's
   * `replacedBy` names.
   * @throws ServiceError `not_found`, also if the API token has expired or is revoked; `token_superseded` if it was
   * already rotated
   */
  async rotateApiToken(
    id: number,
    rotation: ApiTokenRotation = {},
    options: RequestOptions = {},
  ): Promise<RotatedApiToken> {
    return this.#execute(operations.rotateApiToken(id, rotation), options)
  }

  /**
   * Revokes an API token permanently. Takes effect everywhere within about a second. A retry changes nothing, not even
   * `revokedAt`.
   * @throws ServiceError `not_found`
   */
  async revokeApiToken(id: number, options: RequestOptions = {}): Promise<ApiToken> {
    return this.#execute(operations.revokeApiToken(id), options)
  }

  /** Lists the workspace of this API token. Others are not visible. */
  async listWorkspaces(options: RequestOptions = {}): Promise<readonly Workspace[]> {
    return this.#execute(operations.listWorkspaces, options)
  }

  /**
   * Creates a workspace and its first API token, with the scope `admin` and this environment. The token is shown only
   * once.
   *
   * If a retry after a lost response finds the name in use, the call fails with the error of the lost attempt. The
   * workspace may exist; `ugs api-token create` creates an API token for it.
   * @throws ServiceError `already_exists`
   */
  async createWorkspace(fields: WorkspaceFields, options: RequestOptions = {}): Promise<NewWorkspace> {
    return this.#execute(operations.createWorkspace(fields), options)
  }

  async listSchemas(options: RequestOptions = {}): Promise<readonly RegisteredSchema[]> {
    return this.#execute(operations.listSchemas, options)
  }

  /**
   * Registers a schema.
   *
   * If a retry after a lost response finds a schema with the same fields, it returns that.
   * @throws ServiceError `already_exists`; `in_use` if user groups are mapped to a schema whose id is the same text
   */
  async createSchema(fields: SchemaFields, options: RequestOptions = {}): Promise<RegisteredSchema> {
    return this.#register(operations.createSchema(fields), fields, options, (limits) =>
      this.#connection.execute(operations.listSchemas, limits),
    )
  }

  /**
   * Removes a schema. If a retry after a lost response finds none, the removal succeeded.
   * @throws ServiceError `not_found`; `in_use` if it has data sources
   */
  async deleteSchema(id: number, options: RequestOptions = {}): Promise<void> {
    return this.#execute(operations.deleteSchema(id), options)
  }

  /** Lists data sources, sorted by id. */
  listDataSources(search: DataSourceSearch = {}, options: RequestOptions = {}): Paged<RegisteredDataSource> {
    return paged(async (cursor) => this.#execute(operations.listDataSources(search, cursor), options))
  }

  /**
   * Registers a data source. For retries, see `createSchema`.
   * @throws ServiceError `already_exists`; `in_use` if user groups are mapped to a data source whose id is the same
   * text; `validation_failed` if the schema does not exist
   */
  async createDataSource(
    fields: DataSourceFields,
    options: RequestOptions = {},
  ): Promise<RegisteredDataSource> {
    const { schemaId } = fields
    return this.#register(operations.createDataSource(fields), fields, options, (limits) =>
      paged((cursor) => this.#connection.execute(operations.listDataSources({ schemaId }, cursor), limits)),
    )
  }

  /**
   * Removes a data source. If a retry after a lost response finds none, the removal succeeded.
   * @throws ServiceError `not_found`; `in_use` if user groups are mapped to it
   */
  async deleteDataSource(id: number, options: RequestOptions = {}): Promise<void> {
    return this.#execute(operations.deleteDataSource(id), options)
  }

  /** Lists audit events, newest first. Pages may have fewer items than the limit, or none. */
  listAuditEvents(search: AuditSearch = {}, options: RequestOptions = {}): Paged<AuditEvent> {
    return paged(async (cursor) => this.#execute(operations.listAuditEvents(search, cursor), options))
  }

  /** Lists the webhook endpoints of this environment, sorted by id. */
  async listWebhookEndpoints(options: RequestOptions = {}): Promise<readonly WebhookEndpoint[]> {
    return this.#execute(operations.listWebhookEndpoints, options)
  }

  /**
   * Creates a webhook endpoint, which receives events from now on. The secret is shown only once.
   *
   * Never retried if an attempt may have taken effect. In that case, list the webhook endpoints and delete the unknown
   * one.
   */
  async createWebhookEndpoint(
    fields: WebhookEndpointFields,
    options: RequestOptions = {},
  ): Promise<WebhookEndpointSecret> {
    return this.#execute(operations.createWebhookEndpoint(fields), options)
  }

  /** @throws ServiceError `not_found` */
  async getWebhookEndpoint(id: number, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#execute(operations.getWebhookEndpoint(id), options)
  }

  /**
   * Changes, pauses or resumes a webhook endpoint. A disabled one becomes active with the state `active`. A retry after
   * a lost response overwrites changes that others made in between.
   * @throws ServiceError `not_found`
   */
  async updateWebhookEndpoint(
    id: number,
    change: WebhookEndpointChange,
    options: RequestOptions = {},
  ): Promise<WebhookEndpoint> {
    return this.#execute(operations.updateWebhookEndpoint(id, change), options)
  }

  /**
   * Deletes a webhook endpoint with its deliveries. If a retry after a lost response finds none, the deletion succeeded.
   * @throws ServiceError `not_found`
   */
  async deleteWebhookEndpoint(id: number, options: RequestOptions = {}): Promise<void> {
    return this.#execute(operations.deleteWebhookEndpoint(id), options)
  }

  /**
   * Replaces the secret of a webhook endpoint. Both secrets sign during the overlap. The new one is shown only once.
   *
   * Never retried if an attempt may have taken effect: another rotation ends the overlap of the secret before the last
   * one. In that case, rotate again and give the receiver the new secret at once.
   * @throws ServiceError `not_found`
   */
  async rotateWebhookSecret(
    id: number,
    rotation: WebhookSecretRotation = {},
    options: RequestOptions = {},
  ): Promise<WebhookEndpointSecret> {
    return this.#execute(operations.rotateWebhookSecret(id, rotation), options)
  }

  /** Lists the deliveries to a webhook endpoint, newest first. */
  listWebhookDeliveries(
    id: number,
    search: WebhookDeliverySearch = {},
    options: RequestOptions = {},
  ): Paged<WebhookDelivery> {
    return paged(async (cursor) =>
      this.#execute(operations.listWebhookDeliveries(id, search, cursor), options),
    )
  }

  /**
   * Sends one event again, also if it was delivered. After a retry, the receiver may get it more often.
   * @throws ServiceError `not_found`
   */
  async redeliverWebhook(id: number, deliveryId: number, options: RequestOptions = {}): Promise<void> {
    await this.#execute(operations.redeliverWebhook(id, deliveryId), options)
  }

  /**
   * Sends all events of a time range again, also delivered ones, and returns how many. A retry after a lost response does
   * not count events that the lost attempt sends again.
   * @throws ServiceError `not_found`
   */
  async redeliverWebhooks(
    id: number,
    redelivery: WebhookRedelivery,
    options: RequestOptions = {},
  ): Promise<number> {
    return this.#execute(operations.redeliverWebhooks(id, redelivery), options)
  }

  #execute<Result>(operation: Operation<Result>, options: RequestOptions): Promise<Result> {
    return this.#connection.execute(operation, this.#connection.limitsFor(options))
  }

  /** After a lost response, `already_exists` may mean that this operation's own earlier attempt succeeded. */
  #register<Registered extends SchemaFields>(
    create: Operation<Registered>,
    fields: SchemaFields & Partial<Registered>,
    options: RequestOptions,
    list: (limits: Limits) => Promise<readonly Registered[]> | AsyncIterable<Registered>,
  ): Promise<Registered> {
    const limits = this.#connection.limitsFor(options)
    const names = Object.keys(fields) as (keyof Registered)[]
    const findCreated = async (_: unknown, refusal: ServiceError) => {
      for await (const registered of await list(limits)) {
        if (names.every((name) => registered[name] === fields[name])) return registered
      }
      throw refusal
    }
    return this.#connection.execute(
      { ...create, afterAmbiguousFailure: { already_exists: findCreated } },
      limits,
    )
  }
}
