import type { Author } from '../audit/audit-event.ts'
import type { Environment } from '../environment.ts'
import { sameJson, type JsonText } from '../json/json-text.ts'
import type { Sealed } from '../secret-key/keyring.ts'

/** The key of a user group: the client's own id, unique within a workspace and an environment (specification 8). */
export interface UserGroupKey {
  readonly workspaceId: number
  readonly environment: Environment
  readonly providedId: string
}

/** The content of a user group, as the client sets it. */
export interface UserGroupContent {
  readonly name: string
  readonly mapping: JsonText | null
  readonly properties: JsonText | null
}

/** Returns the content as a JSON value. */
export function contentValue({ name, mapping, properties }: UserGroupContent): unknown {
  const parsed = (text: JsonText | null) => (text === null ? null : (JSON.parse(text) as unknown))
  return { name, mapping: parsed(mapping), properties: parsed(properties) }
}

/** A user group as stored. */
export interface UserGroup extends UserGroupKey, UserGroupContent {
  readonly teamId: number
  readonly token: Sealed
  /** Increases with each change of the user group, including its token. */
  readonly revision: number
  /** The author of the last change of the content; null if it was changed before authors were recorded. */
  readonly updatedBy: Author | null
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly tokenIssuedAt: number
  /** Time of suspension, during which the token is inactive for the renderer; null if not suspended. */
  readonly suspendedAt: number | null
}

/** The part of a user group that `/api/user` and introspection return. */
export type UserGroupView = UserGroupKey & UserGroupContent & Pick<UserGroup, 'teamId' | 'token'>

/** A user group without its token. */
export type TokenlessUserGroup = Omit<UserGroup, 'token'>

/** Time for which a deleted user group can be restored, in milliseconds. */
export const restorableMs = 30 * 24 * 60 * 60 * 1000

/** An earlier state of a user group. */
export interface UserGroupVersion extends UserGroupContent {
  /** The last revision with this content. */
  readonly revision: number
  readonly updatedAt: number
  readonly updatedBy: Author | null
}

export interface DeletedUserGroup extends UserGroup {
  readonly deletedAt: number
  readonly deletedBy: Author
}

/** The fields that a request sets. An omitted field stays unchanged; `null` clears it. */
export interface UserGroupChange {
  readonly name?: string
  readonly mapping?: JsonText | null
  readonly properties?: JsonText | null
}

/** Returns true if the change would leave the content unchanged. */
export function changesNothing(content: UserGroupContent, change: UserGroupChange): boolean {
  return (
    (change.name === undefined || change.name === content.name) &&
    (change.mapping === undefined || sameJson(change.mapping, content.mapping)) &&
    (change.properties === undefined || sameJson(change.properties, content.properties))
  )
}

/** Returns the names of the fields that differ. */
export function changedFields(before: UserGroupContent, after: UserGroupContent): string[] {
  return (['name', 'mapping', 'properties'] as const).filter((field) => before[field] !== after[field])
}

/** Returns the associated data of a token's encryption, which binds the encrypted token to its user group. */
export function encryptionContext({ workspaceId, environment, providedId }: UserGroupKey): string {
  return `user_group_token/${workspaceId}/${environment}/${providedId}`
}
