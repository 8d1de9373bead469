import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { ConnectionSettings } from './options.ts'
import { readBounded, transportError, type HttpRequest, type Transport } from './transport.ts'

/** Keep-alive connections idle for longer are closed: a proxy may have dropped them without notice. */
const maxIdleMs = 30_000

/** Uses node:http because fetch refuses a GET with a body. */
export function nodeTransport({ origin, agent }: ConnectionSettings): Transport {
  const Agent = origin.protocol === 'https:' ? HttpsAgent : HttpAgent
  const callersAgent = agent as HttpAgent | undefined
  const keepAlive = callersAgent ?? new Agent({ keepAlive: true, timeout: maxIdleMs })
  const newConnections = callersAgent ?? new Agent()
  return async (request, signal) => {
    try {
      const response = await send(request, request.isNonIdempotent ? newConnections : keepAlive, signal)
      const { statusCode = 0, headers } = response
      return {
        status: statusCode,
        contentType: headers['content-type'] ?? '',
        retryAfter: headers['retry-after'],
        body: await readBounded(response as AsyncIterable<Uint8Array>, request.maxResponseBytes),
      }
    } catch (error) {
      // The caller passed a header that cannot be sent.
      throw error instanceof TypeError ? error : transportError(error, request.url)
    }
  }
}

function send(
  { method, url, headers, body, onSent }: HttpRequest,
  agent: HttpAgent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent,
        signal,
        // Without a length, Node.js sends the body of a GET without any framing.
        headers: { ...headers, ...(body && { 'content-length': body.length }) },
      },
      resolve,
    )
    outgoing.on('socket', (socket) => {
      // No bytes leave before the connection is established, including its TLS handshake.
      if (!socket.connecting) onSent()
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onSent)
    })
    // Keep this listener after the response: if the service refused the request early, writing the rest may fail.
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
