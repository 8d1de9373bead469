import { hash } from 'node:crypto'
import { isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Clock } from '../util/clock.ts'
import { Fault } from '../fault.ts'
import { randomBytes } from '../util/random.ts'
import type { Store } from '../store.ts'
import { hashToken, isWellFormedToken } from '../token/token.ts'
import type { LastUsedRecorder } from '../api-token/last-used-tracker.ts'

/** After how long without a call a session ends, and after how long in any case, in milliseconds. */
export const sessionIdleMs = 30 * 60 * 1000
export const sessionMaxMs = 12 * 60 * 60 * 1000
/** A use is written down when the last one is as long ago, so that reading seldom writes. */
const touchEveryMs = 60 * 1000

const secretBytes = 32

/** A session of the console, as its holder knows it. */
export interface OpenSession {
  readonly apiToken: ApiToken
  /** Goes with every call that changes anything: another site's page cannot know it. */
  readonly csrfToken: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * Who is signed in to the console, by a secret that only a cookie holds. A session does what its API token may do, ends with it, and
 * is a use of it.
 */
export class ConsoleSessions {
  readonly #store: Store
  readonly #clock: Clock
  readonly #lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>

  constructor(parts: {
    store: Store
    clock: Clock
    lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#lastUsedTracker = parts.lastUsedTracker
  }

  /** @throws Fault `unauthenticated`, `forbidden` (no scope `admin`), `unavailable` */
  async signIn(token: string, requestId: string): Promise<OpenSession & { readonly secret: string }> {
    const apiToken = isWellFormedToken('api', token)
      ? await this.#store.apiTokens.find(hashToken(token))
      : null
    const now = this.#clock.now()
    if (apiToken === null || !isUsable(apiToken, now))
      throw new Fault('unauthenticated', 'api_token: must be a valid API token')
    this.#lastUsedTracker.note(apiToken)
    if (!apiToken.scopes.includes('admin'))
      throw new Fault('forbidden', 'This API token lacks the scope "admin"')
    const secret = randomBytes(secretBytes).toString('base64url')
    await this.#store.sessions.create({ hash: hashToken(secret), apiToken, requestId, now })
    return { secret, ...openSession(apiToken, secret, now) }
  }

  /** Null where the session is unknown or over. @throws Fault `unavailable` */
  async find(secret: string): Promise<OpenSession | null> {
    const session = await this.#store.sessions.find(hashToken(secret))
    if (session === null) return null
    const { apiToken, createdAt, lastUsedAt } = session
    const now = this.#clock.now()
    if (!isUsable(apiToken, now) || now >= lastUsedAt + sessionIdleMs || now >= createdAt + sessionMaxMs)
      return null
    this.#lastUsedTracker.note(apiToken)
    if (now >= lastUsedAt + touchEveryMs) await this.#store.sessions.touch(hashToken(secret), now)
    return openSession(apiToken, secret, createdAt)
  }

  /** @throws Fault `unavailable` */
  signOut(secret: string): Promise<void> {
    return this.#store.sessions.delete(hashToken(secret))
  }
}

function openSession(apiToken: ApiToken, secret: string, createdAt: number): OpenSession {
  const csrfToken = hash('sha256', `csrf_token/${secret}`, 'base64url')
  return {
    apiToken,
    csrfToken,
    expiresAt: Math.min(createdAt + sessionMaxMs, apiToken.expiresAt ?? Infinity),
  }
}
