import type { ApiToken } from '../api-token/api-token.ts'
import type { Actor } from '../audit/audit-event.ts'
import type { Person, Principal } from '../principal.ts'
import type { TenantScope } from '../tenant-scope.ts'

/** Console sessions and links that create one, found by the SHA-256 of their secret. */
export interface ConsoleSessionStore {
  /**
   * Creates a session, deletes those that it replaces, and returns true. With `linkHash`, deletes that sign-in link in the same
   * transaction, and changes nothing and returns false if it is gone: of simultaneous uses of a link exactly one succeeds.
   */
  create(session: NewConsoleSession): Promise<boolean>

  /** Returns the session, even if it has expired. */
  find(hash: Uint8Array): Promise<ConsoleSession | null>

  /** Returns the sessions of a workspace and environment, also expired ones, the newest first. */
  list(tenantScope: TenantScope): Promise<ConsoleSession[]>

  /** Deletes a session with an audit event. Returns false if it is unknown. */
  end(command: Actor & TenantScope & { readonly hash: Uint8Array; readonly now: number }): Promise<boolean>

  /** Sets the time of last use to `now`. */
  touch(hash: Uint8Array, now: number): Promise<void>

  delete(hash: Uint8Array): Promise<void>

  createLink(link: NewSignInLink): Promise<void>

  /** Returns the sign-in link, even if it has expired. */
  findLink(hash: Uint8Array): Promise<SignInLink | null>

  /** Deletes the sessions last used at `usedBefore` or earlier and the links that expired by `now`. Returns how many. */
  deleteExpired(usedBefore: number, now: number): Promise<number>
}

export interface ConsoleSession {
  readonly hash: Uint8Array
  readonly principal: Principal
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly lastUsedAt: number
}

export interface NewConsoleSession {
  readonly hash: Uint8Array
  readonly principal: Pick<ApiToken, 'id' | 'workspaceId' | 'environment'> | Person
  /** The claim value whose rule gave a person the role. */
  readonly rule?: string
  readonly requestId: string
  readonly now: number
  /** Sessions that end when this one starts. */
  readonly replacedHashes?: readonly Uint8Array[]
  /** The sign-in link that this session uses up. */
  readonly linkHash?: Uint8Array
}

export interface SignInLink {
  readonly apiToken: ApiToken
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

export interface NewSignInLink extends Actor {
  readonly hash: Uint8Array
  readonly apiToken: Pick<ApiToken, 'id' | 'name' | 'workspaceId' | 'environment'>
  readonly expiresAt: number
  readonly now: number
}
