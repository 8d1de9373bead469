import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { badAnswer, TransportError } from './errors.ts'

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH)/

export interface Request {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for none. */
  readonly body: Buffer | undefined
  /** What is longer is no answer of the service. */
  readonly maxAnswerBytes: number
  /** Is told once, from when on something of the request may have arrived. */
  readonly onSent: () => void
}

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | undefined
  /** Undefined where it is longer than any answer of the service. */
  readonly body: Buffer | undefined
}

/**
 * Makes one request. Not with fetch, which refuses a GET with a body; and so that no redirect is followed.
 * @throws TransportError `unreachable`, `tls_failed`, `bad_answer`; what the abortion brings where the signal is aborted
 */
export async function exchange(request: Request, agent: Agent, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await send(request, agent, signal)
    const { statusCode = 0, headers } = response
    return {
      status: statusCode,
      contentType: headers['content-type'] ?? '',
      retryAfter: headers['retry-after'],
      body: await readBounded(response, request.maxAnswerBytes),
    }
  } catch (error) {
    throw transportError(error, request.url)
  }
}

function send(
  { method, url, headers, body, onSent }: Request,
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
        // Without a length Node.js sends the body of a GET with nothing that says where it ends.
        headers: { ...headers, ...(body && { 'content-length': body.length }) },
      },
      resolve,
    )
    outgoing.on('socket', (socket) => {
      // Nothing goes out before the connection is made, and is secure where it is to be.
      if (!socket.connecting) onSent()
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onSent)
    })
    // After an answer too: the rest of a request that was refused early may find its connection closed.
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function readBounded(response: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function transportError(error: unknown, { origin }: URL): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // A header that cannot be sent: the caller's mistake.
  if (error instanceof TypeError) return error
  if (code.startsWith('HPE_')) return badAnswer(`it does not speak HTTP, ${code}`)
  if (tlsCodes.test(code)) {
    return new TransportError(
      'tls_failed',
      `There is no secure connection to ${origin} (${code}): check origin and its certificate`,
    )
  }
  return new TransportError(
    'unreachable',
    `The User Group Service cannot be reached at ${origin} (${code}): check origin, and that it runs`,
  )
}
