import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sessionJson, SignInBody, UseLinkBody } from '../../contract/console.ts'
import { readStrictJson } from '../../contract/json/strict-json.ts'
import { compileValidator, type Validator } from '../../contract/validator.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { ConsoleSessions, OpenSession } from '../../domain/session/console-sessions.ts'
import { Fault } from '../../domain/fault.ts'
import { sendJson } from '../response.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { contextOf } from '../request-context.ts'
import {
  clearSessionCookies,
  findAll,
  findSession,
  setSessionCookie,
  sessionSecretsOf,
} from './console-session.ts'

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

const validateSignIn: Validator<SignInBody> = compileValidator(SignInBody)
const validateUseLink: Validator<UseLinkBody> = compileValidator(UseLinkBody)

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

function addSessionRoutes(app: FastifyInstance, dependencies: ConsoleRoutesDependencies): void {
  const { sessions, apiTokens } = dependencies
  addSignIn(app, dependencies, '/console/session', (body, requestId) => {
    validateSignIn(body)
    return sessions.signIn(body.api_token, requestId)
  })
  addSignIn(app, dependencies, '/console/session/link', (body, requestId) => {
    validateUseLink(body)
    return sessions.signInByLink(body.secret, requestId)
  })
  app.get('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      const json = await contextOf(request.raw).permit.during(async () => {
        const all = await findAll(sessionSecretsOf(request), sessions)
        if (all.length === 0) throw new Fault('unauthenticated', 'Nobody is signed in')
        const described = await Promise.all(all.map((session) => describe(session, apiTokens)))
        return `{"success":1,"sessions":[${described.join()}]}`
      })
      return sendJson(reply, 200, json)
    },
  })
  // Signs out of both environments: nobody expects to stay signed in to one.
  app.delete('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      await contextOf(request.raw).permit.during(async () => {
        if ((await findSession(request, sessions)) === null)
          throw new Fault('unauthenticated', 'Nobody is signed in')
        for (const secret of sessionSecretsOf(request)) await sessions.signOut(secret)
      })
      clearSessionCookies(request, reply)
      return sendJson(reply, 200, '{"success":1}')
    },
  })
}

/** Adds a route that starts a session for its JSON body. */
function addSignIn(
  app: FastifyInstance,
  { apiTokens }: ConsoleRoutesDependencies,
  path: string,
  signIn: (body: unknown, requestId: string) => ReturnType<ConsoleSessions['signIn']>,
): void {
  app.post(path, {
    config: { challenge: 'Token' },
    onRequest: (request, _reply, done) => {
      checkBodyHeaders(request.raw, 'application/json', maxSignInBytes)
      done()
    },
    handler: async (request, reply) => {
      const { session, json } = await withBody(contextOf(request.raw), maxSignInBytes, async (body) => {
        const session = await signIn(readStrictJson(body).value, request.id)
        return { session, json: `{"success":1,"session":${await describe(session, apiTokens)}}` }
      })
      setSessionCookie(request, reply, session)
      return sendJson(reply, 200, json)
    },
  })
}

async function describe(session: OpenSession, apiTokens: ApiTokenManagement): Promise<string> {
  const [workspace] = await apiTokens.findWorkspaces(session.apiToken)
  if (workspace === undefined) throw new Fault('unauthenticated', 'The session is over; sign in again')
  return sessionJson(session, workspace)
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
