import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import { Fault } from '../../domain/fault.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { authorize } from '../authorization.ts'
import { contextOf } from '../request-context.ts'
import type { Introspections } from './introspections.ts'

/** Names under which a viewer's token may arrive. */
export interface ForwardAuthNames {
  readonly header: string
  readonly query: string
  readonly cookie: string
}

export interface ForwardAuthDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  readonly introspections: Introspections
  readonly names: ForwardAuthNames
}

interface Introspected {
  readonly active: boolean
  readonly sub: string
  readonly team_id: number
  readonly properties: object | null
  readonly viewer?: { readonly id: string }
}

const forwardAuthPath = '/forward-auth'

/** Headers in which gateways report the URI of the viewer's request. */
const uriHeaders = ['x-forwarded-uri', 'x-original-uri']

/** Adds `/forward-auth`, which tells a gateway whether a viewer's request may pass: 204 with who looks, or 401. */
export function addForwardAuthRoute(app: FastifyInstance, dependencies: ForwardAuthDependencies): void {
  const { rateLimiter, introspections, names } = dependencies
  const authentication = new Authentication(['Token', 'Bearer', 'Basic'], dependencies.authentication)

  /** Returns the headers that describe the viewer; null if the token is not active. */
  const introspect = async (request: IncomingMessage, reply: FastifyReply, resources: readonly string[]) => {
    const context = contextOf(request)
    const { authorization } = request.headers
    const apiToken = await context.permit.during(() => authentication.authenticate(authorization))
    authorize(context, reply, { principal: apiToken, operation: 'forwardAuth' }, rateLimiter)
    const token = viewerTokenIn(request, names)
    const [resource] = resources
    // An introspection takes an empty resource for none (RFC 6749, section 3.1).
    if (token === null || resource === '' || resources.length > 1) return null
    const form = new URLSearchParams({ token, ...(resource !== undefined && { resource }) })
    const response = await introspections.respond(apiToken, Buffer.from(form.toString()))
    const introspected = JSON.parse(response) as Introspected
    return introspected.active ? headersOf(introspected) : null
  }

  const handle = async (request: IncomingMessage, reply: FastifyReply, resources: readonly string[] = []) => {
    reply.header('Cache-Control', 'no-store')
    const headers = await introspect(request, reply, resources).catch(unlessUnauthenticated)
    // Without the scheme Basic, for which browsers would ask for a password.
    if (headers === null) return reply.code(401).header('WWW-Authenticate', 'Bearer').send()
    return reply.code(204).headers(headers).send()
  }

  app.get(forwardAuthPath, ({ raw }, reply) => handle(raw, reply, queryOf(raw.url).getAll('resource')))
  // Envoy sends the method and appends the path of the viewer's request. Its query is the viewer's, who may not choose the resource.
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: `${forwardAuthPath}/*`,
    handler: ({ raw }, reply) => handle(raw, reply),
  })
}

function unlessUnauthenticated(error: unknown): null {
  if (error instanceof Fault && error.code === 'unauthenticated') return null
  throw error
}

/** Returns the viewer's token from the header, else from the query of either request, else from the cookie. */
function viewerTokenIn({ headers, url }: IncomingMessage, names: ForwardAuthNames): string | null {
  const header = [headers[names.header.toLowerCase()]].flat()[0]
  const uris = [url, ...uriHeaders.map((name) => [headers[name]].flat()[0])]
  const candidates = [
    header?.replace(/^(?:Bearer|Token) +/i, ''),
    ...uris.map((uri) => queryOf(uri).get(names.query)),
    cookieIn(headers.cookie, names.cookie),
  ]
  return (
    candidates.find((candidate) => candidate !== undefined && candidate !== null && candidate !== '') ?? null
  )
}

function queryOf(uri = ''): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(uri)?.[1] ?? '')
}

function cookieIn(header = '', name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

function headersOf({ sub, team_id, properties, viewer }: Introspected): Record<string, string> {
  return {
    'X-User-Group-Id': headerText(sub),
    'X-User-Group-Team-Id': String(team_id),
    // Always sent, so that a gateway replaces what the viewer sent.
    'X-Viewer-Id': headerText(viewer?.id ?? ''),
    'X-User-Group-Properties': Buffer.from(JSON.stringify(properties)).toString('base64url'),
  }
}

/** Percent-encodes what a header cannot contain, white space, and the percent sign. */
function headerText(text: string): string {
  return text.replace(/[^!-$&-~]+/g, (part) =>
    Array.from(Buffer.from(part), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}
