import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../../../server/test/support/scope.ts'

interface Passed {
  readonly method: string
  readonly override: string | undefined
  readonly idempotencyKey: string | undefined
}

export interface ProxyBehaviour {
  /** What it does before the service: drop the body as some CDNs do, or refuse with a status and a page of its own. */
  readonly on?: (method: string) => 'drop body' | number | undefined
}

export interface HttpProxy {
  readonly origin: string
  /** Each request that came, refused ones included. */
  readonly passed: readonly Passed[]
}

/** A reverse proxy that tells what came through it. */
export async function startHttpProxy(
  t: Scope,
  target: string,
  { on = () => undefined }: ProxyBehaviour = {},
): Promise<HttpProxy> {
  const passed: Passed[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const override = headers['x-http-method-override']?.toString()
    passed.push({ method, override, idempotencyKey: headers['idempotency-key']?.toString() })
    const behaviour = on(method)
    if (typeof behaviour === 'number') {
      request.resume()
      response.writeHead(behaviour, { 'content-type': 'text/html' }).end('<h1>Refused</h1>')
      return
    }
    const isDropped = behaviour === 'drop body'
    const kept = Object.entries(headers).filter(([name]) => !isDropped || name !== 'content-length')
    const upstream = httpRequest(target + url, { method, agent: false, headers: Object.fromEntries(kept) })
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    if (isDropped) upstream.end()
    else request.pipe(upstream)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed }
}
