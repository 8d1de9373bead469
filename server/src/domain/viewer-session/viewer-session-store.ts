import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroupLocation } from '../user-group/location.ts'
import type { SecretKeyRetired } from '../user-group/user-group-store.ts'
import type { SigningKey } from './signing-key.ts'

/** The keys that sign viewer sessions, and the sessions that were ended. No session itself is stored. */
export interface ViewerSessionStore {
  /** Returns the keys of a workspace and environment, retired ones included, from the first to the latest. */
  listKeys(scope: TenantScope): Promise<readonly SigningKey[]>

  /**
   * Adds a key and retires the others. Changes nothing if the latest key is no longer `expectedKeyId`, so that of simultaneous rotations
   * one takes effect.
   */
  addKey(command: AddSigningKey): Promise<'added' | 'superseded' | SecretKeyRetired>

  /** Returns true if the key has been retired by `now`, or sessions of the subjects that were issued at `issuedAt` have been ended. */
  isOver(session: IssuedSession): Promise<boolean>

  /** Appends the audit event of a session in which an operator looks at what a user group sees. */
  recordViewAs(view: ViewAs): Promise<void>

  /** Deletes the keys that were retired, and the ends of sessions, at `endedBefore` or earlier. Returns how many. */
  deleteExpired(endedBefore: number): Promise<number>
}

export interface AddSigningKey extends Actor {
  readonly key: SigningKey
  /** Null if there is no key yet. */
  readonly expectedKeyId: string | null
  readonly othersRetiredAt: number
  readonly now: number
}

interface ViewAs extends TenantScope, Actor {
  readonly userGroup: { readonly teamId: number; readonly providedId: string }
  readonly viewerId: string
  readonly sessionId: string
  readonly now: number
}

export interface IssuedSession extends TenantScope, UserGroupLocation {
  readonly signingKeyId: string
  readonly subjects: readonly string[]
  readonly issuedAt: number
  readonly now: number
}
