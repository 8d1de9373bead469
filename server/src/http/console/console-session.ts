import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  csrfTokenOf,
  sessionMaxMs,
  type ConsoleSessions,
  type OpenSession,
} from '../../domain/session/console-sessions.ts'
import { environments, type Environment } from '../../domain/environment.ts'
import { Fault } from '../../domain/fault.ts'

/** A browser has a session, and so a cookie, for each environment in which it is signed in. */
const cookieNameOf = (environment: Environment) => `ugs_session_${environment.toLowerCase()}`
const secretPattern = /^[\w-]{43}$/

/** Returns the session secrets in the cookies of a request. */
export function sessionSecretsOf({ raw }: FastifyRequest): string[] {
  const cookies = raw.headers.cookie?.split(';').map((cookie) => cookie.trim().split('=', 2)) ?? []
  return environments.flatMap((environment) => {
    const secret = cookies.find(([name]) => name === cookieNameOf(environment))?.[1]
    return secret !== undefined && secretPattern.test(secret) ? [secret] : []
  })
}

/**
 * Returns the session of a request; null if it has none or has an `Authorization` header. The CSRF token selects it if the browser
 * has two.
 * @throws Fault `unauthenticated` (the session is over), `forbidden` (a change without the session's CSRF token), `unavailable`
 */
export async function findSession(
  request: FastifyRequest,
  sessions: ConsoleSessions,
): Promise<OpenSession | null> {
  const { headers } = request.raw
  const secrets = headers.authorization === undefined ? sessionSecretsOf(request) : []
  if (secrets.length === 0) return null
  const csrfToken = headers['x-csrf-token']
  // The cookie is SameSite=Strict, but a site has several origins.
  const isOptional = request.method === 'GET' && csrfToken === undefined && secrets.length === 1
  const own = isOptional ? secrets[0] : secrets.find((secret) => isSame(csrfToken, csrfTokenOf(secret)))
  const session = own === undefined ? null : await sessions.find(own)
  if (session !== null) return session
  if (own === undefined && request.method !== 'GET' && (await findAll(secrets, sessions)).length > 0)
    throw new Fault('forbidden', 'X-CSRF-Token: must be the csrf_token of the session')
  throw new Fault('unauthenticated', 'The session is over; sign in again')
}

/** Returns the sessions that are not over. */
export async function findAll(secrets: readonly string[], sessions: ConsoleSessions): Promise<OpenSession[]> {
  const found = await Promise.all(secrets.map((secret) => sessions.find(secret)))
  return found.filter((session) => session !== null)
}

/** Compares in constant time, so that response times reveal nothing about the token. */
function isSame(sent: unknown, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(expected))
}

/** Stores the secret in a cookie that scripts and other sites cannot read. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { secret, apiToken }: OpenSession & { readonly secret: string },
): void {
  setCookie(request, reply, `${cookieNameOf(apiToken.environment)}=${secret}`, sessionMaxMs / 1000)
}

export function clearSessionCookies(request: FastifyRequest, reply: FastifyReply): void {
  for (const environment of environments) setCookie(request, reply, `${cookieNameOf(environment)}=`, 0)
}

function setCookie({ headers }: FastifyRequest, reply: FastifyReply, cookie: string, maxAge: number): void {
  // The browser's origin decides, as a proxy may terminate TLS.
  const secure = headers.origin?.startsWith('https:') === true ? '; Secure' : ''
  reply.header('set-cookie', `${cookie}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`)
}
