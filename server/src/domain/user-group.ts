import type { Environment } from './environment.ts'
import type { JsonText } from './json-text.ts'
import type { Sealed } from './keyring.ts'

/** What names a user group: the caller's id is unique within a workspace and an environment (specification 8). */
export interface UserGroupKey {
  readonly workspaceId: number
  readonly environment: Environment
  readonly providedId: string
}

/** A user group as it is kept. */
export interface UserGroup extends UserGroupKey {
  readonly teamId: number
  readonly name: string
  readonly mapping: JsonText | null
  readonly properties: JsonText | null
  readonly token: Sealed
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly tokenIssuedAt: number
}

/** What a call sets: a field that is left out stays as it is; `null` clears. */
export interface UserGroupChange {
  readonly name?: string
  readonly mapping?: JsonText | null
  readonly properties?: JsonText | null
}

/** The associated data that a user group token is sealed with, so that it opens for that user group alone. */
export function sealingContext({ workspaceId, environment, providedId }: UserGroupKey): string {
  return `user_group_token/${workspaceId}/${environment}/${providedId}`
}
