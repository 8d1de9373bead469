import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  sessionMaxMs,
  type ConsoleSessions,
  type OpenSession,
} from '../../domain/session/console-sessions.ts'
import { Fault } from '../../domain/fault.ts'

const cookieName = 'ugs_session'
const secretPattern = /^[\w-]{43}$/

/** Returns the session secret in a request's cookie. */
export function sessionSecretOf({ raw }: FastifyRequest): string | undefined {
  const cookies = raw.headers.cookie?.split(';').map((cookie) => cookie.trim().split('=', 2)) ?? []
  const secret = cookies.find(([name]) => name === cookieName)?.[1]
  return secret !== undefined && secretPattern.test(secret) ? secret : undefined
}

/**
 * Returns the session of a request; null if it has none or has an `Authorization` header.
 * @throws Fault `unauthenticated` (the session is over), `forbidden` (a change without the session's CSRF token), `unavailable`
 */
export async function findSession(
  request: FastifyRequest,
  sessions: ConsoleSessions,
): Promise<OpenSession | null> {
  const { headers } = request.raw
  const secret = headers.authorization === undefined ? sessionSecretOf(request) : undefined
  if (secret === undefined) return null
  const session = await sessions.find(secret)
  if (session === null) throw new Fault('unauthenticated', 'The session is over; sign in again')
  // The cookie is SameSite=Strict, but a site has several origins.
  if (request.method !== 'GET' && !isSame(headers['x-csrf-token'], session.csrfToken))
    throw new Fault('forbidden', 'X-CSRF-Token: must be the csrf_token of the session')
  return session
}

/** Compares in constant time, so that response times reveal nothing about the token. */
function isSame(sent: unknown, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(expected))
}

/** Stores the secret in a cookie that scripts and other sites cannot read. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  setCookie(request, reply, secret, sessionMaxMs / 1000)
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  setCookie(request, reply, '', 0)
}

function setCookie({ headers }: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void {
  // The browser's origin decides, as a proxy may terminate TLS.
  const secure = headers.origin?.startsWith('https:') === true ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`,
  )
}
