import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../../../server/test/support/scope.ts'

type Behavior = 'drop body' | 'lose request' | 'lose response' | 'withhold response' | number | undefined

interface Passed {
  readonly method: string
  readonly path: string
  readonly override: string | undefined
  readonly idempotencyKey: string | undefined
}

export interface ProxyBehavior {
  /**
   * Behavior of a request: drop its body as some CDNs do; refuse it with this status and an HTML page; lose the request
   * or its response and close the connection; or forward it and never respond.
   */
  readonly on?: (method: string, path: string) => Behavior | Promise<Behavior>
}

export interface HttpProxy {
  readonly origin: string
  /** Every received request, including refused ones. */
  readonly passed: readonly Passed[]
}

/** Starts a reverse proxy that records the requests. */
export async function startHttpProxy(
  t: Scope,
  target: string,
  { on = () => undefined }: ProxyBehavior = {},
): Promise<HttpProxy> {
  const passed: Passed[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const override = headers['x-http-method-override']?.toString()
    passed.push({ method, path: url, override, idempotencyKey: headers['idempotency-key']?.toString() })
    const behavior = await on(method, url)
    if (behavior === 'lose request') {
      request.on('end', () => response.destroy()).resume()
      return
    }
    if (typeof behavior === 'number') {
      request.resume()
      response.writeHead(behavior, { 'content-type': 'text/html' }).end('<h1>Refused</h1>')
      return
    }
    const isDropped = behavior === 'drop body'
    const kept = Object.entries(headers).filter(([name]) => !isDropped || name !== 'content-length')
    const upstream = httpRequest(target + url, { method, agent: false, headers: Object.fromEntries(kept) })
    upstream.on('response', (upstreamResponse) => {
      if (behavior === 'lose response' || behavior === 'withhold response') {
        // The service has finished once its response is complete.
        upstreamResponse.on('end', () => behavior === 'lose response' && response.destroy()).resume()
        return
      }
      response.writeHead(upstreamResponse.statusCode ?? 0, upstreamResponse.headers)
      upstreamResponse.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    if (isDropped) upstream.end()
    else request.pipe(upstream)
  }
  const server = createServer((request, response) => void handle(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed }
}
