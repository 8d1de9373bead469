import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Fault } from '../../domain/fault.ts'
import { sendRefusal } from '../error-response.ts'
import type { RequestContext } from '../request-context.ts'
import type { Stage } from './stage.ts'

/** Headers of which a proxy may use another one than the service if there are several. */
const singleHeaders = ['Host', 'Authorization', 'Content-Type']
/** RFC 3986, section 3.2: a name or an address, and a port; no user name. It may be empty. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Connections on which a proxy may disagree with the service about the end of a request. */
const ambiguous = new WeakSet<Socket>()

/** Refuses ambiguous framing and requests that violate RFC 9112 in ways that Node.js's parser accepts. */
export const validateRequests: Stage = {
  handle(context, next) {
    const { raw, response } = context
    const isAmbiguous = ambiguous.has(raw.socket)
    // A proxy may see another end of the request: what follows on the connection could be a smuggled request.
    if (hasAmbiguousFraming(raw)) {
      ambiguous.add(raw.socket)
      response.setHeader('connection', 'close')
    }
    const problem = isAmbiguous
      ? 'The request before this one on the connection has ambiguous framing'
      : problemOf(raw)
    if (problem === undefined) next(context)
    else refuse(context, problem)
  },
}

function refuse(context: RequestContext, problem: string): void {
  sendRefusal(context, new Fault('malformed_request', problem))
}

function hasAmbiguousFraming({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return httpVersion === '1.1'
    ? coding !== undefined && coding.toLowerCase() !== 'chunked'
    : httpVersion !== '1.0' || coding !== undefined
}

function problemOf(request: IncomingMessage): string | undefined {
  const { httpVersion, headers, rawHeaders } = request
  if (httpVersion !== '1.1') {
    if (httpVersion !== '1.0') return 'The version of HTTP must be 1.1'
    // RFC 9112, section 6.1.
    if (headers['transfer-encoding'] !== undefined) return 'Transfer-Encoding: HTTP/1.0 has none'
  }
  // RFC 9112, section 3.2.2: a server accepts the absolute form. One without a host or with a user name stays invalid.
  if (request.url?.startsWith('/') !== true) {
    const path = request.url?.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '') ?? ''
    request.url = path === '' ? '/' : path
  }
  if (/^https?:|#/i.test(request.url)) return 'The path is not valid'
  for (const name of singleHeaders) {
    if (countOf(name, rawHeaders) > 1) return `${name}: is given more than once`
  }
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1') return 'Host: is required'
  return hostForm.test(headers.host ?? '') ? undefined : 'Host: is not valid'
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const found = rawHeaders[i] as string
    if (found.length === name.length && found.toLowerCase() === name.toLowerCase()) count++
  }
  return count
}
