import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

/** Keep-alive connections idle for longer are closed: a proxy may have dropped them without notice. */
const maxIdleMs = 30_000

export interface Post {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  readonly body: string
  readonly signal: AbortSignal
}

/**
 * Returns a function that sends a body and resolves with the head of the response. Follows no redirects: tokens go to the configured
 * URL only. Not `fetch`, which in Node.js fails on a `100 Continue` that it did not ask for (RFC 9110, section 15.2).
 */
export function poster(protocol: string): (post: Post) => Promise<IncomingMessage> {
  const [request, Agent] = protocol === 'https:' ? [requestHttps, HttpsAgent] : [requestHttp, HttpAgent]
  const agent = new Agent({ keepAlive: true, timeout: maxIdleMs })
  return ({ url, headers, contentType, body, signal }) =>
    new Promise((resolve, reject) => {
      request(url, {
        method: 'POST',
        agent,
        signal,
        headers: { ...headers, 'content-type': contentType },
      })
        .on('response', resolve)
        // Stays after the response: if the service refused the request early, writing the rest may fail.
        .on('error', reject)
        .end(body)
    })
}
