import type { ApiToken } from './api-token.ts'
import type { DataSource, MappingMode, RegisteredEntry, ResolvedEntry, Schema } from './data-source.ts'
import type { Environment } from './environment.ts'
import type { Sealed } from './keyring.ts'
import type { UserGroup, UserGroupChange, UserGroupKey } from './user-group.ts'
import type { Workspace } from './workspace.ts'

/** A fresh user group token, as the store takes it. */
export interface MintedToken extends Sealed {
  readonly hash: Uint8Array
}

/**
 * Makes a fresh token for a user group. A store calls it inside an operation. If it starts that over, it may call it
 * again only where it knows that the first token was not kept.
 */
export type MintToken = (key: UserGroupKey) => MintedToken

export interface GetOrCreateUserGroup {
  readonly key: UserGroupKey
  readonly change: UserGroupChange
  /** Where false, an operation that would create or change anything does nothing and says `write_required`. */
  readonly mayWrite: boolean
  /** `free` where it is left out. */
  readonly mappingMode?: MappingMode
  readonly mintToken: MintToken
  readonly now: number
}

export type GetOrCreateOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged'; readonly userGroup: UserGroup }
  | { readonly outcome: 'name_required' | 'write_required' }
  | UnregisteredMapping

/** The mapping that was sent names what is not registered. Only with the mode `registered`. */
export interface UnregisteredMapping {
  readonly outcome: 'mapping_unregistered'
  /** Those at fault. */
  readonly entries: readonly ResolvedEntry[]
}

export interface UpdateUserGroup {
  readonly key: UserGroupKey
  readonly change: UserGroupChange
  /** `free` where it is left out. */
  readonly mappingMode?: MappingMode
  readonly now: number
}

export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'unchanged'; readonly userGroup: UserGroup }
  | { readonly outcome: 'not_found' }
  | UnregisteredMapping

export interface RotateUserGroupToken {
  readonly workspaceId: number
  readonly environment: Environment
  /** The user group to rotate: by its current token, or (for an operator) by its id. */
  readonly target: { readonly tokenHash: Uint8Array } | { readonly providedId: string }
  /** Until when the old token stays valid for viewing; equal to `now` where it stops at once. */
  readonly oldTokenValidUntil: number
  readonly idempotency?: {
    readonly keyHash: Uint8Array
    /** What the key was sent with; the same key with another fingerprint is refused. */
    readonly fingerprint: Uint8Array
    /** Until when a retry gets the first answer. */
    readonly expiresAt: number
  }
  readonly mintToken: MintToken
  readonly now: number
}

/** A user group as it was when its token was rotated: what a retry with the same idempotency key is answered. */
export interface RotatedUserGroup extends UserGroupKey {
  readonly teamId: number
  readonly name: string
  readonly token: Sealed
}

export type RotateOutcome =
  | { readonly outcome: 'rotated' | 'replayed'; readonly userGroup: RotatedUserGroup }
  | { readonly outcome: 'superseded' | 'not_found' | 'idempotency_key_reused' }

/** A token's user group, as it is now. */
export interface TokenOwner {
  readonly userGroup: UserGroup
  readonly issuedAt: number
  /** Until when the token is valid where it was replaced (`null`: it is the current one). */
  readonly validUntil: number | null
  /** Those entries of the user group's mapping that name what is registered. */
  readonly dataSources: readonly RegisteredEntry[]
}

export type NotRegistered = 'provided_id_taken' | 'provided_id_mapped'

export type DeleteOutcome = 'deleted' | 'not_found' | 'in_use'

export interface ListUserGroups {
  readonly workspaceId: number
  readonly environment: Environment
  /** Lists what comes after this id, in the order of ids by code point. */
  readonly afterProvidedId: string | null
  readonly limit: number
}

export type NewSchema = Omit<Schema, 'id'>

export type NewDataSource = Omit<DataSource, 'id'>

export type NewApiToken = Omit<ApiToken, 'id' | 'revokedAt'> & { readonly tokenHash: Uint8Array }

/** A known text, sealed with a secret key when the key was first used: it tells later whether a key is the same. */
export type SecretKeyCheck = Sealed

/**
 * What the service keeps, as a few whole operations. Each is atomic and durable when its promise resolves, and any
 * number of them, in this process and in others, may run at once. What an operation finds is a value; it rejects only
 * with a `Fault` of code `unavailable` (the store cannot be reached, is full or is damaged) or on a defect, and then
 * it has changed nothing, unless the disk failed, or the server was lost for good, in the very commit. Where a server was
 * lost, the fault says so.
 */
export interface Store {
  /**
   * Makes the user group be as described. Of any number of simultaneous first calls for one key exactly one says
   * `created`, and all return the same token. What changes nothing writes nothing.
   */
  getOrCreateUserGroup(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome>

  /** Changes an existing user group. Of simultaneous changes of one field the last one stands whole. */
  updateUserGroup(command: UpdateUserGroup): Promise<UpdateOutcome>

  /**
   * Replaces the token. Of simultaneous rotations of one token exactly one says `rotated` and the others `superseded`;
   * the old token's deadline is set once and never moves. With an idempotency key the rotation and the record of its
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

  findUserGroup(key: UserGroupKey): Promise<UserGroup | null>

  listUserGroups(query: ListUserGroups): Promise<UserGroup[]>

  /** Deletes the user group; its tokens, old ones included, are unknown from then on. False where there is none. */
  deleteUserGroup(key: UserGroupKey): Promise<boolean>

  /** Forgets the idempotency keys that have expired; returns how many. */
  forgetExpiredIdempotencyKeys(now: number): Promise<number>

  /**
   * Registers a schema, unless its provided id is taken, or is what a mapping names another one by: that mapping must not
   * come to mean this one.
   */
  createSchema(schema: NewSchema): Promise<Schema | NotRegistered>

  /** In the order of their ids. */
  listSchemas(workspaceId: number, environment: Environment): Promise<Schema[]>

  /** Removes the schema, unless it has data sources. */
  deleteSchema(workspaceId: number, environment: Environment, id: number): Promise<DeleteOutcome>

  /** Registers a data source, by the same rules within its schema. */
  createDataSource(
    workspaceId: number,
    environment: Environment,
    dataSource: NewDataSource,
  ): Promise<DataSource | NotRegistered | 'schema_not_found'>

  /** In the order of their ids. */
  listDataSources(workspaceId: number, environment: Environment): Promise<DataSource[]>

  /**
   * Removes the data source, unless a user group's mapping has it. With the mode `registered`, a mapping that is written
   * at the same time is either seen here or refused there.
   */
  deleteDataSource(workspaceId: number, environment: Environment, id: number): Promise<DeleteOutcome>

  /** Returns null where the name is taken. */
  createWorkspace(name: string, now: number): Promise<Workspace | null>

  listWorkspaces(): Promise<Workspace[]>

  createApiToken(token: NewApiToken): Promise<ApiToken>

  /** Adds the API tokens if the store has none and no user group; of simultaneous calls exactly one says true. */
  createFirstApiTokens(tokens: readonly NewApiToken[]): Promise<boolean>

  findApiToken(tokenHash: Uint8Array): Promise<ApiToken | null>

  listApiTokens(): Promise<ApiToken[]>

  /** Revokes for good. A second call leaves the first time. Returns null where there is no such API token. */
  revokeApiToken(id: number, now: number): Promise<ApiToken | null>

  listSecretKeyChecks(): Promise<SecretKeyCheck[]>

  /** Keeps the check if the store has none for that key, and returns the one that it has. */
  addSecretKeyCheck(check: SecretKeyCheck): Promise<SecretKeyCheck>

  /** Resolves if the store answers. */
  ping(): Promise<void>

  /** Finishes what is under way, then lets go of the store. */
  close(): Promise<void>
}
