import type { ApiToken } from './api-token/api-token.ts'
import type { Actor } from './audit/audit-event.ts'
import type {
  DataSource,
  MappingEntry,
  MappingMode,
  RegisteredEntry,
  ResolvedEntry,
  Schema,
} from './data-source/data-source.ts'
import type { Environment } from './environment.ts'
import type { Sealed } from './secret-key/keyring.ts'
import type {
  TokenlessUserGroup,
  UserGroup,
  UserGroupChange,
  UserGroupKey,
  UserGroupView,
} from './user-group/user-group.ts'
import type { Workspace } from './workspace.ts'

/** A session of the console, as it is kept: found by the SHA-256 of its secret. */
export interface ConsoleSession {
  readonly apiToken: ApiToken
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly lastUsedAt: number
}

/** What has had its time. Milliseconds since the Unix epoch. */
export interface Expiry {
  /** Idempotency keys that expire then, or before. */
  readonly now: number
  /** User groups that were deleted then, or before. */
  readonly deletedBefore: number
  /** Sessions of the console that were last used then, or before. */
  readonly usedBefore: number
}

/** A fresh user group token, as the store takes it. */
export interface MintedToken extends Sealed {
  readonly hash: Uint8Array
}

/**
 * Makes a fresh token for a user group. A store calls it inside an operation. If it starts that over, it may call it
 * again only where it knows that the first token was not kept.
 */
export type MintToken = (key: UserGroupKey) => MintedToken

export interface GetOrCreateUserGroup extends Actor {
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
  | { readonly outcome: 'created' | 'updated'; readonly userGroup: UserGroup }
  // Most calls are such: no more is read than is answered.
  | { readonly outcome: 'unchanged'; readonly userGroup: UserGroupView; readonly stamp: ChangeStamp }
  | { readonly outcome: 'name_required' | 'write_required' }
  | UnregisteredMapping
  | SecretKeyRetired

/** The mapping that was sent names what is not registered. Only with the mode `registered`. */
export interface UnregisteredMapping {
  readonly outcome: 'mapping_unregistered'
  /** Those at fault. */
  readonly entries: readonly ResolvedEntry[]
}

/** The token that was minted is sealed with a secret key that is to seal nothing more. */
export interface SecretKeyRetired {
  readonly outcome: 'secret_key_retired'
  readonly keyId: string
}

/** Which user group a change is meant for, as the caller knows it: another one, or a later revision, is left alone. */
export interface ExpectedUserGroup {
  readonly teamId: number
  /** Any where it is left out. */
  readonly revision?: number
}

/** The user group is no longer as the caller knows it. */
interface RevisionMismatch {
  readonly outcome: 'revision_mismatch'
}

export interface UpdateUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  readonly change: UserGroupChange
  /** `free` where it is left out. */
  readonly mappingMode?: MappingMode
  readonly now: number
}

export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'unchanged'; readonly userGroup: UserGroup }
  | { readonly outcome: 'not_found' }
  | RevisionMismatch
  | UnregisteredMapping

export interface SuspendUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  /** False resumes it. */
  readonly suspended: boolean
  readonly now: number
}

export type SuspendOutcome = Exclude<UpdateOutcome, UnregisteredMapping>

export interface DeleteUserGroup extends Actor {
  readonly key: UserGroupKey
  readonly expected?: ExpectedUserGroup
  readonly now: number
}

export interface RestoreUserGroup extends Actor {
  readonly workspaceId: number
  readonly environment: Environment
  readonly teamId: number
  /** One that was deleted then, or before, is gone. */
  readonly deletedAfter: number
  readonly now: number
}

export type RestoreOutcome =
  | { readonly outcome: 'restored'; readonly userGroup: UserGroup }
  | { readonly outcome: 'not_found' | 'id_taken' }

export interface RotateUserGroupToken extends Actor {
  readonly workspaceId: number
  readonly environment: Environment
  /** The user group to rotate: by its current token, or (for an operator) by its id. */
  readonly target:
    | { readonly tokenHash: Uint8Array }
    | { readonly providedId: string; readonly expected?: ExpectedUserGroup }
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
  | RevisionMismatch
  | SecretKeyRetired

/**
 * What tells the state in which a user group was read, and that of the registry with it, from all earlier and later ones. Without a space;
 * of use only to the process that read it.
 */
export type ChangeStamp = string

/** A token's user group, as it is now. */
export interface TokenOwner {
  readonly userGroup: TokenlessUserGroup
  readonly issuedAt: number
  /** Until when the token is valid where it was replaced (`null`: it is the current one). */
  readonly validUntil: number | null
  /** Those entries of the user group's mapping that name what is registered. */
  readonly dataSources: readonly RegisteredEntry[]
  readonly stamp: ChangeStamp
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

/** What user groups are searched for by; all that is given must hold. */
export interface UserGroupFilter {
  /** Case counts. */
  readonly providedIdPrefix?: string
  /** A part of the name, in whatever case. */
  readonly namePart?: string
  /** A string, or a number or boolean as JSON writes it, at a place in the properties. */
  readonly property?: { readonly path: readonly string[]; readonly value: string }
  /** Entries of which the mapping has one. */
  readonly mappedTo?: readonly MappingEntry[]
  readonly suspended?: boolean
}

export interface SearchUserGroups {
  readonly workspaceId: number
  readonly environment: Environment
  readonly filter: UserGroupFilter
  /** As a search with the same filter returned it; null begins. */
  readonly position: string | null
  readonly limit: number
}

export interface SearchResult {
  readonly userGroups: readonly UserGroup[]
  /** Where to go on; null where there is no more. */
  readonly position: string | null
}

export interface ListVersions {
  readonly workspaceId: number
  readonly teamId: number
  /** Lists what comes before, the newest first. */
  readonly beforeRevision: number | null
  readonly limit: number
}

export interface ListDeletedUserGroups {
  readonly workspaceId: number
  readonly environment: Environment
  readonly deletedAfter: number
  readonly afterTeamId: number | null
  readonly limit: number
}

/** That a renderer asked about a user group. */
export interface Introspection {
  readonly workspaceId: number
  readonly teamId: number
  readonly introspectedAt: number
}

/** Whose token it is or was, whether it works or not. */
export interface IssuedToken {
  readonly userGroup: TokenlessUserGroup
  /** Until when it is valid, or was, where it was replaced (`null`: it is the current one). */
  readonly validUntil: number | null
}

export interface ListDataSources {
  readonly workspaceId: number
  readonly environment: Environment
  /** Of any schema where it is left out. */
  readonly schemaId?: number
  /** Only those with higher ids; null begins. */
  readonly afterId: number | null
  readonly limit: number
}

export interface ListSharedDataSources {
  readonly workspaceId: number
  readonly environment: Environment
  /** Looks at data sources with higher ids; null begins. */
  readonly afterId: number | null
}

export interface SharedDataSources {
  /** In the order of ids. By the words of mappings alone: what they mean is for the caller to look up. */
  readonly dataSources: readonly (DataSource & { readonly schemaProvidedId: string })[]
  /** Where to go on; null where there is no more. */
  readonly afterId: number | null
}

export interface CountEntries {
  readonly workspaceId: number
  readonly environment: Environment
  /** Counts what comes after this entry; null begins. */
  readonly after: MappingEntry | null
}

export interface EntryCounts {
  /** In the order of keys: how many mappings have each entry. Of the last one there may be more. */
  readonly counts: readonly { readonly entry: MappingEntry; readonly count: number }[]
  readonly isEnd: boolean
}

export type NewSchema = Omit<Schema, 'id'> & Actor

export type NewDataSource = Omit<DataSource, 'id'> &
  Actor & { readonly workspaceId: number; readonly environment: Environment }

/** Removes a schema or a data source. */
export interface DeleteRegistered extends Actor {
  readonly workspaceId: number
  readonly environment: Environment
  readonly id: number
  readonly now: number
}

export type NewApiToken = Omit<ApiToken, 'id' | 'revokedAt' | 'lastUsedAt' | 'replacedBy' | 'rateLimit'> &
  Partial<Pick<ApiToken, 'rateLimit'>> &
  Actor & { readonly tokenHash: Uint8Array }

export interface RevokeApiToken extends Actor {
  readonly id: number
  readonly now: number
}

/** Gives an API token a limit of its own, or, with null, the service's again. */
export interface LimitApiToken extends Actor, Pick<ApiToken, 'id' | 'rateLimit'> {
  readonly now: number
}

/** Makes an API token that does what another one may, and has that one end. */
export interface RotateApiToken extends Actor {
  readonly id: number
  readonly tokenHash: Uint8Array
  /** Until when the old one works, unless it ends before. */
  readonly oldTokenValidUntil: number
  readonly now: number
}

export type RotateApiTokenOutcome =
  | { readonly outcome: 'rotated'; readonly apiToken: ApiToken; readonly oldApiToken: ApiToken }
  | { readonly outcome: 'superseded'; readonly replacedBy: number }
  | { readonly outcome: 'unusable' }
  | { readonly outcome: 'not_found' }

/** That an API token was used. */
export interface ApiTokenUse {
  readonly id: number
  readonly usedAt: number
}

export interface NewWorkspace extends Actor {
  readonly name: string
  readonly createdAt: number
  /** Whose audit log tells of it. */
  readonly environment: Environment
  /** An API token that it is to have from its first moment on. */
  readonly apiToken?: Omit<NewApiToken, 'workspaceId' | keyof Actor>
}

export interface CreatedWorkspace {
  readonly workspace: Workspace
  /** Where one was asked for. */
  readonly apiToken: ApiToken | null
}

export interface EndGracePeriod extends Actor {
  readonly workspaceId: number
  readonly environment: Environment
  readonly tokenHash: Uint8Array
  readonly now: number
}

export interface NewConsoleSession {
  readonly hash: Uint8Array
  readonly apiToken: Pick<ApiToken, 'id' | 'workspaceId' | 'environment'>
  readonly requestId: string
  readonly now: number
}

export interface ListAuditEvents {
  readonly workspaceId: number
  readonly environment: Environment
  /** Of any user group, and of what is none, where it is left out. */
  readonly teamId?: number
  /** Milliseconds since the Unix epoch: from then on. */
  readonly since: number
  /** Only events before this id, the newest first. */
  readonly beforeEventId: string
  readonly limit: number
}

export interface PruneAuditEvents extends Actor {
  readonly workspaceId: number
  readonly environment: Environment
  /** Milliseconds since the Unix epoch: what is older is removed. */
  readonly before: number
  readonly now: number
}

/** A known text, sealed with a secret key when the key was first used: it tells later whether a key is the same. */
export type SecretKeyCheck = Sealed
