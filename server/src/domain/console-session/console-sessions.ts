import { hash } from 'node:crypto'
import { hasManagementScope, isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Environment } from '../environment.ts'
import type { Clock } from '../util/clock.ts'
import { Fault, WrongCredentials } from '../fault.ts'
import { randomBytes } from '../util/random.ts'
import type { Store } from '../store.ts'
import { isPerson, type Person, type Principal } from '../principal.ts'
import type { ConsoleSession, SignInLink } from './console-session-store.ts'
import { canManage } from './sign-in-link.ts'
import { hashToken, isWellFormedApiToken } from '../token/token.ts'
import type { LastUsedRecorder } from '../api-token/last-used-tracker.ts'

type Ports = Pick<Store, 'apiTokens' | 'consoleSessions'>

/** A session expires after this time without a request, in milliseconds. */
export const sessionIdleMs = 30 * 60 * 1000
/** Maximum lifetime of a session of an API token, in milliseconds. */
export const sessionMaxMs = 12 * 60 * 60 * 1000
/** Maximum lifetime of a session of a person, whose roles are those of the sign-in, in milliseconds. */
export const personSessionMaxMs = 8 * 60 * 60 * 1000
/** Minimum time between two writes of a session's last use, in milliseconds. Most requests of a session write nothing. */
const touchEveryMs = 60 * 1000

const secretBytes = 32

/** A session of the console, as returned to its browser. */
export interface OpenSession {
  readonly principal: Principal
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

export interface PersonSignInOptions {
  readonly requestId: string
  /** Hashes of the secrets of sessions, of any environment, that end when this one starts. */
  readonly replacedHashes: readonly Uint8Array[]
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
   * @throws Fault `unauthenticated`, `forbidden` (no scope of the management API), `unavailable`
   */
  async signIn(token: string, options: SignInOptions): Promise<NewSession> {
    const apiToken = isWellFormedApiToken(token) ? await this.#store.apiTokens.find(hashToken(token)) : null
    const now = this.#clock.now()
    if (apiToken === null || !isUsable(apiToken, now)) throw new WrongCredentials(unknownTokenMessage(token))
    this.#lastUsedTracker.note(apiToken)
    if (!hasManagementScope(apiToken))
      throw new Fault(
        'forbidden',
        'This API token lacks the scope "observe", "support" or "admin". Sign in with one that has it, or create one with `npx user-group-service api-token create --scopes admin`.',
      )
    const { secret, session } = newSession(apiToken, options.requestId, now)
    const replacedHashes = hashesOf(apiToken.environment, options.previous)
    await this.#store.consoleSessions.create({ ...session, replacedHashes })
    return { secret, ...openSession(apiToken, secret, now) }
  }

  /**
   * Returns a sign-in link without using it.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  async findLink(linkSecret: string): Promise<SignInLink> {
    const link = await this.#store.consoleSessions.findLink(hashToken(linkSecret))
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
    const { secret, session } = newSession(apiToken, options.requestId, now)
    const replacedHashes = hashesOf(apiToken.environment, options.previous)
    const linkHash = hashToken(linkSecret)
    if (!(await this.#store.consoleSessions.create({ ...session, replacedHashes, linkHash })))
      throw unusableLink()
    this.#lastUsedTracker.note(apiToken)
    return { secret, ...openSession(apiToken, secret, now) }
  }

  /**
   * Starts a session of a person.
   * @param rule the claim value whose rule gave the role
   * @throws Fault `unavailable`
   */
  async signInPerson(person: Person, rule: string, options: PersonSignInOptions): Promise<NewSession> {
    const now = this.#clock.now()
    const { secret, session } = newSession(person, options.requestId, now)
    await this.#store.consoleSessions.create({ ...session, rule, replacedHashes: options.replacedHashes })
    return { secret, ...openSession(person, secret, now) }
  }

  /**
   * Returns null if the session is unknown or expired. Its use counts as use of the other sessions of the same browser.
   * @throws Fault `unavailable`
   */
  async find(secret: string, others: readonly PresentedSecret[] = []): Promise<OpenSession | null> {
    const session = await this.#store.consoleSessions.find(hashToken(secret))
    if (session === null) return null
    const { principal, createdAt, lastUsedAt } = session
    const now = this.#clock.now()
    if (!isOpen(session, now)) return null
    if (!isPerson(principal)) this.#lastUsedTracker.note(principal)
    if (now >= lastUsedAt + touchEveryMs) {
      await this.#store.consoleSessions.touch(hashToken(secret), now)
      await Promise.all(others.map((other) => this.find(other.secret)))
    }
    return openSession(principal, secret, createdAt)
  }

  /** @throws Fault `unavailable` */
  signOut(secret: string): Promise<void> {
    return this.#store.consoleSessions.delete(hashToken(secret))
  }
}

function newSession(principal: Principal, requestId: string, now: number) {
  const secret = randomBytes(secretBytes).toString('base64url')
  return { secret, session: { hash: hashToken(secret), principal, requestId, now } }
}

function hashesOf(environment: Environment, previous: readonly PresentedSecret[]): Buffer[] {
  return previous.filter((one) => one.environment === environment).map(({ secret }) => hashToken(secret))
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

function openSession(principal: Principal, secret: string, createdAt: number): OpenSession {
  return { principal, csrfToken: csrfTokenOf(secret), expiresAt: expiryOf(principal, createdAt) }
}

export function expiryOf(principal: Principal, createdAt: number): number {
  if (isPerson(principal)) return createdAt + personSessionMaxMs
  return Math.min(createdAt + sessionMaxMs, principal.expiresAt ?? Infinity)
}

export function isOpen({ principal, createdAt, lastUsedAt }: ConsoleSession, now: number): boolean {
  const isRecent = now < lastUsedAt + sessionIdleMs && now < expiryOf(principal, createdAt)
  return isRecent && (isPerson(principal) || isUsable(principal, now))
}
