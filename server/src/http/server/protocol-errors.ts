import { STATUS_CODES, type Server } from 'node:http'
import { errorBody, errorTable } from '../../contract/errors.ts'
import { Fault } from '../../domain/fault.ts'
import { contextOf } from '../request-context.ts'
import { errorJson } from '../error-response.ts'
import { oauthPaths, operationPaths } from '../operations.ts'
import { securityHeaders } from '../security-headers.ts'
import type { HttpConnection } from './http-connection.ts'
import type { RequestTracker } from './request-tracker.ts'
import type { Stage } from './stage.ts'

/** Faults of Node.js's HTTP parser, by error code. */
const faults: Record<string, () => Fault> = {
  ERR_HTTP_REQUEST_TIMEOUT: requestTimeout,
  HPE_HEADER_OVERFLOW: () => new Fault('headers_too_large', 'The headers of the request are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () =>
    new Fault('body_too_large', 'The chunk extensions of the body are too large'),
  HPE_INVALID_TRANSFER_ENCODING: () =>
    new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported'),
}

/** A `clientError` of Node.js. */
type ProtocolError = Error & { code?: string; reason?: unknown; rawPacket?: unknown; bytesParsed?: unknown }

/** Methods of the main paths. There, a method that Node.js's parser does not know gets 405 like other methods, not 400. */
const methodsOf = new Map([
  ['/api/user', 'GET, POST, PUT'],
  ...Object.values(operationPaths).map((path) => [path, 'POST'] as const),
  ...[oauthPaths.introspect, oauthPaths.revoke].map((path) => [path, 'POST'] as const),
])
const requestLine = /^[\w!#$%&'*+.^`|~-]+ (\/[^ ?]*?)\/?(?:\?\S*)? HTTP\/1\.[01]\r\n/

const securityHeaderLines = Object.entries(securityHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Time to read and drop what a client sends after its last response, in milliseconds. */
const lingerMs = 1000

/** Connections that have got their last response. */
const finished = new WeakSet<HttpConnection>()

interface FinalResponse {
  readonly fault: Fault
  /** Value of the header `Allow`. */
  readonly allow?: string
}

/** Sends the error responses to requests that never reach the later stages, and closes their connections. */
export class ProtocolErrors implements Stage {
  readonly #nextRequestId: () => string
  readonly #tracker: RequestTracker | undefined

  constructor(nextRequestId: () => string, tracker: RequestTracker | undefined) {
    this.#nextRequestId = nextRequestId
    this.#tracker = tracker
  }

  attach(server: Server): void {
    server.on('clientError', (error: ProtocolError, socket: HttpConnection) => {
      this.#handleClientError(error, socket)
    })
    server.on('connect', (_request, socket: HttpConnection) => {
      const fault = new Fault('method_not_allowed', 'CONNECT is not supported')
      this.#send({ fault, allow: '' }, socket)
    })
    // RFC 9110, section 10.1.1: an expectation other than 100-continue may be ignored.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  }

  /** Refuses the request whose body is late on this connection. */
  readonly refuseLate = (socket: HttpConnection): void => {
    if (!finished.has(socket)) this.#send({ fault: requestTimeout() }, socket)
  }

  #handleClientError(error: ProtocolError, socket: HttpConnection): void {
    if (finished.has(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else {
      const allow = methodsOf.get(unknownMethodPath(error) ?? '')
      this.#send(allow === undefined ? { fault: faultOf(error) } : notAllowed(allow), socket)
    }
  }

  /** Sends the last response of a connection after those to earlier requests: clients read them in order. */
  #send(final: FinalResponse, socket: HttpConnection): void {
    finished.add(socket)
    const current = socket._httpMessage
    if (current?.req.complete) current.once('finish', () => this.#send(final, socket))
    // The invalid request got a response before its body was complete.
    else if (current?.headersSent) socket.destroy()
    else this.#write(final, socket)
  }

  #write({ fault, allow }: FinalResponse, socket: HttpConnection): void {
    if (!socket.writable) return
    const context = socket._httpMessage ? contextOf(socket._httpMessage.req) : undefined
    const requestId = context?.id ?? this.#nextRequestId()
    const { code } = fault
    const { status } = errorTable[code]
    const body = context === undefined ? errorBody(fault, requestId) : errorJson(fault, context)
    const bytes = Buffer.byteLength(body)
    if (context === undefined) this.#tracker?.reportUnparsed({ requestId, status, code, bytes })
    else context.replacement = { status, code, bytes, at: performance.now() }
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
        'Content-Type: application/json\r\n' +
        `Content-Length: ${bytes}\r\n` +
        `X-Request-Id: ${requestId}\r\n` +
        'Cache-Control: no-store\r\n' +
        securityHeaderLines +
        (allow === undefined ? '' : `Allow: ${allow}\r\n`) +
        'Connection: close\r\n\r\n' +
        body,
    )
    // Closing a socket with unread bytes resets the connection, and the client may lose the response.
    socket.removeAllListeners('data').on('data', () => undefined)
    socket.once('end', () => socket.destroy())
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}

function requestTimeout(): Fault {
  return new Fault('request_timeout', 'The request did not arrive in time')
}

function notAllowed(methods: string): FinalResponse {
  return { fault: new Fault('method_not_allowed', `This path allows ${methods}`), allow: methods }
}

/** Returns the path of a request whose method Node.js's parser does not know. */
function unknownMethodPath({ code, rawPacket, bytesParsed }: ProtocolError): string | undefined {
  if (code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(rawPacket)) return undefined
  // If an earlier request starts the packet, the path is unknown.
  const isAtStart = Number(bytesParsed) <= rawPacket.indexOf(' ')
  return isAtStart ? requestLine.exec(rawPacket.toString('latin1'))?.[1] : undefined
}

function faultOf({ code = '', reason }: ProtocolError): Fault {
  // Content-Length with a transfer coding is request smuggling (RFC 9112, section 6.1), not an unknown coding.
  const isSmuggled = code === 'HPE_INVALID_TRANSFER_ENCODING' && String(reason).includes('Content-Length')
  const known = isSmuggled ? undefined : faults[code]
  return known?.() ?? new Fault('malformed_request', 'The request is not valid HTTP/1.1')
}
