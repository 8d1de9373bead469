import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { errorBody, errorTable } from '../contract/errors.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import { sendJson } from './response.ts'
import type { ResponseHeaders, RequestContext } from './request-context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller without a valid API token is told of how to send one. */
    challenge?: string
  }
}

/** Answers what a route of Fastify threw. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { challenge = '' } = request.routeOptions.config
  const { status, json } = failureResponse(error, request, reply, { logger: request.log, challenge })
  return sendJson(reply, status, json)
}

/** The one place where a failure becomes an answer, and where the log is told of those that are ours. */
export function failureResponse(
  error: unknown,
  request: RequestContext,
  headers: ResponseHeaders,
  { logger, challenge }: { logger: Pick<FastifyBaseLogger, 'error'>; challenge: string },
): { readonly status: number; readonly json: string } {
  const fault = faultOf(error)
  request.faultCode = fault.code
  const { status } = errorTable[fault.code]
  if (status >= 500 && fault.reason !== undefined) {
    logger.error(
      {
        request_id: request.id,
        operation: request.call?.operation,
        code: fault.code,
        reason: fault.reason,
        ...request.traceIds,
      },
      'request failed',
    )
  }
  if (fault.code === 'unauthenticated') headers.header('WWW-Authenticate', challenge)
  if (fault.code === 'unavailable') headers.header('Retry-After', '1')
  return { status, json: errorBody(fault, request.id) }
}

/** What Fastify itself refuses of a request, on the paths that leave reading it to Fastify. */
const codeOfStatus: Partial<Record<number, FaultCode>> = {
  403: 'not_found',
  404: 'not_found',
  413: 'body_too_large',
  415: 'unsupported_media_type',
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500) {
    const code = codeOfStatus[status] ?? 'malformed_request'
    return new Fault(code, errorTable[code].meaning)
  }
  return new Fault('internal', 'Something went wrong on our side', { reason: reasonOf(error) })
}

/** What the log may hold of an unforeseen error: its kind and code, never its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name
}
