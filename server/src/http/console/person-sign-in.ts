import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { ConsoleSessions, NewSession } from '../../domain/console-session/console-sessions.ts'
import { environments, type Environment } from '../../domain/environment.ts'
import { grantsFor, type Grant, type RoleSettings } from '../../domain/person/roles.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { hashToken } from '../../domain/token/token.ts'
import { publicPathOf } from '../public-url.ts'
import { contextOf } from '../request-context.ts'
import { maxSecrets, maxSessionsOfEnvironment, type SessionCookies } from './console-session.ts'
import {
  IdentityProvider,
  SignInProblem,
  type Identified,
  type ProviderSettings,
} from './identity-provider.ts'

export interface PersonSignInDependencies {
  readonly provider: ProviderSettings
  /** URL of the service for browsers, which the provider knows with `/console/oidc/callback`. */
  readonly publicUrl: string
  readonly consoleSessions: ConsoleSessions
  readonly cookies: SessionCookies
  readonly apiTokens: ApiTokenManagement
}

const callbackPath = '/console/oidc/callback'
/** Time within which a person must have signed in at the provider, in seconds. */
const pendingSeconds = 600
/** Length of a hash of a session's secret, in bytes. */
const hashBytes = 32
/** Maximum length of the hashes in the cookie of a sign-in, in base64. */
const maxHashCharacters = Math.ceil((maxSecrets * hashBytes * 4) / 3)

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A sign-in between start and callback, as its cookie keeps it. */
interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly environment: Environment | null
  readonly workspace: string | null
  /**
   * Hashes of the secrets of the browser's sessions, which end with the sign-in. Their cookies are `SameSite=Strict`: browsers send them
   * to `start`, but not with the redirect from the provider.
   */
  readonly replacedHashes: readonly Uint8Array[]
}

/**
 * Adds the sign-in of people with OpenID Connect: `start` redirects to the provider with `state`, `nonce` and PKCE, which only a cookie
 * of the browser keeps. `callback` verifies the ID token, maps its roles claim to roles, starts a session for each workspace and
 * environment in which the person has one, and redirects to the console.
 */
export function addPersonSignIn(app: FastifyInstance, dependencies: PersonSignInDependencies): void {
  const { publicUrl, provider: settings } = dependencies
  const provider = new IdentityProvider(settings)
  const cookie = new PendingCookie(publicUrl)
  const redirectUri = publicUrl + callbackPath

  app.get('/console/oidc/start', async (request, reply) => {
    const { environment, workspace } = request.query as Record<string, unknown>
    const secret = () => randomBytes(32).toString('base64url')
    const pending: Pending = {
      state: secret(),
      nonce: secret(),
      verifier: secret(),
      environment: environments.find((known) => known === environment) ?? null,
      workspace: typeof workspace === 'string' ? workspace : null,
      replacedHashes: dependencies.cookies.secretsOf(request).map((one) => hashToken(one.secret)),
    }
    return answering(reply, async () => {
      const url = await provider.signInUrl(redirectUri, pending)
      cookie.set(reply, pending)
      return reply.redirect(url)
    })
  })

  app.get(callbackPath, (request, reply) =>
    answering(reply, async () => {
      const pending = cookie.read(request)
      cookie.clear(reply)
      if (pending === null)
        throw new SignInProblem(
          400,
          'The sign-in is not valid',
          'This browser has not started a sign-in in the last 10 minutes, or has already ended it. Sign in again.',
        )
      const { search } = new URL(request.raw.url ?? '', publicUrl)
      const person = await provider.identify(new URL(redirectUri + search), pending)
      const { environment, workspaceId } = await contextOf(request.raw).permit.during(() =>
        startSessions(dependencies, { request, reply }, person, pending),
      )
      // Never another target: a parameter for it would be an open redirect. The fragment tells the console where to start.
      return reply.redirect(`${publicPathOf(publicUrl)}/console#environment=${environment}.${workspaceId}`)
    }),
  )
}

/**
 * Starts a session for each role of the person, ends the earlier sessions of the browser, and returns where the person asked to work.
 * @throws SignInProblem if there is no role there
 */
async function startSessions(
  { consoleSessions, cookies, apiTokens, provider, publicUrl }: PersonSignInDependencies,
  { request, reply }: Exchange,
  { values, ...person }: Identified,
  pending: Pending,
): Promise<TenantScope> {
  const { auditedId: requestId } = contextOf(request.raw)
  const sessions: NewSession[] = []
  const isFull = (environment: Environment) =>
    sessions.filter(({ principal }) => principal.environment === environment).length ===
    maxSessionsOfEnvironment
  const [requested, ...others] = grantsOf(provider.roles, values, pending)
  const workspaceIds = await apiTokens.workspaceIds()
  for (const { workspace, environment, role, rule } of [requested, ...others]) {
    const workspaceId = workspaceIds.get(workspace)
    if (workspaceId === undefined && rule === requested.rule)
      throw new SignInProblem(
        403,
        'Your workspace does not exist',
        `UGS_OIDC_ROLES: the rule of "${rule.value}" names the workspace "${workspace}", which does not exist.`,
      )
    if (workspaceId === undefined || isFull(environment)) continue
    const member = { ...person, workspaceId, environment, role }
    const replacedHashes = sessions.length === 0 ? pending.replacedHashes : []
    sessions.push(await consoleSessions.signInPerson(member, rule.value, { requestId, replacedHashes }))
  }
  const isSecure = publicUrl.startsWith('https:')
  cookies.set(request, reply, sessions, isSecure)
  const isWithout = (environment: Environment) =>
    sessions.every(({ principal }) => principal.environment !== environment)
  cookies.clear(request, reply, environments.filter(isWithout), isSecure)
  return (sessions[0] as NewSession).principal
}

/** Returns the roles of a person, first the one that was asked for. @throws SignInProblem if there is no such role */
function grantsOf(
  roles: RoleSettings,
  values: readonly string[],
  { environment, workspace }: Pick<Pending, 'environment' | 'workspace'>,
): [Grant, ...Grant[]] {
  const grants = grantsFor(roles, values)
  const requested = grants.find(
    (one) =>
      (environment === null || one.environment === environment) &&
      (workspace === null || one.workspace === workspace),
  )
  if (requested !== undefined) return [requested, ...grants.filter((grant) => grant !== requested)]
  const received = values.length === 0 ? 'no values' : values.map((value) => `"${value}"`).join(', ')
  const elsewhere = grants.map((one) => `${one.environment} of ${one.workspace}`).join(', ')
  const place = workspace === null ? environment : `${environment ?? 'any environment'} of ${workspace}`
  throw new SignInProblem(
    403,
    grants.length === 0 ? 'You have no role here' : `You have no role in ${place}`,
    `The claim "${roles.claim}" of your ID token has ${received}. ${
      grants.length === 0
        ? 'No rule of UGS_OIDC_ROLES names one of them.'
        : `They give you a role in: ${elsewhere}.`
    } Ask your administrator.`,
  )
}

/** Runs a step of the sign-in. A problem gets a page, because a person sees it. */
async function answering(reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SignInProblem)) throw error
    const { status, title, message } = error
    return reply
      .code(status)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ...(status === 503 && { 'retry-after': '60' }),
      })
      .send(
        `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><h1>${escaped(title)}</h1><p>${escaped(message)}</p><p><a href="../../console">Back to the sign-in</a></p></html>`,
      )
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Cookie of a sign-in in progress. It is sent with the redirect from the provider, and so is `SameSite=Lax`. */
class PendingCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(publicUrl: string) {
    const path = publicPathOf(publicUrl)
    const isSecure = publicUrl.startsWith('https:')
    this.#name = `${isSecure ? (path === '' ? '__Host-' : '__Secure-') : ''}ugs_oidc`
    this.#attributes = `Path=${path || '/'}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  }

  read({ raw }: FastifyRequest): Pending | null {
    const pattern = `(?:^|;) *${this.#name}=([\\w-]{1,2000})\\.([\\w-]{0,${maxHashCharacters}}) *(?:;|$)`
    const [, json, hashes = ''] = new RegExp(pattern).exec(raw.headers.cookie ?? '') ?? []
    if (json === undefined) return null
    try {
      const pending = JSON.parse(Buffer.from(json, 'base64url').toString()) as Partial<Pending> | null
      const secrets = [pending?.state, pending?.nonce, pending?.verifier]
      if (!secrets.every((secret) => typeof secret === 'string')) return null
      return { ...(pending as Pending), replacedHashes: splitHashes(Buffer.from(hashes, 'base64url')) }
    } catch {
      return null
    }
  }

  set(reply: FastifyReply, { replacedHashes, ...pending }: Pending): void {
    // Hashes in the JSON would be encoded twice, and browsers ignore cookies over 4 KB.
    const parts = [Buffer.from(JSON.stringify(pending)), Buffer.concat(replacedHashes)]
    const value = parts.map((part) => part.toString('base64url')).join('.')
    reply.header('set-cookie', `${this.#name}=${value}; Max-Age=${pendingSeconds}; ${this.#attributes}`)
  }

  clear(reply: FastifyReply): void {
    reply.header('set-cookie', `${this.#name}=; Max-Age=0; ${this.#attributes}`)
  }
}

function splitHashes(hashes: Buffer): Buffer[] {
  const count = Math.floor(hashes.length / hashBytes)
  return Array.from({ length: count }, (_, i) => hashes.subarray(i * hashBytes, (i + 1) * hashBytes))
}
