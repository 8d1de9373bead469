import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { Scope } from '../../../server/test/support/scope.ts'
import { token } from './client.ts'

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Responder = (response: ServerResponse, received: Received) => void

export interface ScriptedServer {
  readonly origin: string
  readonly received: readonly Received[]
}

/** Starts a server whose nth request gets the nth responder, and further requests the last. Closed after the test. */
export function serve(t: Scope, ...responders: [Responder, ...Responder[]]): Promise<ScriptedServer> {
  return serveAt(t, 0, ...responders)
}

/** Same as `serve`, on a given port. */
export async function serveAt(
  t: Scope,
  port: number,
  ...responders: [Responder, ...Responder[]]
): Promise<ScriptedServer> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const receivedRequest = { method, path, headers, body: Buffer.concat(chunks).toString() }
      responders[Math.min(received.push(receivedRequest), responders.length) - 1]?.(response, receivedRequest)
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export function respond(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Responder {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export function json(value: unknown): Responder {
  return respond(200, JSON.stringify(value))
}

/** Responds with an error of the service. */
export function fault(status: number, code: string, headers: Record<string, string> = {}): Responder {
  const error = { code, message: `message of ${code}`, request_id: 'request-1' }
  return respond(status, JSON.stringify({ success: 0, error }), headers)
}

/** Responds with an error page of a proxy. */
export function refusal(status: number, headers: Record<string, string> = {}): Responder {
  return respond(status, '<html><body>no</body></html>', { 'content-type': 'text/html', ...headers })
}

export const never: Responder = () => undefined

export const broken: Responder = (response) => response.destroy()

const identity = { team_id: 7, token, name: 'Example customer', provided_id: 'customer-42' }

export const created = {
  success: 1,
  new_user_group: true,
  user_group: { ...identity, properties: { region: 'EU' } },
}

export const rotated = { success: 1, user_group: { ...identity, api_environment_tag: 'Customer' } }

export const session = {
  success: 1,
  session: {
    ...{ token: 'ey.of.asession', session_id: '4kTq9cZ1Xw2b' },
    ...{ expires_at: '2026-11-28T10:15:00Z', expires_in_seconds: 900 },
  },
}

export const ended = { success: 1 }

export const updated = {
  success: 1,
  new_user_group: false,
  user_group: { ...created.user_group, ...rotated.user_group },
}

export const active = {
  active: true,
  token_type: 'user_group',
  sub: 'customer-42',
  iat: 1_790_000_000,
  team_id: 7,
  name: 'Example customer',
  api_environment_tag: 'Customer',
  mapping: { 40: '213' },
  data_sources: {
    40: {
      ...{ id: 213, provided_id: 'warehouse-eu', name: 'Warehouse EU' },
      schema: { id: 12, provided_id: '40' },
    },
  },
  properties: { region: 'EU' },
}

export const activeSession = {
  ...active,
  ...{ token_type: 'viewer_session', exp: 1_790_000_900, jti: '4kTq9cZ1Xw2b' },
  viewer: {
    ...{ id: 'u-7', name: 'Ada', properties: { team_name: 1 } },
    ...{ time_zone: 'Europe/Berlin', locale: 'de-DE' },
  },
  resources: ['sales-overview'],
}
