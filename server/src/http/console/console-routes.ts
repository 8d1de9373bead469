import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sessionJson, SignInBody, signInLinkJson, UseLinkBody } from '../../contract/console.ts'
import { readStrictJson } from '../../contract/json/strict-json.ts'
import { compileValidator, type Validator } from '../../contract/validator.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { NewSession, OpenSession, SignInOptions } from '../../domain/session/console-sessions.ts'
import type { SignInLink } from '../../domain/session/session-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import { Fault } from '../../domain/fault.ts'
import { sendJson } from '../response.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { contextOf } from '../request-context.ts'
import { findAll, findSession, type SessionAccess } from './console-session.ts'

export interface ConsoleRoutesDependencies extends SessionAccess {
  readonly apiTokens: ApiTokenManagement
  /** Folder of the built files. */
  readonly folder: string
  /** Path under which a proxy publishes the service. */
  readonly publicPath: string
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
  await addPages(app, dependencies)
}

/**
 * Redirects browsers from `/` to the console. Call it before `refuseUnknownRoutes`: a hook instead of a route, because `/` does not
 * exist for other clients.
 */
export function redirectBrowsers(app: FastifyInstance, publicPath: string): void {
  app.addHook('onRequest', ({ method, url, headers }, reply, done) => {
    const isBrowser = method === 'GET' && headers.accept?.toLowerCase().includes('text/html') === true
    if (isBrowser && /^\/(\?|$)/.test(url)) void reply.redirect(`${publicPath}/console`)
    else done()
  })
}

function addSessionRoutes(app: FastifyInstance, dependencies: ConsoleRoutesDependencies): void {
  const { sessions, cookies, apiTokens } = dependencies
  addSignIn(app, dependencies, '/console/session', (body, options) => {
    validateSignIn(body)
    return sessions.signIn(body.api_token, options)
  })
  addSignIn(app, dependencies, '/console/session/link', async (body, options) => {
    validateUseLink(body)
    const signedIn = body.confirmed === true ? [] : await findAll(options.previous, sessions)
    if (signedIn.length === 0) return sessions.signInByLink(body.secret, options)
    // The link may come from somebody who wants another person to work under their own API token.
    return { link: await sessions.findLink(body.secret), signedIn }
  })
  app.get('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      const json = await contextOf(request.raw).permit.during(async () => {
        const all = await findAll(cookies.secretsOf(request), sessions)
        if (all.length === 0) throw new Fault('unauthenticated', 'Nobody is signed in')
        return JSON.stringify({ success: 1, sessions: await describeAll(all, apiTokens) })
      })
      return sendJson(reply, 200, json)
    },
  })
  // Signs out of both environments: nobody expects to stay signed in to one.
  app.delete('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      await contextOf(request.raw).permit.during(async () => {
        if ((await findSession(request, dependencies)) === null)
          throw new Fault('unauthenticated', 'Nobody is signed in')
        for (const { secret } of cookies.secretsOf(request)) await sessions.signOut(secret)
      })
      cookies.clear(request, reply)
      return sendJson(reply, 200, '{"success":1}')
    },
  })
}

/** A sign-in link that was not used, because the browser already has sessions. */
interface Unconfirmed {
  readonly link: SignInLink
  readonly signedIn: readonly OpenSession[]
}

/** Adds a route that starts a session for its JSON body, or asks first. */
function addSignIn(
  app: FastifyInstance,
  { apiTokens, cookies }: ConsoleRoutesDependencies,
  path: string,
  signIn: (body: unknown, options: SignInOptions) => Promise<NewSession | Unconfirmed>,
): void {
  app.post(path, {
    config: { challenge: 'Token' },
    onRequest: (request, _reply, done) => {
      checkBodyHeaders(request.raw, 'application/json', maxSignInBytes)
      done()
    },
    handler: async (request, reply) => {
      const { result, json } = await withBody(contextOf(request.raw), maxSignInBytes, async (body) => {
        const options = { requestId: request.id, previous: cookies.secretsOf(request) }
        const result = await signIn(readStrictJson(body).value, options)
        const members =
          'link' in result
            ? {
                link: signInLinkJson(result.link, await workspaceOf(result.link.apiToken, apiTokens)),
                sessions: await describeAll(result.signedIn, apiTokens),
              }
            : { session: await describe(result, apiTokens) }
        return { result, json: JSON.stringify({ success: 1, ...members }) }
      })
      if ('secret' in result) cookies.set(request, reply, result)
      return sendJson(reply, 200, json)
    },
  })
}

async function describe(session: OpenSession, apiTokens: ApiTokenManagement): Promise<object> {
  return sessionJson(session, await workspaceOf(session.apiToken, apiTokens))
}

function describeAll(sessions: readonly OpenSession[], apiTokens: ApiTokenManagement): Promise<object[]> {
  return Promise.all(sessions.map((session) => describe(session, apiTokens)))
}

async function workspaceOf(apiToken: ApiToken, apiTokens: ApiTokenManagement): Promise<Workspace> {
  const [workspace] = await apiTokens.findWorkspaces(apiToken)
  if (workspace === undefined) throw new Fault('unauthenticated', 'The session is over; sign in again')
  return workspace
}

async function addPages(
  app: FastifyInstance,
  { folder, publicPath }: ConsoleRoutesDependencies,
): Promise<void> {
  const built = await readFile(join(folder, 'index.html'), 'utf8')
  // The page is served at many paths, to which its links would be relative.
  const page = built.replaceAll('"./assets/', `"${publicPath}/console/assets/`)
  // File names contain a hash of the content.
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    immutable: true,
    maxAge: '365d',
    index: false,
  })
  for (const url of ['/console', '/console/*']) {
    app.get(url, ({ headers }, reply) => {
      // A page that a browser renders before anybody opens it would use up a sign-in link.
      if (headers['sec-purpose']?.includes('prefetch') === true)
        throw new Fault('forbidden', 'Sec-Purpose: the console is not loaded before it is opened')
      const nonce = randomBytes(16).toString('base64')
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': contentSecurityPolicy(nonce),
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
