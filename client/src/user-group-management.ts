import { Connection, type Limits, type Operation } from './connection.ts'
import { ServiceError } from './errors.ts'
import type {
  ApiToken,
  AuditEvent,
  DeletedUserGroup,
  Difference,
  IsolationFinding,
  LeakedToken,
  ManagedUserGroup,
  NewApiToken,
  NewWorkspace,
  RotatedApiToken,
  PromotionResult,
  RegisteredDataSource,
  RegisteredSchema,
  UserGroupVersion,
  UserGroupView,
  Workspace,
} from './managed.ts'
import type {
  ApiTokenFields,
  ApiTokenRotation,
  AuditSearch,
  ChangeOptions,
  DataSourceFields,
  DataSourceSearch,
  LeakedTokenFields,
  PageLimit,
  PromotionFields,
  SchemaFields,
  TokenRotation,
  UserGroupChange,
  UserGroupSearch,
  VersionRange,
  WorkspaceFields,
} from './management-fields.ts'
import * as operations from './management-operations.ts'
import { settingsOf, type CallOptions, type ConnectionOptions } from './options.ts'
import { paged, type Paged } from './paged.ts'
import type { UserGroupFields } from './user-group.ts'
import { importRows, type ImportOptions, type ImportResult } from './user-group-import.ts'

/**
 * Calls the management API: for the people who look after user groups, with an API token of the scope `admin`. It sees one
 * workspace and one environment; what is another's is `user_group_not_found` or `not_found`.
 *
 * Every method throws a `ServiceError` where the service refuses the call, a `TransportError` where it does not answer, and
 * the reason of `signal` where that is aborted; a `TypeError` for what cannot be sent. Before they do, they repeat the call
 * as a `UserGroupClient` does, but `createApiToken` only where it cannot have taken effect. What a repeat does stands with
 * each. All of them may throw `unauthenticated`, `forbidden` (another scope), `validation_failed` and `unavailable`.
 */
export class UserGroupManagement {
  readonly #connection: Connection

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(settingsOf(options))
  }

  /**
   * User groups, in the order of ids where `userGroupIdPrefix` is given, else of team ids. A page takes the service a tenth
   * of a second at most, however many there are: it may be empty, and have a next one.
   */
  searchUserGroups(search: UserGroupSearch = {}, options: CallOptions = {}): Paged<ManagedUserGroup> {
    return paged(async (cursor) => this.#call(operations.searchUserGroups(search, cursor), options))
  }

  /** @throws ServiceError `user_group_not_found` */
  async getUserGroup(teamId: number, options: CallOptions = {}): Promise<ManagedUserGroup> {
    return this.#call(operations.getUserGroup(teamId), options)
  }

  /**
   * Changes name, mapping or properties. What they were is kept as a version.
   *
   * A repeat after a lost answer overwrites what somebody else may have changed in between. With `ifRevision` it overwrites
   * nothing; where it cannot be told whose change came first, the call fails as the try did whose answer was lost.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async updateUserGroup(
    teamId: number,
    change: UserGroupChange,
    options: ChangeOptions = {},
  ): Promise<ManagedUserGroup> {
    return this.#call(operations.updateUserGroup(teamId, change, options.ifRevision), options)
  }

  /**
   * Deletes a user group. Its tokens stop at once. For 30 days it can be restored, while its id is free.
   *
   * Where a repeat after a lost answer finds none, that is taken for the deletion.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async deleteUserGroup(teamId: number, options: ChangeOptions = {}): Promise<void> {
    return this.#call(operations.deleteUserGroup(teamId, options.ifRevision), options)
  }

  /**
   * The token of a user group.
   * @throws ServiceError `user_group_not_found`
   */
  async getUserGroupToken(teamId: number, options: CallOptions = {}): Promise<string> {
    return this.#call(operations.getUserGroupToken(teamId), options)
  }

  /**
   * Replaces the token of a user group, and returns the new one. The old one stops at once, or after the grace period.
   *
   * It rotates once, however often it has to be repeated: the revision is looked up first, and the rotation is for that one
   * alone. Where a repeat after a lost answer finds another token than there was, that is taken for the new one.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async rotateUserGroupToken(
    teamId: number,
    rotation: TokenRotation = {},
    { ifRevision, ...options }: ChangeOptions = {},
  ): Promise<string> {
    const limits = this.#connection.limitsOf(options)
    const find = () => this.#connection.call(operations.getUserGroup(teamId), limits)
    for (;;) {
      const { revision, tokenIssuedAt } = await find()
      const operation: Operation<string> = {
        ...operations.rotateUserGroupToken(teamId, rotation, ifRevision ?? revision),
        afterDoubt: {
          // None of its tries can rotate any more, now that the revision is another one.
          revision_mismatch: async (_, refusal) => {
            if ((await find()).tokenIssuedAt === tokenIssuedAt) throw refusal
            return this.#connection.call(operations.getUserGroupToken(teamId), limits)
          },
        },
      }
      try {
        return await this.#connection.call(operation, limits)
      } catch (error) {
        const isOthers = error instanceof ServiceError && error.code === 'revision_mismatch'
        if (!isOthers || ifRevision !== undefined) throw error
      }
    }
  }

  /**
   * Makes the tokens of a user group inactive for the renderer, from its next introspection on. `getOrCreate`, `update` and
   * `rotate` go on working. One that is suspended stays so, since when it was.
   *
   * A repeat after a lost answer suspends it again if somebody else has resumed it in between; with `ifRevision` as
   * `updateUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async suspendUserGroup(teamId: number, options: ChangeOptions = {}): Promise<ManagedUserGroup> {
    return this.#call(operations.setSuspended(teamId, 'suspend', options.ifRevision), options)
  }

  /**
   * Ends a suspension: the current token works again, and those do that are in their grace period. A repeat is as one of
   * `suspendUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async resumeUserGroup(teamId: number, options: ChangeOptions = {}): Promise<ManagedUserGroup> {
    return this.#call(operations.setSuspended(teamId, 'resume', options.ifRevision), options)
  }

  /**
   * What a user group sees: its variables, what its mapping names, and whether its token works.
   * @throws ServiceError `user_group_not_found`
   */
  async viewUserGroup(teamId: number, options: CallOptions = {}): Promise<UserGroupView> {
    return this.#call(operations.viewUserGroup(teamId), options)
  }

  /**
   * What a user group was before its last changes, the newest first; of the last hundred revisions.
   * @throws ServiceError `user_group_not_found`
   */
  async listUserGroupVersions(
    teamId: number,
    options: CallOptions = {},
  ): Promise<readonly UserGroupVersion[]> {
    return this.#call(operations.listUserGroupVersions(teamId), options)
  }

  /**
   * What is different from a version, now or in another version.
   * @throws ServiceError `user_group_not_found`; `not_found` where there is no such version, or no longer
   */
  async diffUserGroupVersions(
    teamId: number,
    { from, to }: VersionRange,
    options: CallOptions = {},
  ): Promise<readonly Difference[]> {
    return this.#call(operations.diffUserGroupVersions(teamId, from, to), options)
  }

  /**
   * Has name, mapping and properties be as in a version. The token stays. It is a change like any other, and a repeat is
   * as one of `updateUserGroup`.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`; `not_found` where there is no such version, or no
   * longer
   */
  async restoreUserGroupVersion(
    teamId: number,
    revision: number,
    options: ChangeOptions = {},
  ): Promise<ManagedUserGroup> {
    return this.#call(operations.restoreUserGroupVersion(teamId, revision, options.ifRevision), options)
  }

  /** What was deleted within the last 30 days, in the order of team ids. */
  listDeletedUserGroups({ limit }: PageLimit = {}, options: CallOptions = {}): Paged<DeletedUserGroup> {
    return paged(async (cursor) => this.#call(operations.listDeletedUserGroups(limit, cursor), options))
  }

  /**
   * Restores a user group that was deleted within the last 30 days: as it was, and its token works again. Tokens that were
   * replaced before stay unknown.
   *
   * Where a repeat after a lost answer finds it restored, it is answered.
   * @throws ServiceError `user_group_not_found`; `already_exists` where another one has its id by now
   */
  async restoreDeletedUserGroup(teamId: number, options: CallOptions = {}): Promise<ManagedUserGroup> {
    const limits = this.#connection.limitsOf(options)
    const found = () => this.#connection.call(operations.getUserGroup(teamId), limits)
    const operation = {
      ...operations.restoreDeletedUserGroup(teamId),
      afterDoubt: { user_group_not_found: found },
    }
    return this.#connection.call(operation, limits)
  }

  /** User groups that see the data of others, or none. The data sources come first that several share. */
  listIsolationFindings({ limit }: PageLimit = {}, options: CallOptions = {}): Paged<IsolationFinding> {
    return paged(async (cursor) => this.#call(operations.listIsolationFindings(limit, cursor), options))
  }

  /**
   * Makes user groups of `Customer` be as those of `Testing` with the same ids: name, mapping and properties. One that is new
   * gets a token of its own. One after the other: what one is refused for does not stop the others. The API token is one
   * of `Customer`.
   *
   * A repeat after a lost answer tells those as `unchanged` that the lost try has promoted.
   * @throws ServiceError `forbidden` with an API token of `Testing`
   */
  async promoteUserGroups(
    fields: PromotionFields,
    options: CallOptions = {},
  ): Promise<readonly PromotionResult[]> {
    return this.#call(operations.promoteUserGroups(fields), options)
  }

  /**
   * Makes user groups be as described, any number of them, some hundred a call, while the results are iterated: it ends where
   * that is left. What a row is refused for does not stop the others. The last of several rows with one id stands; in
   * one call they are refused.
   *
   * A repeat after a lost answer tells those as `unchanged` that the lost try has made so.
   */
  importUserGroups(
    rows: Iterable<UserGroupFields> | AsyncIterable<UserGroupFields>,
    options: ImportOptions = {},
  ): AsyncIterable<ImportResult> {
    return importRows(this.#connection, rows, options)
  }

  /**
   * Whose token it is that somebody found, and whether it works; with `rotate` it stops.
   *
   * A repeat after a lost answer does nothing more to a token that the lost try has stopped. It tells it as it finds it:
   * `works` and `rotated` may be false though this call has stopped it, and `validUntil` is when it did.
   */
  async reportLeakedToken(fields: LeakedTokenFields, options: CallOptions = {}): Promise<LeakedToken> {
    return this.#call(operations.reportLeakedToken(fields), options)
  }

  /** Those of this workspace and environment, the revoked ones too. */
  async listApiTokens(options: CallOptions = {}): Promise<readonly ApiToken[]> {
    return this.#call(operations.listApiTokens, options)
  }

  /**
   * Makes an API token for this workspace and environment. It is shown this once.
   *
   * It is never repeated where there may be one already, after a 503 neither: list them then, and revoke the one that nobody
   * has got.
   */
  async createApiToken(fields: ApiTokenFields, options: CallOptions = {}): Promise<NewApiToken> {
    return this.#call(operations.createApiToken(fields), options)
  }

  /**
   * Makes an API token with the name, scopes and lifetime of another, which works on for a while. It is shown this once.
   *
   * As `createApiToken` it is never repeated where it may be done already: rotate the one then that the old one's `replacedBy` names.
   * @throws ServiceError `not_found`, also of one that has ended; `token_superseded`, of one that was replaced before
   */
  async rotateApiToken(
    id: number,
    rotation: ApiTokenRotation = {},
    options: CallOptions = {},
  ): Promise<RotatedApiToken> {
    return this.#call(operations.rotateApiToken(id, rotation), options)
  }

  /**
   * Revokes an API token for good, within a second or so. A repeat changes nothing, `revokedAt` neither.
   * @throws ServiceError `not_found`
   */
  async revokeApiToken(id: number, options: CallOptions = {}): Promise<ApiToken> {
    return this.#call(operations.revokeApiToken(id), options)
  }

  /** The workspace of this API token: no other is seen. */
  async listWorkspaces(options: CallOptions = {}): Promise<readonly Workspace[]> {
    return this.#call(operations.listWorkspaces, options)
  }

  /**
   * Makes a workspace, and its first API token, with the scope `admin` and this environment. It is shown this once.
   *
   * Where a repeat after a lost answer finds the name taken, the call fails as the lost try did: there may be such a workspace
   * now, and `ugs api-token create` makes an API token for it.
   * @throws ServiceError `already_exists`
   */
  async createWorkspace(fields: WorkspaceFields, options: CallOptions = {}): Promise<NewWorkspace> {
    return this.#call(operations.createWorkspace(fields), options)
  }

  async listSchemas(options: CallOptions = {}): Promise<readonly RegisteredSchema[]> {
    return this.#call(operations.listSchemas, options)
  }

  /**
   * Registers a schema.
   *
   * Where a repeat after a lost answer finds one that is as described, that is answered.
   * @throws ServiceError `already_exists`; `in_use` where user groups are mapped to the one whose id is the same text
   */
  async createSchema(fields: SchemaFields, options: CallOptions = {}): Promise<RegisteredSchema> {
    return this.#register(operations.createSchema(fields), fields, options, (limits) =>
      this.#connection.call(operations.listSchemas, limits),
    )
  }

  /**
   * Removes a schema. Where a repeat after a lost answer finds none, that is taken for the removal.
   * @throws ServiceError `not_found`; `in_use` where it has data sources
   */
  async deleteSchema(id: number, options: CallOptions = {}): Promise<void> {
    return this.#call(operations.deleteSchema(id), options)
  }

  /** In the order of ids. */
  listDataSources(search: DataSourceSearch = {}, options: CallOptions = {}): Paged<RegisteredDataSource> {
    return paged(async (cursor) => this.#call(operations.listDataSources(search, cursor), options))
  }

  /**
   * Registers a data source. A repeat is as one of `createSchema`.
   * @throws ServiceError `already_exists`; `in_use` where user groups are mapped to the one whose id is the same text;
   * `validation_failed` where there is no such schema
   */
  async createDataSource(fields: DataSourceFields, options: CallOptions = {}): Promise<RegisteredDataSource> {
    const { schemaId } = fields
    return this.#register(operations.createDataSource(fields), fields, options, (limits) =>
      paged((cursor) => this.#connection.call(operations.listDataSources({ schemaId }, cursor), limits)),
    )
  }

  /**
   * Removes a data source. Where a repeat after a lost answer finds none, that is taken for the removal.
   * @throws ServiceError `not_found`; `in_use` where user groups are mapped to it
   */
  async deleteDataSource(id: number, options: CallOptions = {}): Promise<void> {
    return this.#call(operations.deleteDataSource(id), options)
  }

  /** What was changed, and by whom: the newest first. Pages may have fewer than the limit, and none. */
  listAuditEvents(search: AuditSearch = {}, options: CallOptions = {}): Paged<AuditEvent> {
    return paged(async (cursor) => this.#call(operations.listAuditEvents(search, cursor), options))
  }

  #call<Result>(operation: Operation<Result>, options: CallOptions): Promise<Result> {
    return this.#connection.call(operation, this.#connection.limitsOf(options))
  }

  /** Where its provided id is taken after a lost answer, it may well be by this call's own. */
  #register<Registered extends SchemaFields>(
    create: Operation<Registered>,
    fields: SchemaFields & Partial<Registered>,
    options: CallOptions,
    list: (limits: Limits) => Promise<readonly Registered[]> | AsyncIterable<Registered>,
  ): Promise<Registered> {
    const limits = this.#connection.limitsOf(options)
    const names = Object.keys(fields) as (keyof Registered)[]
    const settle = async (_: unknown, refusal: ServiceError) => {
      for await (const one of await list(limits)) {
        if (names.every((name) => one[name] === fields[name])) return one
      }
      throw refusal
    }
    return this.#connection.call({ ...create, afterDoubt: { already_exists: settle } }, limits)
  }
}
