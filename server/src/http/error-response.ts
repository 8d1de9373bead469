import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { errorBody, errorTable, oauthErrorBody } from '../contract/errors.ts'
import { isPerson, type Principal } from '../domain/principal.ts'
import { Fault, WrongCredentials, type FaultCode } from '../domain/fault.ts'
import { RepeatLimiter } from '../domain/util/repeat-limiter.ts'
import type { AuthenticationThrottle } from './authentication-throttle.ts'
import { received } from './received-header.ts'
import { contextOf, type RequestContext, type ResponseHeaders } from './request-context.ts'
import { sendJson } from './response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Value of `WWW-Authenticate` in a 401. */
    challenge?: string
  }
}

/** Returns the value of `WWW-Authenticate` in the response to an error, or undefined. */
export type ChallengeOf = (code: FaultCode, request: IncomingMessage) => string | undefined

interface ErrorResponse {
  readonly status: number
  readonly json: string
}

/** Sends the error response of a stage that refuses a request. */
export function sendRefusal(context: RequestContext, fault: Fault): void {
  const { status, json } = errorResponse(fault, context, context)
  context.send(status, json)
}

/** Turns the errors of routes into responses. */
export class ErrorResponses {
  readonly #logger: FailureLogger
  readonly #throttle: AuthenticationThrottle
  /** One line per minute for each API token beyond its rate limit. */
  readonly #limitedTokens = new RepeatLimiter(60_000)

  constructor(logger: FailureLogger, throttle: AuthenticationThrottle) {
    this.#logger = logger
    this.#throttle = throttle
  }

  /** Logs the refusals that are not logged yet. */
  close(): void {
    this.#limitedTokens.close()
    this.#throttle.close()
  }

  /** Sends the error response for an error that a Fastify route threw. */
  readonly send = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { challenge } = request.routeOptions.config
    const { status, json } = this.responseTo(error, contextOf(request.raw), reply, (code) =>
      code === 'unauthenticated' ? challenge : undefined,
    )
    return sendJson(reply, status, json)
  }

  /** Turns an error into a response, and logs it if it is an error of the service. */
  responseTo(
    error: unknown,
    context: RequestContext,
    headers: ResponseHeaders,
    challengeOf: ChallengeOf,
  ): ErrorResponse {
    let fault = faultOf(error, context.raw)
    if (fault instanceof WrongCredentials) fault = this.#throttled(fault, context, headers)
    else if (fault.code === 'rate_limited') this.#logLimited(context.authorized?.principal)
    if (errorTable[fault.code].status >= 500 && fault.reason !== undefined) {
      this.#logger.error(
        {
          request_id: context.id,
          operation: context.authorized?.operation,
          code: fault.code,
          reason: fault.reason,
          ...context.trace?.ids,
        },
        'request failed',
      )
    }
    return errorResponse(fault, context, headers, challengeOf)
  }

  /** Logs the API token of a request. People are limited, too, but are not logged: the log names no people. */
  #logLimited(principal: Principal | undefined): void {
    if (principal === undefined || isPerson(principal)) return
    const { id, workspaceId, environment } = principal
    const names = { api_token_id: id, workspace_id: workspaceId, environment }
    this.#limitedTokens.write(String(id), (suppressed) =>
      this.#logger.warn(
        { ...names, ...(suppressed > 0 && { suppressed }) },
        'an API token exceeds its rate limit',
      ),
    )
  }

  /** Counts a failed authentication. Returns `rate_limited` instead of its fault beyond the limit. */
  #throttled(fault: Fault, { raw, path }: RequestContext, headers: ResponseHeaders): Fault {
    const isSignIn = path?.startsWith('/console/session') === true
    const throttled = this.#throttle.countFailure(raw, isSignIn)
    if (throttled === null) return fault
    const { limit, retryIn, fullIn } = throttled
    headers.header('RateLimit-Policy', `"client-address";q=${limit};w=60`)
    headers.header('RateLimit', `"client-address";r=0;t=${fullIn}`)
    headers.header('Retry-After', String(retryIn))
    return new Fault(
      'rate_limited',
      `Too many requests with wrong credentials came from this address. Check them, and retry in ${retryIn} s`,
    )
  }
}

type FailureLogger = Pick<FastifyBaseLogger, 'error' | 'warn'>

function errorResponse(
  fault: Fault,
  context: RequestContext,
  headers: ResponseHeaders,
  challengeOf?: ChallengeOf,
): ErrorResponse {
  context.faultCode = fault.code
  const challenge = challengeOf?.(fault.code, context.raw)
  if (challenge !== undefined) headers.header('WWW-Authenticate', challenge)
  if (fault.code === 'unavailable') headers.header('Retry-After', '1')
  return { status: errorTable[fault.code].status, json: errorJson(fault, context) }
}

/** Returns the body of an error response: in OAuth's form at the OAuth endpoints. */
export function errorJson(fault: Fault, { id, raw }: Pick<RequestContext, 'id' | 'raw'>): string {
  const isOAuth = /^\/oauth2\/(?:introspect|revoke)\/?(?:\?|$)/.test(raw.url ?? '')
  return isOAuth ? oauthErrorBody(fault, id) : errorBody(fault, id)
}

/** Error codes of the client errors that Fastify itself throws. */
const codeOfStatus: Partial<Record<number, FaultCode>> = {
  403: 'not_found',
  404: 'not_found',
  413: 'body_too_large',
  415: 'unsupported_media_type',
}

function faultOf(error: unknown, { headers }: IncomingMessage): Fault {
  if (error instanceof Fault) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500) {
    const code = codeOfStatus[status] ?? 'malformed_request'
    // Fastify reads the Content-Type even where a body is ignored.
    const problem =
      status === 415 ? `Content-Type: is not valid: ${received(headers['content-type'])}` : undefined
    return new Fault(code, problem ?? errorTable[code].meaning)
  }
  return new Fault('internal', 'Something went wrong on our side', { reason: reasonOf(error) })
}

/** Returns the kind and code of an unexpected error. Its message could hold secrets and stays out of the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name
}
