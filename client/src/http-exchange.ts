import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { badResponse, TransportError } from './errors.ts'

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH)/

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Undefined if there is no body. */
  readonly body: Buffer | undefined
  /** Longer responses are not read. */
  readonly maxResponseBytes: number
  /** Called once, as soon as a part of the request may have arrived. */
  readonly onSent: () => void
}

export interface HttpResponse {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | undefined
  /** Undefined if it is longer than `maxResponseBytes`. */
  readonly body: Buffer | undefined
}

/**
 * Sends one request and reads the response. Uses node:http because fetch refuses a GET with a body. Follows no
 * redirects.
 * @throws TransportError `unreachable`, `tls_failed`, `bad_answer`; an abort error if the signal is aborted
 */
export async function httpExchange(
  request: HttpRequest,
  agent: Agent,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    const response = await send(request, agent, signal)
    const { statusCode = 0, headers } = response
    return {
      status: statusCode,
      contentType: headers['content-type'] ?? '',
      retryAfter: headers['retry-after'],
      body: await readBounded(response, request.maxResponseBytes),
    }
  } catch (error) {
    throw transportError(error, request.url)
  }
}

function send(
  { method, url, headers, body, onSent }: HttpRequest,
  agent: Agent,
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

async function readBounded(response: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function transportError(error: unknown, { origin }: URL): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // The caller passed a header that cannot be sent.
  if (error instanceof TypeError) return error
  if (code.startsWith('HPE_')) return badResponse(`it is not HTTP (${code})`)
  if (tlsCodes.test(code)) {
    return new TransportError(
      'tls_failed',
      `No secure connection to ${origin} (${code}). Check origin and its certificate.`,
    )
  }
  return new TransportError(
    'unreachable',
    `Cannot reach the User Group Service at ${origin} (${code}). Check origin, and that the service is running.`,
  )
}
