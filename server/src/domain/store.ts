import type { ApiToken } from './api-token/api-token.ts'
import type { UsageReport, SharedUsage } from './api-token/rate-limit.ts'
import type { AuditEvent } from './audit/audit-event.ts'
import type { DataSource, MappingEntry, ResolvedEntry, Schema } from './data-source/data-source.ts'
import type { Environment } from './environment.ts'
import type { ListEncryptedTokens, ReencryptedToken, EncryptedTokenPage } from './token/encrypted-token.ts'
import type { DeletedUserGroup, UserGroup, UserGroupKey, UserGroupVersion } from './user-group/user-group.ts'
import type { Workspace } from './workspace.ts'
import type {
  ApiTokenUse,
  ConsoleSession,
  CountEntries,
  DeleteOutcome,
  DeleteRegistered,
  DeleteUserGroup,
  EndGracePeriod,
  EntryCounts,
  Expiry,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  Introspection,
  IssuedToken,
  LimitApiToken,
  ListAuditEvents,
  ListDataSources,
  ListDeletedUserGroups,
  ListSharedDataSources,
  ListUserGroups,
  ListVersions,
  CreatedWorkspace,
  NewApiToken,
  NewConsoleSession,
  NewDataSource,
  NewSchema,
  NewWorkspace,
  NotRegistered,
  PruneAuditEvents,
  RestoreOutcome,
  RestoreUserGroup,
  RevokeApiToken,
  RotateApiToken,
  RotateApiTokenOutcome,
  RotateOutcome,
  RotateUserGroupToken,
  SearchResult,
  SearchUserGroups,
  SecretKeyCheck,
  SharedDataSources,
  ChangeStamp,
  SuspendOutcome,
  SuspendUserGroup,
  TokenOwner,
  UpdateOutcome,
  UpdateUserGroup,
} from './store-operations.ts'

export type * from './store-operations.ts'

/**
 * What the service keeps, as a few whole operations. Each is atomic and durable when its promise resolves, and any
 * number of them, in this process and in others, may run at once. What an operation finds is a value; it rejects only
 * with a `Fault` of code `unavailable` (the store cannot be reached, is full or is damaged) or on a defect, and then
 * it has changed nothing, unless the disk failed, or the server was lost for good, in the very commit. Where a server was
 * lost, the fault says so. What changes anything
 * leaves an `AuditEvent`, in the same transaction; `forgetExpired`, which nobody asks for, leaves none.
 */
export interface Store {
  /**
   * Makes the user group be as described. Of any number of simultaneous first calls for one key exactly one says
   * `created`, and all return the same token. What changes nothing writes nothing.
   */
  getOrCreateUserGroup(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome>

  /** Each of them on its own, as by `getOrCreateUserGroup`, and in no order: they may run at once. */
  getOrCreateUserGroups(commands: readonly GetOrCreateUserGroup[]): Promise<readonly GetOrCreateOutcome[]>

  /** Changes an existing user group. Of simultaneous changes of one field the last one stands whole. */
  updateUserGroup(command: UpdateUserGroup): Promise<UpdateOutcome>

  /**
   * Replaces the token. Of simultaneous rotations of one token exactly one says `rotated` and the others `superseded`;
   * the old token's deadline is set once, and none but `endGracePeriod` moves it. With an idempotency key the rotation and the record of its
   * answer are one step: a repeat says `replayed` with the first answer.
   */
  rotateUserGroupToken(command: RotateUserGroupToken): Promise<RotateOutcome>

  /** Whose token this is, if it is the current one or still within its grace period at `now`. Never from a cache. */
  findByToken(
    workspaceId: number,
    environment: Environment,
    tokenHash: Uint8Array,
    now: number,
  ): Promise<TokenOwner | null>

  /**
   * Whether a user group, and what its mapping resolves to, are still as they were when they were read with this stamp. True only
   * where they are; false may be said of what was not changed too. Never from a cache.
   */
  isUnchanged(
    workspaceId: number,
    environment: Environment,
    teamId: number,
    stamp: ChangeStamp,
  ): Promise<boolean>

  /** Whose token this is, or was before it was replaced. */
  identifyToken(
    workspaceId: number,
    environment: Environment,
    tokenHash: Uint8Array,
  ): Promise<IssuedToken | null>

  /** Has a token that was replaced stop at `now`, should its grace period go on. */
  endGracePeriod(command: EndGracePeriod): Promise<void>

  findUserGroup(key: UserGroupKey): Promise<UserGroup | null>

  findUserGroupById(workspaceId: number, environment: Environment, teamId: number): Promise<UserGroup | null>

  listUserGroups(query: ListUserGroups): Promise<UserGroup[]>

  /**
   * Looks at a bounded number of user groups, so that it takes its time from nobody: it may return fewer than the limit,
   * and none, with a position to go on from. In the order of ids where `providedIdPrefix` is given, else of team ids.
   */
  searchUserGroups(query: SearchUserGroups): Promise<SearchResult>

  /** Has the renderer take the token as inactive, or as active again. What changes nothing writes nothing. */
  suspendUserGroup(command: SuspendUserGroup): Promise<SuspendOutcome>

  /**
   * Deletes the user group; its tokens, old ones included, are unknown from then on. It is kept apart, and its versions
   * with it, until it is restored or `forgetExpired` removes it.
   */
  deleteUserGroup(command: DeleteUserGroup): Promise<'deleted' | 'not_found' | 'revision_mismatch'>

  /** Has a deleted user group be as it was, its current token included; those that it replaced stay unknown. */
  restoreUserGroup(command: RestoreUserGroup): Promise<RestoreOutcome>

  /** In the order of team ids. */
  listDeletedUserGroups(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]>

  /** What a user group was before its last changes of name, mapping and properties: the newest hundred or so. */
  listVersions(query: ListVersions): Promise<UserGroupVersion[]>

  /** Keeps the latest time of each user group. */
  recordIntrospections(introspections: readonly Introspection[]): Promise<void>

  /** Milliseconds since the Unix epoch; null where there was none. */
  findLastIntrospection(workspaceId: number, teamId: number): Promise<number | null>

  /** Counts the entries of mappings, a bounded number of them a call. */
  countEntries(query: CountEntries): Promise<EntryCounts>

  /** Finds data sources that two or more user groups may be mapped to, among a bounded number of them a call. */
  listSharedDataSources(query: ListSharedDataSources): Promise<SharedDataSources>

  /** What entries name, each as it is now. */
  resolveEntries(
    workspaceId: number,
    environment: Environment,
    entries: readonly MappingEntry[],
  ): Promise<readonly ResolvedEntry[]>

  /** Forgets what has had its time; returns how much. */
  deleteExpired(expiry: Expiry): Promise<number>

  /**
   * Registers a schema, unless its provided id is taken, or is what a mapping names another one by: that mapping must not
   * come to mean this one.
   */
  createSchema(schema: NewSchema): Promise<Schema | NotRegistered>

  /** In the order of their ids. */
  listSchemas(workspaceId: number, environment: Environment): Promise<Schema[]>

  /** Removes the schema, unless it has data sources. */
  deleteSchema(command: DeleteRegistered): Promise<DeleteOutcome>

  /** Registers a data source, by the same rules within its schema. */
  createDataSource(dataSource: NewDataSource): Promise<DataSource | NotRegistered | 'schema_not_found'>

  /** In the order of their ids. */
  listDataSources(query: ListDataSources): Promise<DataSource[]>

  /**
   * Removes the data source, unless a user group's mapping has it. With the mode `registered`, a mapping that is written
   * at the same time is either seen here or refused there.
   */
  deleteDataSource(command: DeleteRegistered): Promise<DeleteOutcome>

  /** Returns null where the name is taken. */
  createWorkspace(workspace: NewWorkspace): Promise<CreatedWorkspace | null>

  listWorkspaces(): Promise<Workspace[]>

  createApiToken(token: NewApiToken): Promise<ApiToken>

  /** Adds the API tokens if the store has none and no user group; of simultaneous calls exactly one says true. */
  createFirstApiTokens(tokens: readonly NewApiToken[]): Promise<boolean>

  findApiToken(tokenHash: Uint8Array): Promise<ApiToken | null>

  listApiTokens(): Promise<ApiToken[]>

  /** Revokes for good. A second call leaves the first time. Returns null where there is no such API token. */
  revokeApiToken(command: RevokeApiToken): Promise<ApiToken | null>

  /**
   * Replaces an API token by one with the same name, scopes, lifetime and limit. One that was replaced before is `superseded`; one that
   * is revoked or over is `unusable`. Of simultaneous calls exactly one replaces it.
   */
  rotateApiToken(command: RotateApiToken): Promise<RotateApiTokenOutcome>

  /** Changes nothing where it has this limit. Returns null where there is no such API token. */
  limitApiToken(command: LimitApiToken): Promise<ApiToken | null>

  /** Adds calls to those that other processes told of, and tells of all. One may be counted twice where the store is lost. */
  reportUsage(usageReports: readonly UsageReport[]): Promise<readonly SharedUsage[]>

  /** Keeps the latest time of each API token. */
  recordApiTokenUses(uses: readonly ApiTokenUse[]): Promise<void>

  createConsoleSession(session: NewConsoleSession): Promise<void>

  /** Whatever its age. */
  findConsoleSession(hash: Uint8Array): Promise<ConsoleSession | null>

  /** Keeps `now` as the time of its last use. */
  touchConsoleSession(hash: Uint8Array, now: number): Promise<void>

  deleteConsoleSession(hash: Uint8Array): Promise<void>

  listSecretKeyChecks(): Promise<SecretKeyCheck[]>

  /** Keeps the check if the store has none for that key, and returns the one that it has. */
  addSecretKeyCheck(check: SecretKeyCheck): Promise<SecretKeyCheck>

  /** Whether or not there is one. */
  deleteSecretKeyCheck(keyId: string): Promise<void>

  /**
   * Has a secret key seal nothing more, in whatever process. When this resolves, what was sealed with it before can be
   * found, and what would be from then on is `secret_key_retired`.
   */
  retireSecretKey(keyId: string): Promise<void>

  /** By their ids. */
  listRetiredSecretKeys(): Promise<string[]>

  /** All that is sealed, page by page. What is sealed or moved meanwhile may be missed. */
  listEncryptedTokens(query: ListEncryptedTokens): Promise<EncryptedTokenPage>

  /**
   * In the place of those that are still so; what another call works on may be left, and what is sealed with a retired key is not taken. No token and no revision changes.
   * Returns how many.
   */
  replaceEncryptedTokens(tokens: readonly ReencryptedToken[]): Promise<number>

  /** The newest first. Of a user group that was forgotten, its creation is not found by its id. */
  listAuditEvents(query: ListAuditEvents): Promise<AuditEvent[]>

  /** Removes old events, of which one event tells; returns how many. */
  pruneAuditEvents(command: PruneAuditEvents): Promise<number>

  /** Resolves if the store answers. */
  ping(): Promise<void>

  /** Finishes what is under way, then lets go of the store. */
  close(): Promise<void>
}
