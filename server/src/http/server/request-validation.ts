import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Fault } from '../../domain/fault.ts'

// Node's parser leaves some of what RFC 9112 asks of a server to the server.

/** A proxy on the way may take another one of several for the one that counts. */
const singleHeaders = ['Host', 'Authorization', 'Content-Type']
/** RFC 3986, section 3.2: a name or an address, and a port; no user name. It may be empty. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Connections on which a request may have ended elsewhere for a proxy on the way than for this server. */
const isAmbiguous = new WeakSet<Socket>()

/**
 * Has the connection close with the answer where the version or a transfer coding leaves room for doubt where the request
 * ends: what follows it there may be a smuggled one.
 */
export function closeOnAmbiguousFraming(
  request: IncomingMessage,
  response: Pick<ServerResponse, 'setHeader'>,
): void {
  const coding = request.headers['transfer-encoding']
  const isPlain =
    request.httpVersion === '1.1'
      ? coding === undefined || coding.toLowerCase() === 'chunked'
      : request.httpVersion === '1.0' && coding === undefined
  if (isPlain) return
  isAmbiguous.add(request.socket)
  response.setHeader('connection', 'close')
}

/** @throws Fault `malformed_request` */
export function validateRequest(request: IncomingMessage, response: ServerResponse): void {
  const { httpVersion, headers, rawHeaders, url = '', socket } = request
  if (isAmbiguous.has(socket)) throw malformed('It is in doubt where the request before this one ends')
  closeOnAmbiguousFraming(request, response)
  if (httpVersion !== '1.1') {
    if (httpVersion !== '1.0') throw malformed('The version of HTTP must be 1.1')
    // RFC 9112, section 6.1.
    if (headers['transfer-encoding'] !== undefined) throw malformed('Transfer-Encoding: HTTP/1.0 has none')
  }
  // Of an absolute form only what has no host, or a user too, is left by now (RFC 9110, section 4.2).
  if (/^https?:|#/i.test(url)) throw malformed('The path is not valid')
  for (const name of singleHeaders) {
    if (countOf(name, rawHeaders) > 1) throw malformed(`${name}: is given more than once`)
  }
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1') throw malformed('Host: is required')
  if (!hostForm.test(headers.host ?? '')) throw malformed('Host: is not valid')
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const found = rawHeaders[i] as string
    if (found.length === name.length && found.toLowerCase() === name.toLowerCase()) count++
  }
  return count
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', message)
}
