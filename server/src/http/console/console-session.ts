import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  csrfTokenOf,
  sessionMaxMs,
  type ConsoleSessions,
  type NewSession,
  type OpenSession,
  type PresentedSecret,
} from '../../domain/session/console-sessions.ts'
import { environments, type Environment } from '../../domain/environment.ts'
import { Fault } from '../../domain/fault.ts'
import { isForwardedFromHttps } from '../forwarded-scheme.ts'

/** A browser has a session, and so a cookie, for each environment in which it is signed in. */
const cookieNameOf = (environment: Environment) => `ugs_session_${environment.toLowerCase()}`
const cookiePattern = /(?:^|;) *(__Host-|__Secure-)?ugs_session_(customer|testing)=([\w-]{43}) *(?=;|$)/g
/** Maximum number of secrets that are looked up for one request. */
const maxSecrets = 16

/** Cookies of the sessions. Scripts and other sites cannot read them. */
export class SessionCookies {
  readonly #path: string
  /**
   * Prefix over HTTPS. A browser accepts `__Host-` only without `Domain`, so that no other host can set the cookie, but also only for the
   * path `/`, which programs at other paths share. Without HTTPS the names have no prefix, and a program at another port or subdomain
   * can add cookies of the same name.
   */
  readonly #securePrefix: '__Host-' | '__Secure-'

  /** @param publicPath path under which a proxy publishes the service */
  constructor(publicPath: string) {
    this.#path = publicPath || '/'
    this.#securePrefix = publicPath === '' ? '__Host-' : '__Secure-'
  }

  /** Returns the secrets in the cookies of a request that can be those of sessions, the most trustworthy first. */
  secretsOf({ raw }: FastifyRequest): PresentedSecret[] {
    const { headers } = raw
    const cookies = [...(headers.cookie?.matchAll(cookiePattern) ?? [])]
    const withPrefix = (wanted?: string) => cookies.filter(([, prefix]) => prefix === wanted)
    // Browsers send cookies of a longer path first. The cookie of the service has the shortest.
    const plain = usesHttps(headers) ? [] : withPrefix().reverse()
    const secrets = new Map<string, Environment>()
    for (const [, , name, secret = ''] of [...withPrefix(this.#securePrefix), ...plain])
      secrets.set(secret, name === 'customer' ? 'Customer' : 'Testing')
    return Array.from(secrets, ([secret, environment]) => ({ secret, environment })).slice(0, maxSecrets)
  }

  set(request: FastifyRequest, reply: FastifyReply, { secret, apiToken }: NewSession): void {
    this.#set(request, reply, { environment: apiToken.environment, secret }, sessionMaxMs / 1000)
  }

  clear(request: FastifyRequest, reply: FastifyReply): void {
    for (const environment of environments) this.#set(request, reply, { environment, secret: '' }, 0)
  }

  #set(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    { environment, secret }: PresentedSecret,
    maxAge: number,
  ): void {
    const [prefix, secure] = usesHttps(headers) ? [this.#securePrefix, '; Secure'] : ['', '']
    const cookie = `${prefix}${cookieNameOf(environment)}=${secret}; Path=${this.#path}`
    reply.header('set-cookie', `${cookie}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`)
  }
}

/** Sessions of the console, and their cookies. */
export interface SessionAccess {
  readonly sessions: ConsoleSessions
  readonly cookies: SessionCookies
}

/**
 * Returns the session of a request; null if it has none or has an `Authorization` header. The CSRF token selects it if the browser
 * has two.
 * @throws Fault `unauthenticated` (the session is over), `forbidden` (a change without the session's CSRF token), `unavailable`
 */
export async function findSession(
  request: FastifyRequest,
  { sessions, cookies }: SessionAccess,
): Promise<OpenSession | null> {
  const { headers } = request.raw
  const presented = headers.authorization === undefined ? cookies.secretsOf(request) : []
  if (presented.length === 0) return null
  const csrfToken = headers['x-csrf-token']
  const own = presented.find(({ secret }) => isSame(csrfToken, csrfTokenOf(secret)))
  if (own !== undefined) {
    const session = await sessions.find(own.secret)
    if (session !== null) return session
  } else {
    const [session, other] = await findAll(presented, sessions)
    // The cookie is SameSite=Strict, but a site has several origins.
    if (session !== undefined && request.method !== 'GET')
      throw new Fault('forbidden', 'X-CSRF-Token: must be the csrf_token of the session')
    if (session !== undefined && other === undefined && csrfToken === undefined) return session
  }
  throw new Fault('unauthenticated', 'The session is over; sign in again')
}

/** Returns the sessions that are not over, at most one of each environment. */
export async function findAll(
  presented: readonly PresentedSecret[],
  sessions: ConsoleSessions,
): Promise<OpenSession[]> {
  const found = await Promise.all(presented.map(({ secret }) => sessions.find(secret)))
  return environments.flatMap(
    (environment) => found.find((session) => session?.apiToken.environment === environment) ?? [],
  )
}

/** Returns true if the page uses HTTPS. Its browser sends the origin, except in a GET. A proxy may terminate TLS and report it. */
function usesHttps(headers: IncomingHttpHeaders): boolean {
  const { origin = '' } = headers
  return /^https?:/.test(origin) ? origin.startsWith('https:') : isForwardedFromHttps(headers)
}

/** Compares in constant time, so that response times reveal nothing about the token. */
function isSame(sent: unknown, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(expected))
}
