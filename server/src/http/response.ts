import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Sets the headers that every response has (contract, "Errors"). */
export function setCommonHeaders(reply: FastifyReply, requestId: string): void {
  reply.header('x-request-id', requestId)
  reply.header('cache-control', 'no-store')
}

/**
 * Sends a JSON text with Fastify, as bytes: Fastify would add a charset to the type of a string, which `application/json` does
 * not have (RFC 8259, section 11).
 */
export function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  const bytes = Buffer.from(json)
  reply.code(status).header('content-type', 'application/json')
  const { raw } = reply.request
  if (!hasUnreadBody(raw)) return reply.send(bytes)
  if (mayBeTooLongToDrop(raw)) reply.header('connection', 'close')
  return reply.header('content-length', bytes.length).send(endingWithRequest(raw, bytes))
}

/** Returns true if the request has a body that has not arrived completely. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0)
}

/** Limits on what is read of a body that the service does not use, in bytes and milliseconds. */
const drainLimit = { bytes: 1024 * 1024, ms: 1000 }

/** Returns true if the unread body may be too long to drop, so that the response must announce that the connection closes. */
export function mayBeTooLongToDrop({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > drainLimit.bytes
}

/**
 * Returns a stream that sends `bytes` at once, and ends when the rest of the request has been read and dropped. A connection
 * that closes while the client still sends is reset, and the client may lose the response. Beyond `drainLimit` it closes anyway.
 */
export function endingWithRequest(request: IncomingMessage, bytes: Buffer): Readable {
  const response = new Readable({ read: () => undefined })
  response.push(bytes)
  const timer = setTimeout(() => request.socket.destroy(), drainLimit.ms)
  const end = () => {
    clearTimeout(timer)
    response.push(null)
  }
  let dropped = 0
  const drop = (chunk: Buffer) => {
    dropped += chunk.length
    // Until the connection closes, the client has time to read the response.
    if (dropped > drainLimit.bytes) request.pause()
  }
  request.once('end', end).once('close', end).on('data', drop).resume()
  return response
}
