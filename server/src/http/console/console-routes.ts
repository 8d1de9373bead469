import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { sessionJson, SignInBody, signInLinkJson, UseLinkBody } from '../../contract/console.ts'
import { readStrictJson } from '../../contract/json/strict-json.ts'
import { compileValidator, type Validator } from '../../contract/validator.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { NewSession, OpenSession, SignInOptions } from '../../domain/console-session/console-sessions.ts'
import type { SignInLink } from '../../domain/console-session/console-session-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import { Fault } from '../../domain/fault.ts'
import { readBuiltPage } from '../built-page.ts'
import { sendJson } from '../response.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { contextOf } from '../request-context.ts'
import { addStaticFiles } from '../static-files.ts'
import { findAll, findSession, type SessionAccess } from './console-session.ts'
import type { ProviderSettings } from './identity-provider.ts'
import { addPersonSignIn } from './person-sign-in.ts'

export interface ConsoleRoutesDependencies extends SessionAccess {
  readonly apiTokens: ApiTokenManagement
  readonly allowsTokenSignIn: boolean
  /** Identity provider at which people sign in; null without OpenID Connect. */
  readonly provider: ProviderSettings | null
  /** URL of the service for browsers, which a provider requires. */
  readonly publicUrl: string | null
  /** Folder of the built files. */
  readonly folder: string
  /** Path under which a proxy publishes the service. */
  readonly publicPath: string
}

/** Maximum size of the body of a sign-in, far more than an API token needs. */
const maxSignInBytes = 16 * 1024

const validateSignIn: Validator<SignInBody> = compileValidator(SignInBody)
const validateUseLink: Validator<UseLinkBody> = compileValidator(UseLinkBody)

/** Adds the web console: its session, its files and its pages. */
export async function addConsoleRoutes(
  app: FastifyInstance,
  dependencies: ConsoleRoutesDependencies,
): Promise<void> {
  addSessionRoutes(app, dependencies)
  const { provider, publicUrl } = dependencies
  if (provider !== null && publicUrl !== null) addPersonSignIn(app, { ...dependencies, provider, publicUrl })
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
  const { consoleSessions, cookies, apiTokens } = dependencies
  addSignIn(app, dependencies, '/console/session', (body, options) => {
    if (!dependencies.allowsTokenSignIn)
      throw new Fault(
        'forbidden',
        'Sign-in with an API token is switched off (UGS_CONSOLE_TOKEN_SIGN_IN). Sign in with your company account.',
      )
    validateSignIn(body)
    return consoleSessions.signIn(body.api_token, options)
  })
  addSignIn(app, dependencies, '/console/session/link', async (body, options) => {
    validateUseLink(body)
    const signedIn = body.confirmed === true ? [] : await findAll(options.previous, consoleSessions)
    if (signedIn.length === 0) return consoleSessions.signInByLink(body.secret, options)
    // The link may come from somebody who wants another person to work under their own API token.
    return { link: await consoleSessions.findLink(body.secret), signedIn }
  })
  const ways = { oidc: dependencies.provider !== null, api_token: dependencies.allowsTokenSignIn }
  app.get('/console/sign-in', (_request, reply) =>
    sendJson(reply, 200, JSON.stringify({ success: 1, ...ways })),
  )
  app.get('/console/session', {
    config: { challenge: 'Token' },
    handler: async (request, reply) => {
      const json = await contextOf(request.raw).permit.during(async () => {
        const all = await findAll(cookies.secretsOf(request), consoleSessions)
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
        for (const { secret } of cookies.secretsOf(request)) await consoleSessions.signOut(secret)
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
      const context = contextOf(request.raw)
      const { result, json } = await withBody(context, maxSignInBytes, async (body) => {
        const options = { requestId: context.auditedId, previous: cookies.secretsOf(request) }
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
      if ('secret' in result) cookies.set(request, reply, [result])
      return sendJson(reply, 200, json)
    },
  })
}

async function describe(session: OpenSession, apiTokens: ApiTokenManagement): Promise<object> {
  return sessionJson(session, await workspaceOf(session.principal, apiTokens))
}

function describeAll(sessions: readonly OpenSession[], apiTokens: ApiTokenManagement): Promise<object[]> {
  return Promise.all(sessions.map((session) => describe(session, apiTokens)))
}

async function workspaceOf(tenantScope: TenantScope, apiTokens: ApiTokenManagement): Promise<Workspace> {
  const [workspace] = await apiTokens.findWorkspaces(tenantScope)
  if (workspace === undefined) throw new Fault('unauthenticated', 'The session is over; sign in again')
  return workspace
}

async function addPages(
  app: FastifyInstance,
  { folder, publicPath }: ConsoleRoutesDependencies,
): Promise<void> {
  const send = await readBuiltPage(join(folder, 'index.html'), `${publicPath}/console/assets/`)
  await addStaticFiles(app, join(folder, 'assets'), '/console/assets/')
  for (const url of ['/console', '/console/*']) {
    app.get(url, ({ headers }, reply) => {
      // A page that a browser renders before anybody opens it would use up a sign-in link.
      if (headers['sec-purpose']?.includes('prefetch') === true)
        throw new Fault('forbidden', 'Sec-Purpose: the console is not loaded before it is opened')
      return send(reply)
    })
  }
}
