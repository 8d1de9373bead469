import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Headers of every answer (contract, "Errors"). */
export function setCommonHeaders(reply: FastifyReply, requestId: string): void {
  reply.header('x-request-id', requestId)
  reply.header('cache-control', 'no-store')
}

/**
 * Sends a JSON text as it is. As bytes, because Fastify would add a charset to the type of a string, and
 * `application/json` has none (RFC 8259, section 11).
 */
export function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  const bytes = Buffer.from(json)
  reply.code(status).header('content-type', 'application/json')
  return hasUnreadBody(reply.request.raw)
    ? reply.header('content-length', bytes.length).send(endingWithRequest(reply.request.raw, bytes))
    : reply.send(bytes)
}

export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0)
}

/**
 * An answer that is given before its request's body is there: it is written at once, and ends when the body has been
 * read and dropped. A connection closed on a client that is still sending is reset, and the answer may be lost with it.
 */
export function endingWithRequest(request: IncomingMessage, bytes: Buffer): Readable {
  const response = new Readable({ read: () => undefined })
  response.push(bytes)
  const end = () => response.push(null)
  request.once('end', end).once('close', end).resume()
  return response
}
