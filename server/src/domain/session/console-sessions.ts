import { hash } from 'node:crypto'
import { isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Environment } from '../environment.ts'
import type { Clock } from '../util/clock.ts'
import { Fault, WrongCredentials } from '../fault.ts'
import { randomBytes } from '../util/random.ts'
import type { Store } from '../store.ts'
import type { SignInLink } from './session-store.ts'
import { canManage } from './sign-in-link.ts'
import { hashToken, isWellFormedApiToken } from '../token/token.ts'
import type { LastUsedRecorder } from '../api-token/last-used-tracker.ts'

type Ports = Pick<Store, 'apiTokens' | 'sessions'>

/** A session expires after this time without a request, in milliseconds. */
export const sessionIdleMs = 30 * 60 * 1000
/** Maximum lifetime of a session, in milliseconds. */
export const sessionMaxMs = 12 * 60 * 60 * 1000
/** Minimum time between two writes of a session's last use, in milliseconds. Most requests of a session write nothing. */
const touchEveryMs = 60 * 1000

const secretBytes = 32

/** A session of the console, as returned to its browser. */
export interface OpenSession {
  readonly apiToken: ApiToken
  /** Required in every request that changes something. A page of another site cannot read it. */
  readonly csrfToken: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

export type NewSession = OpenSession & { readonly secret: string }

/** Secret that a browser presents as the one of its session in an environment. It may be wrong. */
export interface PresentedSecret {
  readonly environment: Environment
  readonly secret: string
}

export interface SignInOptions {
  readonly requestId: string
  /** Secrets that the browser presented with the sign-in. */
  readonly previous: readonly PresentedSecret[]
}

/**
 * The signed-in browsers of the console. A session is identified by a secret that only a cookie holds. It has the permissions of its
 * API token, expires with the token at the latest, and counts as use of the token.
 */
export class ConsoleSessions {
  readonly #store: Ports
  readonly #clock: Clock
  readonly #lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>

  constructor(parts: {
    store: Ports
    clock: Clock
    lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#lastUsedTracker = parts.lastUsedTracker
  }

  /**
   * Starts a session, which ends the previous ones of its environment.
   * @throws Fault `unauthenticated`, `forbidden` (no scope `admin`), `unavailable`
   */
  async signIn(token: string, options: SignInOptions): Promise<NewSession> {
    const apiToken = isWellFormedApiToken(token) ? await this.#store.apiTokens.find(hashToken(token)) : null
    const now = this.#clock.now()
    if (apiToken === null || !isUsable(apiToken, now)) throw new WrongCredentials(unknownTokenMessage(token))
    this.#lastUsedTracker.note(apiToken)
    if (!apiToken.scopes.includes('admin'))
      throw new Fault(
        'forbidden',
        'This API token lacks the scope "admin". Sign in with one that has it, or create one with `npx user-group-service api-token create --scopes admin`.',
      )
    const { secret, session } = newSession(apiToken, options, now)
    await this.#store.sessions.create(session)
    return { secret, ...openSession(apiToken, secret, now) }
  }

  /**
   * Returns a sign-in link without using it.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  async findLink(linkSecret: string): Promise<SignInLink> {
    const link = await this.#store.sessions.findLink(hashToken(linkSecret))
    const now = this.#clock.now()
    if (link === null || now >= link.expiresAt || !canManage(link.apiToken, now)) throw unusableLink()
    return link
  }

  /**
   * Starts a session, which ends the previous ones of its environment, and uses up the link.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  async signInByLink(linkSecret: string, options: SignInOptions): Promise<NewSession> {
    const { apiToken } = await this.findLink(linkSecret)
    const now = this.#clock.now()
    const { secret, session } = newSession(apiToken, options, now)
    if (!(await this.#store.sessions.create({ ...session, linkHash: hashToken(linkSecret) })))
      throw unusableLink()
    this.#lastUsedTracker.note(apiToken)
    return { secret, ...openSession(apiToken, secret, now) }
  }

  /** Returns null if the session is unknown or expired. @throws Fault `unavailable` */
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

function newSession(apiToken: ApiToken, { requestId, previous }: SignInOptions, now: number) {
  const secret = randomBytes(secretBytes).toString('base64url')
  const replacedHashes = previous
    .filter(({ environment }) => environment === apiToken.environment)
    .map((replaced) => hashToken(replaced.secret))
  return { secret, session: { hash: hashToken(secret), apiToken, requestId, now, replacedHashes } }
}

function unknownTokenMessage(token: string): string {
  if (token.startsWith('ugt_'))
    return 'This is a user group token, which only shows a dashboard. Sign in with an API token, which starts with "uga_".'
  return 'There is no such API token here, or it has expired or was revoked. Check that you copied all of it and that it is of this service, or create one with `npx user-group-service api-token create`.'
}

function unusableLink(): Fault {
  return new WrongCredentials(
    'This sign-in link was already used, has expired or does not exist. Create a new one with `npx user-group-service open`, or sign in with an API token.',
  )
}

/** Returns the CSRF token of the session with this secret. It identifies the session but does not reveal the secret. */
export function csrfTokenOf(secret: string): string {
  return hash('sha256', `csrf_token/${secret}`, 'base64url')
}

function openSession(apiToken: ApiToken, secret: string, createdAt: number): OpenSession {
  return {
    apiToken,
    csrfToken: csrfTokenOf(secret),
    expiresAt: Math.min(createdAt + sessionMaxMs, apiToken.expiresAt ?? Infinity),
  }
}
