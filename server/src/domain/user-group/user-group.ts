import type { Author } from '../audit/audit-event.ts'
import type { Environment } from '../environment.ts'
import { sameJson, type JsonText } from '../json/json-text.ts'
import type { Sealed } from '../secret-key/keyring.ts'

/** What names a user group: the caller's id is unique within a workspace and an environment (specification 8). */
export interface UserGroupKey {
  readonly workspaceId: number
  readonly environment: Environment
  readonly providedId: string
}

/** What a user group is, as its owner describes it. */
export interface UserGroupContent {
  readonly name: string
  readonly mapping: JsonText | null
  readonly properties: JsonText | null
}

/** The same as a JSON value. */
export function contentValue({ name, mapping, properties }: UserGroupContent): unknown {
  const parsed = (text: JsonText | null) => (text === null ? null : (JSON.parse(text) as unknown))
  return { name, mapping: parsed(mapping), properties: parsed(properties) }
}

/** A user group as it is kept. */
export interface UserGroup extends UserGroupKey, UserGroupContent {
  readonly teamId: number
  readonly token: Sealed
  /** Goes up with each change of the user group, its token included. */
  readonly revision: number
  /** Whose call made the content what it is; null where that was not kept yet. */
  readonly updatedBy: Author | null
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly tokenIssuedAt: number
  /** While it is set, the token is inactive for the renderer. */
  readonly suspendedAt: number | null
}

/** What is shown of a user group to whoever views with its token. */
export type UserGroupView = UserGroupKey & UserGroupContent & Pick<UserGroup, 'teamId' | 'token'>

/** All of it but its token. */
export type TokenlessUserGroup = Omit<UserGroup, 'token'>

/** For how long a deleted user group may be restored, in milliseconds. */
export const restorableMs = 30 * 24 * 60 * 60 * 1000

/** What a user group was earlier. */
export interface UserGroupVersion extends UserGroupContent {
  /** The last one at which it was so. */
  readonly revision: number
  readonly updatedAt: number
  readonly updatedBy: Author | null
}

export interface DeletedUserGroup extends UserGroup {
  readonly deletedAt: number
  readonly deletedBy: Author
}

/** What a call sets: a field that is left out stays as it is; `null` clears. */
export interface UserGroupChange {
  readonly name?: string
  readonly mapping?: JsonText | null
  readonly properties?: JsonText | null
}

/** Whether a user group is already what a change would make of it. */
export function changesNothing(content: UserGroupContent, change: UserGroupChange): boolean {
  return (
    (change.name === undefined || change.name === content.name) &&
    (change.mapping === undefined || sameJson(change.mapping, content.mapping)) &&
    (change.properties === undefined || sameJson(change.properties, content.properties))
  )
}

/** The names of the fields that are different. */
export function changedFields(before: UserGroupContent, after: UserGroupContent): string[] {
  return (['name', 'mapping', 'properties'] as const).filter((field) => before[field] !== after[field])
}

/** The associated data that a user group token is sealed with, so that it opens for that user group alone. */
export function encryptionContext({ workspaceId, environment, providedId }: UserGroupKey): string {
  return `user_group_token/${workspaceId}/${environment}/${providedId}`
}
