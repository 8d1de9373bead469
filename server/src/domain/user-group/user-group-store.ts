import type { Actor } from '../audit/audit-event.ts'
import type { MappingMode, RegisteredEntry, ResolvedEntry } from '../data-source/data-source.ts'
import type { Environment } from '../environment.ts'
import type { Sealed } from '../secret-key/keyring.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { SessionSubject } from '../viewer-session/ended-session.ts'
import type { UserGroupLocation } from './location.ts'
import type {
  TokenlessUserGroup,
  UserGroup,
  UserGroupChange,
  UserGroupKey,
  UserGroupView,
} from './user-group.ts'

/** User groups and their tokens. The rules of the writing operations are in `decisions.ts`. */
export interface UserGroupStore {
  /**
   * Creates the user group or updates it to match the request. If several calls create the same user group at once,
   * exactly one returns `created`, and all return the same token. Writes nothing if nothing changes.
   */
  getOrCreate(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome>

  /** Runs `getOrCreate` for each command, in no particular order. The commands are separate operations. */
  getOrCreateMany(commands: readonly GetOrCreateUserGroup[]): Promise<readonly GetOrCreateOutcome[]>

  /** Changes an existing user group. Simultaneous changes of one field never mix: the last one wins. */
  update(command: UpdateUserGroup): Promise<UpdateOutcome>

  /** Suspends or resumes the user group. Writes nothing if nothing changes. */
  suspend(command: SuspendUserGroup): Promise<SuspendOutcome>

  /** Ends viewer sessions that were issued at `now` or earlier. It is a new revision, which makes cached responses stale. */
  endSessions(command: EndViewerSessions): Promise<EndSessionsOutcome>

  /**
   * Replaces the token. Of simultaneous rotations of one token, exactly one returns `rotated` and the others
   * `superseded`. The old token's deadline is set once; only `endGracePeriod` moves it. With an idempotency key, the
   * rotation and the record of its response are one transaction: a retry returns `replayed` with the first response.
   */
  rotate(command: RotateUserGroupToken): Promise<RotateOutcome>

  /** Ends the grace period of a superseded token at `now`, if it has not ended. */
  endGracePeriod(command: EndGracePeriod): Promise<void>

  /**
   * Deletes the user group. All its tokens are unknown from then on. The user group and its versions are kept until they
   * are restored or `UserGroupHistoryStore.deleteExpired` removes them.
   */
  delete(command: DeleteUserGroup): Promise<'deleted' | 'not_found' | 'revision_mismatch'>

  /** Restores a deleted user group with its current token. Superseded tokens stay unknown. */
  restore(command: RestoreUserGroup): Promise<RestoreOutcome>

  find(key: UserGroupKey): Promise<UserGroup | null>

  findById(workspaceId: number, environment: Environment, teamId: number): Promise<UserGroup | null>

  /** Returns user groups, in order of `user_group_id`. */
  list(query: ListUserGroups): Promise<UserGroup[]>

  /** Returns the user group of a token that is current, or within its grace period at `now`. Never reads a cache. */
  findByToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
    now: number,
  ): Promise<TokenOwner | null>

  /** Returns the user group at a location, unless it is suspended. Never reads a cache. */
  findActive(
    workspaceId: number,
    environment: Environment,
    location: UserGroupLocation,
  ): Promise<ActiveUserGroup | null>

  /** Returns the user group that a current or superseded token belongs to. */
  identifyToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
  ): Promise<IdentifiedToken | null>

  /**
   * Returns true only if the user group and its resolved mapping are as they were when this state was read.
   * May return false although nothing changed. Never reads a cache.
   */
  isUnchanged(workspaceId: number, environment: Environment, state: UserGroupState): Promise<boolean>
}

/** A user group token, as the store looks it up: by its location, verified by its SHA-256. */
export interface TokenReference extends UserGroupLocation {
  readonly hash: Uint8Array
}

/** A new user group token, as the store receives it. */
export interface NewToken extends Sealed {
  readonly hash: Uint8Array
}

/**
 * Generates a token for a user group at a location. A store calls it within an operation, and calls it again only if it knows
 * that the first token was not stored.
 */
export type IssueToken = (key: UserGroupKey, location: UserGroupLocation) => NewToken

export interface GetOrCreateUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly change: UserGroupChange
  /** If false, an operation that would write returns `write_required` instead. */
  readonly mayWrite: boolean
  /** If false, an operation that would change an existing user group returns `write_required`. Default: `mayWrite`. */
  readonly mayChange?: boolean
  /** Not checked if left out. */
  readonly mappingMode?: MappingMode
  readonly issueToken: IssueToken
  readonly now: number
}

export type GetOrCreateOutcome =
  | { readonly outcome: 'created' | 'updated'; readonly userGroup: UserGroup }
  // Nearly all requests end here, so the store reads only the columns of the response.
  | { readonly outcome: 'unchanged'; readonly userGroup: UserGroupView; readonly state: UserGroupState }
  | { readonly outcome: 'name_required' | 'write_required' }
  | RefusedMapping
  | SecretKeyRetired

/** The mapping names a registered schema twice or, in registered mode, something that is not registered. */
export interface RefusedMapping {
  readonly outcome: 'mapping_refused'
  /** Entries for which the mapping is refused. */
  readonly entries: readonly ResolvedEntry[]
}

/** The new token is encrypted with a retired secret key. */
export interface SecretKeyRetired {
  readonly outcome: 'secret_key_retired'
  readonly keyId: string
}

/** The user group that the caller knows. A command for another user group or an older revision changes nothing. */
export interface ExpectedUserGroup {
  readonly teamId: number
  /** Any revision if left out. */
  readonly revision?: number
}

interface RevisionMismatch {
  readonly outcome: 'revision_mismatch'
}

export interface UpdateUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  readonly change: UserGroupChange
  /** Not checked if left out. */
  readonly mappingMode?: MappingMode
  readonly now: number
}

export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'unchanged'; readonly userGroup: UserGroup }
  | { readonly outcome: 'not_found' }
  | RevisionMismatch
  | RefusedMapping

export interface SuspendUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  /** False resumes the user group. */
  readonly suspended: boolean
  readonly now: number
}

export type SuspendOutcome = Exclude<UpdateOutcome, RefusedMapping>

export interface EndViewerSessions extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  readonly subject: SessionSubject
  readonly now: number
}

export type EndSessionsOutcome = Exclude<SuspendOutcome, { outcome: 'unchanged' }>

export interface DeleteUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  readonly now: number
}

export interface RestoreUserGroup extends TenantScope, Actor {
  readonly teamId: number
  /** User groups deleted at this time or earlier cannot be restored. */
  readonly deletedAfter: number
  readonly now: number
}

export type RestoreOutcome =
  | { readonly outcome: 'restored'; readonly userGroup: UserGroup }
  | { readonly outcome: 'not_found' | 'id_taken' }

export interface RotateUserGroupToken extends TenantScope, Actor {
  /** The user group to rotate: by its current token, or (for an operator) by its id. */
  readonly target:
    | { readonly token: TokenReference }
    | { readonly providedId: string; readonly expected?: ExpectedUserGroup }
  /** End of the grace period; equal to `now` if the old token stops at once. */
  readonly oldTokenValidUntil: number
  /** Idempotency keys are scoped to the user group. */
  readonly idempotency?: {
    readonly keyHash: Uint8Array
    /** Digest of the request. The same key with another fingerprint is refused. */
    readonly fingerprint: Uint8Array
    /** End of the time in which a retry gets the first response. */
    readonly expiresAt: number
  }
  readonly issueToken: IssueToken
  readonly now: number
}

/** A user group as of its rotation: the response that a retry with the same idempotency key gets. */
export interface RotatedUserGroup extends UserGroupKey {
  readonly teamId: number
  readonly name: string
  readonly token: Sealed
}

export type RotateOutcome =
  | { readonly outcome: 'rotated' | 'replayed'; readonly userGroup: RotatedUserGroup }
  | { readonly outcome: 'superseded' | 'not_found' | 'idempotency_key_reused' }
  | RevisionMismatch
  | SecretKeyRetired

export interface EndGracePeriod extends TenantScope, Actor {
  readonly token: TokenReference
  readonly now: number
}

export interface ListUserGroups extends TenantScope {
  /** Lists user groups after this id, by code point; null starts at the beginning. */
  readonly afterProvidedId: string | null
  readonly limit: number
}

/**
 * A text that changes when a user group or its registry changes. It contains no space and is valid only in the process
 * that read it.
 */
export type ChangeStamp = string

/** State of a user group that was read, for `isUnchanged`. */
export interface UserGroupState {
  readonly location: UserGroupLocation
  readonly stamp: ChangeStamp
}

/** A user group as it is now. */
export interface ActiveUserGroup {
  readonly userGroup: TokenlessUserGroup
  readonly state: UserGroupState
  /** Entries of the mapping that name a registered data source. */
  readonly dataSources: readonly RegisteredEntry[]
}

/** A token's user group, as it is now. */
export interface TokenOwner extends ActiveUserGroup {
  readonly issuedAt: number
  /** End of a superseded token's validity; null for the current token. */
  readonly validUntil: number | null
}

/** The user group that a token belongs or belonged to, whether or not the token is valid. */
export interface IdentifiedToken {
  readonly userGroup: TokenlessUserGroup
  /** End of a superseded token's validity; null for the current token. */
  readonly validUntil: number | null
}
