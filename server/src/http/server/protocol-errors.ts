import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { errorBody, errorTable } from '../../contract/errors.ts'
import { Fault, type FaultCode } from '../../domain/fault.ts'
import type { HttpSocket } from './http-connection.ts'

/** What Node's HTTP parser refuses before there is a request, by its error code. */
const faults: Record<string, () => Fault> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => new Fault('request_timeout', 'The request did not arrive in time'),
  HPE_HEADER_OVERFLOW: () => new Fault('headers_too_large', 'The headers of the request are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () =>
    new Fault('body_too_large', 'The chunk extensions of the body are too large'),
  HPE_INVALID_TRANSFER_ENCODING: () =>
    new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported'),
}

/** What Node tells of a request that it could not take. */
type ProtocolError = Error & { code?: string; reason?: unknown; rawPacket?: unknown; bytesParsed?: unknown }

/** The paths on which a method that Node's parser does not know is 405 like any other, and not a broken request. */
const methodsOf = new Map([
  ['/api/user', 'GET, POST, PUT'],
  ['/oauth2/introspect', 'POST'],
])
const requestLine = /^[\w!#$%&'*+.^`|~-]+ (\/[^ ?]*?)\/?(?:\?\S*)? HTTP\/1\.[01]\r\n/

/** What Node tells of a request that did not arrive in time. */
export function requestTimeout(): Error & { code: string } {
  return Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}

/** For how long what a client goes on sending is read and dropped once it has been answered, in milliseconds. */
const lingerMs = 1000

/** A last answer that was written. */
export interface Refusal {
  readonly requestId: string
  readonly status: number
  readonly code: FaultCode
  /** Size of the answer's body. */
  readonly bytes: number
  /** The answer that the same request would have had if it had gone on. */
  readonly inPlaceOf?: ServerResponse | undefined
  /** The request, where it was understood and its call had not begun. */
  readonly request?: IncomingMessage
}

/** What last answers need. */
export interface FinalResponses {
  readonly nextRequestId: () => string
  readonly onRefused: ((refusal: Refusal) => void) | undefined
}

/** The connections that have had their last answer. */
const responded = new WeakSet<HttpSocket>()

/** Answers a broken, oversized or late request in the shape of every other error, and closes its connection. */
export function sendProtocolError(
  error: ProtocolError,
  socket: HttpSocket,
  finalResponses: FinalResponses,
): void {
  if (responded.has(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else {
    const allowed = methodsOf.get(unknownMethodAt(error) ?? '')
    sendFinalResponse(allowed === undefined ? faultOf(error) : notAllowed(allowed), socket, finalResponses)
  }
}

/** Answers the two kinds of request that Node's server would answer by itself, in another shape or not at all. */
export function refuseUnusualRequests(server: Server, finalResponses: FinalResponses): void {
  server.on('connect', (_request, socket) => {
    sendFinalResponse(
      { fault: new Fault('method_not_allowed', 'CONNECT is not supported'), allow: '' },
      socket,
      finalResponses,
    )
  })
  // RFC 9110, section 10.1.1: an expectation other than 100-continue may be ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

function notAllowed(methods: string): FinalResponse {
  return { fault: new Fault('method_not_allowed', `This path allows ${methods}`), allow: methods }
}

/** The path of a request whose method Node's parser does not know. */
function unknownMethodAt({ code, rawPacket, bytesParsed }: ProtocolError): string | undefined {
  if (code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(rawPacket)) return undefined
  // The packet may start with an earlier request, and then says nothing of this one.
  const isAtStart = Number(bytesParsed) <= rawPacket.indexOf(' ')
  return isAtStart ? requestLine.exec(rawPacket.toString('latin1'))?.[1] : undefined
}

function faultOf({ code = '', reason }: ProtocolError): FinalResponse {
  // A length beside a transfer coding is how requests are smuggled (RFC 9112, section 6.1), and no unknown coding.
  const isSmuggled = code === 'HPE_INVALID_TRANSFER_ENCODING' && String(reason).includes('Content-Length')
  const known = isSmuggled ? undefined : faults[code]
  return { fault: known?.() ?? new Fault('malformed_request', 'The request is not valid HTTP/1.1') }
}

interface FinalResponse {
  readonly fault: Fault
  /** The header `Allow`. */
  readonly allow?: string
}

/** Writes the last answer of a connection once those to the requests before it are out: a client takes them in order. */
function sendFinalResponse(
  response: FinalResponse,
  socket: HttpSocket,
  finalResponses: FinalResponses,
): void {
  responded.add(socket)
  const underWay = socket._httpMessage
  if (underWay?.req.complete)
    underWay.once('finish', () => sendFinalResponse(response, socket, finalResponses))
  // The request at fault has had an answer already, before its body was there.
  else if (underWay?.headersSent) socket.destroy()
  else writeLast(response, socket, finalResponses)
}

function writeLast(
  { fault, allow }: FinalResponse,
  socket: HttpSocket,
  { nextRequestId, onRefused }: FinalResponses,
): void {
  if (!socket.writable) return
  const requestId = nextRequestId()
  const body = errorBody(fault, requestId)
  const bytes = Buffer.byteLength(body)
  const { status } = errorTable[fault.code]
  onRefused?.({ requestId, status, code: fault.code, bytes, inPlaceOf: socket._httpMessage ?? undefined })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json\r\n' +
      `Content-Length: ${bytes}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      'Cache-Control: no-store\r\n' +
      (allow === undefined ? '' : `Allow: ${allow}\r\n`) +
      'Connection: close\r\n\r\n' +
      body,
  )
  // A socket that is closed with bytes unread resets the connection, and the answer may be lost with it.
  socket.removeAllListeners('data').on('data', () => undefined)
  socket.once('end', () => socket.destroy())
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
