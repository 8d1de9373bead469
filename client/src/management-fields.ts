import type { CallOptions } from './options.ts'
import type { AuditAction, Scope } from './managed.ts'
import type { JsonObject, Mapping } from './user-group.ts'

// What the calls of the management API take.

/** Of a call that changes one user group. */
export interface ChangeOptions extends CallOptions {
  /**
   * The `revision` of the user group that was looked at. If it has been changed since, nothing is, and the call fails with
   * `revision_mismatch`. Without it the last change stands.
   */
  readonly ifRevision?: number | undefined
}

/** What to find. All that is given must hold; all is found where nothing is. Texts have 1 to 255 characters. */
export interface UserGroupSearch {
  /** What the `userGroupId` starts with. Case counts. */
  readonly userGroupIdPrefix?: string | undefined
  /** A part of the name, in whatever case. An accent counts. */
  readonly name?: string | undefined
  /**
   * A place in the properties, as a JSON Pointer (RFC 6901) such as `/plan`; none in a list. At most 1,000 characters. Goes
   * with `propertyValue`.
   */
  readonly property?: string | undefined
  /** What is there. A text of `5` finds the number too, and one of `true` the boolean. At most 1,000 characters. */
  readonly propertyValue?: string | number | boolean | undefined
  /** The key of an entry of the mapping. Goes with `dataSource`. */
  readonly schema?: string | undefined
  /** Its value. Where the entry names what is registered, user groups that name that otherwise are found too. */
  readonly dataSource?: string | undefined
  readonly suspended?: boolean | undefined
  /** How many a page has at most: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface PageLimit {
  /** How many a page has at most: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface DataSourceSearch extends PageLimit {
  /** Only those for this schema. Default: all. */
  readonly schemaId?: number | undefined
}

/** All that is given must hold. */
export interface AuditSearch extends PageLimit {
  /** From this time on, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined
  /** Before this time. */
  readonly until?: number | undefined
  readonly teamId?: number | undefined
  /** Of the user group that has this id; where none has it any more, of those that had it. */
  readonly userGroupId?: string | undefined
  readonly action?: AuditAction | undefined
  /** Such as `api_token:3` or `cli:root`. */
  readonly author?: string | undefined
  readonly requestId?: string | undefined
}

/** What to change. A field that is left out, or undefined, stays as it is. */
export interface UserGroupChange {
  /** 1 to 255 characters. */
  readonly name?: string | undefined
  /** At most 1,000 entries. Replaced whole, never merged; null or `{}` clears it. */
  readonly mapping?: Mapping | null | undefined
  /** At most 64 KiB as JSON and 32 levels deep. Replaced whole, never merged; null clears it. */
  readonly properties?: JsonObject | null | undefined
}

export interface TokenRotation {
  /** For how long the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0, it stops at once. */
  readonly gracePeriodSeconds?: number | undefined
}

export interface VersionRange {
  /** The revision of a version. */
  readonly from: number
  /** That of another one. Default: what is now. */
  readonly to?: number | undefined
}

export interface PromotionFields {
  /** Of `Testing`: 1 to 200, each once. */
  readonly userGroupIds: readonly string[]
  /** Changes nothing, and says what would be different. Default: false. */
  readonly dryRun?: boolean | undefined
}

export interface LeakedTokenFields {
  /** A user group token or an API token: what was found, 1 to 255 characters. */
  readonly token: string
  /**
   * Stops it at once: the user group gets another token, or where this one was replaced, its grace period ends; an API token
   * is revoked for good. Default: false, it is only looked up.
   */
  readonly rotate?: boolean | undefined
}

export interface ApiTokenFields {
  /** What it is for: 1 to 255 characters. Others may have the same. */
  readonly name: string
  /** What it may do: one at least. */
  readonly scopes: readonly Scope[]
  /** For how long it is valid: 1 to 315360000, ten years. Default: for good. */
  readonly expiresInSeconds?: number | undefined
}

export interface ApiTokenRotation {
  /** For how long the old one works on, in whole seconds: 0 to 2592000, 30 days. Default: 86400, a day. */
  readonly overlapSeconds?: number | undefined
}

export interface WorkspaceFields {
  /** 1 to 255 characters; no other workspace has the same. */
  readonly name: string
}

export interface SchemaFields {
  /** Your id of it: 1 to 255 characters. */
  readonly providedId: string
  /** 1 to 255 characters. */
  readonly name: string
}

export interface DataSourceFields extends SchemaFields {
  /** The schema that it is for. */
  readonly schemaId: number
}
