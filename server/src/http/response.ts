import type { FastifyReply } from 'fastify'
import { contextOf } from './request-context.ts'
import { securityHeaders } from './security-headers.ts'
import { endingWithRequest, hasUnreadBody, mayBeTooLongToDrop } from './server/unread-body.ts'

/** Sets the headers that every response of Fastify has (contract, "Errors"). */
export function setCommonHeaders(reply: FastifyReply, requestId: string): void {
  reply.headers({ ...securityHeaders, 'x-request-id': requestId, 'cache-control': 'no-store' })
}

/**
 * Sends a JSON text, or its encoded bytes, with Fastify, as bytes: Fastify would add a charset to the type of a string, which `application/json` does
 * not have (RFC 8259, section 11).
 */
export function sendJson(reply: FastifyReply, status: number, json: string | Buffer): FastifyReply {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  reply.code(status).header('content-type', 'application/json')
  const { raw } = reply.request
  if (!hasUnreadBody(raw)) return reply.send(bytes)
  if (mayBeTooLongToDrop(raw)) reply.header('connection', 'close')
  contextOf(raw).respondedAt = performance.now()
  return reply.header('content-length', bytes.length).send(endingWithRequest(raw, bytes))
}
