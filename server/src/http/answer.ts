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
  return reply.code(status).header('content-type', 'application/json').send(Buffer.from(json))
}
