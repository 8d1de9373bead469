import { badResponse, TransportError } from './errors.ts'
import type { ConnectionSettings } from './options.ts'

const tlsCodes = /CERT|TLS|SSL|EPROTO|^UNABLE_TO_|^INVALID_|HOSTNAME_MISMATCH|PATH_LENGTH/

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Undefined if there is no body. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** Longer responses are not read. */
  readonly maxResponseBytes: number
  /**
   * Set for non-idempotent operations, which need a new connection if the platform can open one. A reused connection may turn
   * out to be closed only after the request was sent, which would leave the outcome unknown.
   */
  readonly isNonIdempotent: boolean
  /** Called once, as soon as a part of the request may have arrived. */
  readonly onSent: () => void
}

export interface HttpResponse {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | undefined
  /** Undefined if it is longer than `maxResponseBytes`. */
  readonly body: Uint8Array | undefined
}

/**
 * Sends one request and reads the response. Follows no redirects.
 * @throws TransportError `unreachable`, `tls_failed`, `bad_response`, also if the signal is aborted
 * @throws TypeError for a header that cannot be sent
 */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>

export type CreateTransport = (settings: ConnectionSettings) => Transport

/** Returns undefined for a longer body. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** Converts an error of the network. In Node.js, the error of `fetch` has the error with the code as its `cause`. */
export function transportError(error: unknown, { origin }: URL): TransportError {
  const errors = error instanceof Error ? [error, error.cause].filter((one) => one instanceof Error) : []
  const code = errors
    .map((one) => ('code' in one ? one.code : undefined))
    .find((one) => typeof one === 'string')
  // Received bytes may hold a token.
  for (const one of errors) for (const member of ['rawPacket', 'data']) Reflect.deleteProperty(one, member)
  const shown = code === undefined ? '' : ` (${code})`
  if (code?.startsWith('HPE_')) return badResponse(`it is not HTTP${shown}`, { cause: error })
  if (code !== undefined && tlsCodes.test(code)) {
    return new TransportError(
      'tls_failed',
      `No secure connection to ${origin}${shown}. Check origin and its certificate.`,
      { cause: error },
    )
  }
  return new TransportError(
    'unreachable',
    `Cannot reach the User Group Service at ${origin}${shown}. Check origin, and that the service is running.`,
    { cause: error },
  )
}
