import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface ReceivedRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Responder = (response: ServerResponse, received: ReceivedRequest) => void

/** Starts a server whose nth request gets the nth responder, and further requests the last. Closed after the test. */
export async function serve(t: TestContext, ...responders: [Responder, ...Responder[]]) {
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const receivedRequest = { method: request.method, url: request.url, headers: request.headers, body }
      const respond = responders[Math.min(received.push(receivedRequest), responders.length) - 1]
      respond?.(response, receivedRequest)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/oauth2/introspect`, received }
}

export function json(value: unknown): Responder {
  return text(JSON.stringify(value))
}

export function text(body: string | Buffer, type = 'application/json'): Responder {
  return (response) => response.writeHead(200, { 'content-type': type }).end(body)
}

export function status(code: number, headers: Record<string, string> = {}): Responder {
  return (response) =>
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end('{"success":0,"error":{"code":"said_by_the_service","message":"said by the service"}}')
}

export const never: Responder = () => undefined

export const broken: Responder = (response) => response.destroy()

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

export const viewer = {
  id: 'u-7',
  name: 'Ada',
  properties: { role: 'manager' },
  time_zone: 'Europe/Berlin',
  locale: 'de-DE',
}

export const activeSession = {
  ...active,
  token_type: 'viewer_session',
  exp: 1_790_000_900,
  jti: '4kTq9cZ1Xw2b',
  viewer,
  resources: ['sales-overview', 'stock'],
}
