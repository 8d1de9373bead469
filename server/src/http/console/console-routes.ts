import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { successful } from '../../contract/json/json-builder.ts'
import { sessionResponse, SignInBody } from '../../contract/console.ts'
import { readStrictJson } from '../../contract/json/strict-json.ts'
import { compileValidator } from '../../contract/validator.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { ConsoleSessions, OpenSession } from '../../domain/session/console-sessions.ts'
import { Fault } from '../../domain/fault.ts'
import { sendJson } from '../response.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { contextOf } from '../request-context.ts'
import { clearSessionCookie, findSession, setSessionCookie, sessionSecretOf } from './console-session.ts'

export interface ConsoleRoutesDependencies {
  readonly sessions: ConsoleSessions
  readonly apiTokens: ApiTokenManagement
  /** Folder of the built files. */
  readonly folder: string
}

/** Maximum size of the body of a sign-in, far more than an API token needs. */
const maxSignInBytes = 16 * 1024
/** Placeholder in the page for the nonce of each response. */
const noncePlaceholder = 'CSP_NONCE'

const validateSignIn: (value: unknown) => asserts value is SignInBody = compileValidator(SignInBody)

/** Adds the web console: its session, its files and its pages. */
export async function addConsoleRoutes(
  app: FastifyInstance,
  dependencies: ConsoleRoutesDependencies,
): Promise<void> {
  addSessionRoutes(app, dependencies)
  await addPages(app, dependencies.folder)
}

/**
 * Redirects browsers from `/` to the console. Call it before `refuseUnknownRoutes`: a hook instead of a route, because `/` does not
 * exist for other clients.
 */
export function redirectBrowsers(app: FastifyInstance): void {
  app.addHook('onRequest', ({ method, url, headers }, reply, done) => {
    const isBrowser = method === 'GET' && headers.accept?.toLowerCase().includes('text/html') === true
    if (isBrowser && /^\/(\?|$)/.test(url)) void reply.redirect('/console')
    else done()
  })
}

function addSessionRoutes(app: FastifyInstance, { sessions, apiTokens }: ConsoleRoutesDependencies): void {
  const respond = async (session: OpenSession) => {
    const [workspace] = await apiTokens.findWorkspaces(session.apiToken)
    if (workspace === undefined) throw new Fault('unauthenticated', 'The session is over; sign in again')
    return sessionResponse(session, workspace)
  }

  const signedIn = async (request: FastifyRequest) => {
    const session = await findSession(request, sessions)
    if (session === null) throw new Fault('unauthenticated', 'Nobody is signed in')
    return session
  }

  app.post('/console/session', {
    config: { challenge: 'Token' },
    onRequest: (request, _reply, done) => {
      checkBodyHeaders(request.raw, 'application/json', maxSignInBytes)
      done()
    },
    handler: async (request, reply) => {
      const { secret, json } = await withBody(contextOf(request.raw), maxSignInBytes, async (body) => {
        const { value } = readStrictJson(body)
        validateSignIn(value)
        const session = await sessions.signIn(value.api_token, request.id)
        return { secret: session.secret, json: await respond(session) }
      })
      setSessionCookie(request, reply, secret)
      return sendJson(reply, 200, json)
    },
  })
  app.get('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      const json = await contextOf(request.raw).permit.during(async () => respond(await signedIn(request)))
      return sendJson(reply, 200, json)
    },
  })
  app.delete('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      await contextOf(request.raw).permit.during(async () => {
        await signedIn(request)
        await sessions.signOut(sessionSecretOf(request) as string)
      })
      clearSessionCookie(request, reply)
      return sendJson(reply, 200, successful({}))
    },
  })
}

async function addPages(app: FastifyInstance, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  // File names contain a hash of the content.
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    immutable: true,
    maxAge: '365d',
    index: false,
    setHeaders: (response) => void response.setHeader('x-content-type-options', 'nosniff'),
  })
  for (const url of ['/console', '/console/*']) {
    app.get(url, (_request, reply) => {
      const nonce = randomBytes(16).toString('base64')
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': contentSecurityPolicy(nonce),
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        })
        .send(page.replaceAll(noncePlaceholder, nonce))
    })
  }
}

/** Allows only what the service itself serves. A component library adds styles by script, which need the nonce. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
