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
  return hasUnreadBody(reply.request.raw)
    ? reply.header('content-length', bytes.length).send(endingWithRequest(reply.request.raw, bytes))
    : reply.send(bytes)
}

/** Returns true if the request has a body that has not arrived completely. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0)
}

/**
 * Returns a stream that sends `bytes` at once, and ends when the rest of the request has been read and dropped. A connection
 * that closes while the client still sends is reset, and the client may lose the response.
 */
export function endingWithRequest(request: IncomingMessage, bytes: Buffer): Readable {
  const response = new Readable({ read: () => undefined })
  response.push(bytes)
  const end = () => response.push(null)
  request.once('end', end).once('close', end).resume()
  return response
}
