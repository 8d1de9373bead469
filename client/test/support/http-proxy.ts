import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../../../server/test/support/scope.ts'

type Behaviour = 'drop body' | 'lose request' | 'lose answer' | 'keep answer' | number | undefined

interface Passed {
  readonly method: string
  readonly path: string
  readonly override: string | undefined
  readonly idempotencyKey: string | undefined
}

export interface ProxyBehaviour {
  /**
   * What it does before the service: drop the body as some CDNs do; refuse with a status and a page of its own; lose the
   * request, or the answer to it, and close the connection; or answer nothing though the service does.
   */
  readonly on?: (method: string, path: string) => Behaviour | Promise<Behaviour>
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
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const override = headers['x-http-method-override']?.toString()
    passed.push({ method, path: url, override, idempotencyKey: headers['idempotency-key']?.toString() })
    const behaviour = await on(method, url)
    if (behaviour === 'lose request') {
      request.on('end', () => response.destroy()).resume()
      return
    }
    if (typeof behaviour === 'number') {
      request.resume()
      response.writeHead(behaviour, { 'content-type': 'text/html' }).end('<h1>Refused</h1>')
      return
    }
    const isDropped = behaviour === 'drop body'
    const kept = Object.entries(headers).filter(([name]) => !isDropped || name !== 'content-length')
    const upstream = httpRequest(target + url, { method, agent: false, headers: Object.fromEntries(kept) })
    upstream.on('response', (answered) => {
      if (behaviour === 'lose answer' || behaviour === 'keep answer') {
        // Once it is here in full: whatever the service does is done.
        answered.on('end', () => behaviour === 'lose answer' && response.destroy()).resume()
        return
      }
      response.writeHead(answered.statusCode ?? 0, answered.headers)
      answered.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    if (isDropped) upstream.end()
    else request.pipe(upstream)
  }
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed }
}
