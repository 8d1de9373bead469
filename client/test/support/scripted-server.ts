import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { Scope } from '../../../server/test/support/scope.ts'
import { token } from './calls.ts'

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answerer = (response: ServerResponse, received: Received) => void

export interface ScriptedServer {
  readonly origin: string
  readonly received: readonly Received[]
}

/** A server that answers its nth request by the nth answerer, and the rest by the last; closed when the test has ended. */
export function serve(t: Scope, ...answerers: [Answerer, ...Answerer[]]): Promise<ScriptedServer> {
  return serveAt(t, 0, ...answerers)
}

/** The same, at a port. */
export async function serveAt(
  t: Scope,
  port: number,
  ...answerers: [Answerer, ...Answerer[]]
): Promise<ScriptedServer> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const call = { method, path, headers, body: Buffer.concat(chunks).toString() }
      answerers[Math.min(received.push(call), answerers.length) - 1]?.(response, call)
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export function answer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Answerer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export function json(value: unknown): Answerer {
  return answer(200, JSON.stringify(value))
}

/** An error as the service tells it. */
export function fault(status: number, code: string, headers: Record<string, string> = {}): Answerer {
  const error = { code, message: `said of ${code}`, request_id: 'request-1' }
  return answer(status, JSON.stringify({ success: 0, error }), headers)
}

/** An error as a proxy tells it. */
export function refusal(status: number, headers: Record<string, string> = {}): Answerer {
  return answer(status, '<html><body>no</body></html>', { 'content-type': 'text/html', ...headers })
}

export const never: Answerer = () => undefined

export const broken: Answerer = (response) => response.destroy()

const identity = { team_id: 7, token, name: 'Example customer', provided_id: 'customer-42' }

export const created = {
  success: 1,
  new_user_group: true,
  user_group: { ...identity, properties: { region: 'EU' } },
}

export const rotated = { success: 1, user_group: { ...identity, api_environment_tag: 'Customer' } }

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
  data_sources: { 40: { id: 213, provided_id: 'warehouse-eu', name: 'Warehouse EU' } },
  properties: { region: 'EU' },
}
