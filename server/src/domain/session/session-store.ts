import type { ApiToken } from '../api-token/api-token.ts'

/** Console sessions, found by the SHA-256 of their secret. */
export interface SessionStore {
  create(session: NewConsoleSession): Promise<void>

  /** Returns the session, even if it has expired. */
  find(hash: Uint8Array): Promise<ConsoleSession | null>

  /** Sets the time of last use to `now`. */
  touch(hash: Uint8Array, now: number): Promise<void>

  delete(hash: Uint8Array): Promise<void>

  /** Deletes the sessions last used at `usedBefore` or earlier and returns how many. */
  deleteUnused(usedBefore: number): Promise<number>
}

export interface ConsoleSession {
  readonly apiToken: ApiToken
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly lastUsedAt: number
}

export interface NewConsoleSession {
  readonly hash: Uint8Array
  readonly apiToken: Pick<ApiToken, 'id' | 'workspaceId' | 'environment'>
  readonly requestId: string
  readonly now: number
}
