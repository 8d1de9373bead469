import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorAnswer, errorTable } from '../contract/errors.ts'
import { Fault } from '../domain/fault.ts'

/** What Node's HTTP parser refuses before there is a request, by its error code. */
const faults: Record<string, () => Fault> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => new Fault('request_timeout', 'The request did not arrive in time'),
  HPE_HEADER_OVERFLOW: () => new Fault('headers_too_large', 'The headers of the request are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () =>
    new Fault('body_too_large', 'The chunk extensions of the body are too large'),
  HPE_INVALID_TRANSFER_ENCODING: () =>
    new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported'),
}

type ProtocolError = Error & { code?: string; rawPacket?: unknown }

const allowedMethods = 'GET, POST, PUT'

/** A call of `/api/user` with a method that Node's parser does not know: 405 like any other, and not a broken request. */
const unknownMethod = /^[\w!#$%&'*+.^`|~-]+ \/api\/user\/?(?:\?\S*)? HTTP\/1\.[01]\r\n/

/** A connection, with what Node's HTTP server keeps on it: the answer that is next to be written to it. */
type HttpSocket = Duplex & { _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null }

/**
 * Answers a broken, oversized or late request in the shape of every other error, and closes its connection. The answer
 * to a request before it on the same connection, if one is under way, goes first: a client takes answers in order.
 */
export function answerProtocolError(
  error: ProtocolError,
  socket: HttpSocket,
  nextRequestId: () => string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const fault = faultOf(error)
  const underWay = socket._httpMessage
  if (underWay?.req.complete) underWay.once('finish', () => writeFault(fault, socket, nextRequestId()))
  else writeFault(fault, socket, nextRequestId())
}

function faultOf({ code = '', rawPacket }: ProtocolError): Fault {
  if (
    code === 'HPE_INVALID_METHOD' &&
    Buffer.isBuffer(rawPacket) &&
    unknownMethod.test(rawPacket.toString('latin1'))
  ) {
    return new Fault('method_not_allowed', `This path allows ${allowedMethods}`)
  }
  return faults[code]?.() ?? new Fault('malformed_request', 'The request is not valid HTTP/1.1')
}

/** Answers the two kinds of request that Node's server would answer by itself, in another shape or not at all. */
export function answerUnusualRequests(server: Server, nextRequestId: () => string): void {
  server.on('connect', (_request, socket) => {
    const fault = new Fault('method_not_allowed', 'CONNECT is not supported')
    writeFault(fault, socket, nextRequestId())
  })
  // RFC 9110, section 10.1.1: an expectation other than 100-continue may be ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

function writeFault(fault: Fault, socket: HttpSocket, requestId: string): void {
  if (!socket.writable) return
  const body = errorAnswer(fault, requestId)
  const { status } = errorTable[fault.code]
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      'Cache-Control: no-store\r\n' +
      (fault.code === 'method_not_allowed' ? `Allow: ${allowedMethods}\r\n` : '') +
      'Connection: close\r\n\r\n' +
      body,
    // Whoever sent this may never close its side.
    () => socket.destroy(),
  )
}
