import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  csrfTokenOf,
  personSessionMaxMs,
  sessionMaxMs,
  type ConsoleSessions,
  type NewSession,
  type OpenSession,
  type PresentedSecret,
} from '../../domain/console-session/console-sessions.ts'
import { environments, type Environment } from '../../domain/environment.ts'
import { isPerson } from '../../domain/principal.ts'
import { Fault } from '../../domain/fault.ts'
import { isForwardedFromHttps } from '../forwarded-scheme.ts'

/** A browser has a cookie for each environment in which it is signed in, with the secret of a session for each workspace. */
const cookieNameOf = (environment: Environment) => `ugs_session_${environment.toLowerCase()}`
const cookiePattern =
  /(?:^|;) *(__Host-|__Secure-)?ugs_session_(customer|testing)=([\w-]{43}(?:\.[\w-]{43})*) *(?=;|$)/g
/** Maximum number of secrets that are looked up for one request. */
export const maxSecrets = 32
/** Maximum number of sessions of a person in one environment. */
export const maxSessionsOfEnvironment = maxSecrets / 2

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
    for (const [, , name, value = ''] of [...withPrefix(this.#securePrefix), ...plain])
      for (const secret of value.split('.')) secrets.set(secret, name === 'customer' ? 'Customer' : 'Testing')
    return Array.from(secrets, ([secret, environment]) => ({ secret, environment })).slice(0, maxSecrets)
  }

  /**
   * @param sessions those of one sign-in
   * @param isSecure Default: whether the request shows that the page uses HTTPS. A GET has no origin.
   */
  set(
    request: FastifyRequest,
    reply: FastifyReply,
    sessions: readonly NewSession[],
    isSecure?: boolean,
  ): void {
    for (const environment of environments) {
      const own = sessions.filter(({ principal }) => principal.environment === environment)
      if (own.length === 0) continue
      const maxMs = own.some(({ principal }) => isPerson(principal)) ? personSessionMaxMs : sessionMaxMs
      const secret = own.map(({ secret }) => secret).join('.')
      this.#set(request, reply, { environment, secret }, maxMs / 1000, isSecure)
    }
  }

  /** @param cleared environments whose cookies are cleared */
  clear(
    request: FastifyRequest,
    reply: FastifyReply,
    cleared: readonly Environment[] = environments,
    isSecure?: boolean,
  ): void {
    for (const environment of cleared) this.#set(request, reply, { environment, secret: '' }, 0, isSecure)
  }

  #set(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    { environment, secret }: PresentedSecret,
    maxAge: number,
    isSecure = usesHttps(headers),
  ): void {
    const [prefix, secure] = isSecure ? [this.#securePrefix, '; Secure'] : ['', '']
    const cookie = `${prefix}${cookieNameOf(environment)}=${secret}; Path=${this.#path}`
    reply.header('set-cookie', `${cookie}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`)
  }
}

/** Sessions of the console, and their cookies. */
export interface SessionAccess {
  readonly consoleSessions: ConsoleSessions
  readonly cookies: SessionCookies
}

/**
 * Returns the session of a request; null if it has none or has an `Authorization` header. The CSRF token selects it if the browser
 * has two.
 * @throws Fault `unauthenticated` (the session is over), `forbidden` (a change without the session's CSRF token), `unavailable`
 */
export async function findSession(
  request: FastifyRequest,
  { consoleSessions, cookies }: SessionAccess,
): Promise<OpenSession | null> {
  const { headers } = request.raw
  const presented = headers.authorization === undefined ? cookies.secretsOf(request) : []
  if (presented.length === 0) return null
  const csrfToken = headers['x-csrf-token']
  const own = presented.find(({ secret }) => isSame(csrfToken, csrfTokenOf(secret)))
  if (own !== undefined) {
    const session = await consoleSessions.find(own.secret, presented)
    if (session !== null) return session
  } else {
    const [session, other] = await findAll(presented, consoleSessions)
    // The cookie is SameSite=Strict, but a site has several origins.
    if (session !== undefined && request.method !== 'GET')
      throw new Fault('forbidden', 'X-CSRF-Token: must be the csrf_token of the session')
    if (session !== undefined && other === undefined && csrfToken === undefined) return session
  }
  throw new Fault('unauthenticated', 'The session is over; sign in again')
}

/** Returns the sessions that are not over, at most one of each workspace and environment, in the order of environments. */
export async function findAll(
  presented: readonly PresentedSecret[],
  consoleSessions: ConsoleSessions,
): Promise<OpenSession[]> {
  const found = await Promise.all(presented.map(({ secret }) => consoleSessions.find(secret)))
  const sessions = new Map<string, OpenSession>()
  for (const session of found.filter((one) => one !== null)) {
    const { environment, workspaceId } = session.principal
    const place = `${environments.indexOf(environment)}/${workspaceId}`
    if (!sessions.has(place)) sessions.set(place, session)
  }
  return Array.from(sessions)
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, session]) => session)
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
