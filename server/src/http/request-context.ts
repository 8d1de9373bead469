import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList } from 'node:net'
import { requestIdWithClient } from '../domain/audit/audit-event.ts'
import type { FaultCode } from '../domain/fault.ts'
import { clientAddressOf } from './client-address.ts'
import type { AuthorizedRequest } from './operations.ts'
import { securityHeaders } from './security-headers.ts'
import type { Permit } from './server/permit.ts'
import type { RequestTrace } from './server/request-observer.ts'
import { sendSuccess } from './server/success-response.ts'
import { endingWithRequest, hasUnreadBody, mayBeTooLongToDrop } from './server/unread-body.ts'

/** Collects headers of a response. */
export interface ResponseHeaders {
  header(name: string, value: string): unknown
}

/** A response that replaced the response of the route, for example a 408. */
export interface Replacement {
  readonly status: number
  readonly code: FaultCode
  /** Size of the response body. */
  readonly bytes: number
  /** Time of the response, as `performance.now()`. */
  readonly at: number
}

const noProxies = new BlockList()

const contextKey = Symbol('context')

const securityHeaderList = Object.entries(securityHeaders).flat()

type RequestWithContext = IncomingMessage & { [contextKey]?: RequestContext }

/** Returns the context that the pipeline attached to a request. */
export function contextOf(request: IncomingMessage): RequestContext {
  return (request as RequestWithContext)[contextKey] as RequestContext
}

/** One request and its response. The pipeline creates it, and each stage adds to it. */
export class RequestContext implements ResponseHeaders {
  readonly id: string
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  /** Documented path of the route, with `{name}` for parameters; null if no route matches. */
  path: string | null = null
  /** Set once the request is authenticated. */
  authorized: AuthorizedRequest | undefined = undefined
  /** Error code of the response. */
  faultCode: FaultCode | undefined = undefined
  /** Set by the pipeline. Proxies whose `X-Forwarded-For` is believed. */
  trustedProxies = noProxies
  /** Set by the load shedder. */
  permit!: Permit
  /** Set if the request is traced. */
  trace: RequestTrace | undefined = undefined
  /** Set if the server responded instead of the route. */
  replacement: Replacement | undefined = undefined
  /** Time of the response if its end does not matter, as `performance.now()`: it is endless, or ends with a refused body. */
  respondedAt: number | undefined = undefined
  /** Headers of a response that Fastify sends. */
  reply: { getHeader(name: string): unknown } | undefined = undefined
  #bytes: number | undefined = undefined
  /** Alternating names and values, the form that Node.js sends fastest. */
  readonly #headers: string[]

  constructor(id: string, raw: IncomingMessage, response: ServerResponse) {
    this.id = id
    this.raw = raw
    this.response = response
    this.#headers = ['X-Request-Id', id, 'Cache-Control', 'no-store']
    ;(raw as RequestWithContext)[contextKey] = this
  }

  /** The id with the client, for the audit log. */
  get auditedId(): string {
    return requestIdWithClient(
      this.id,
      clientAddressOf(this.raw, this.trustedProxies),
      this.raw.headers['user-agent'],
    )
  }

  /** Size of the response body; null if unknown. */
  get bytes(): number | null {
    const bytes = this.#bytes ?? this.reply?.getHeader('content-length')
    return bytes === undefined ? null : Number(bytes)
  }

  header(name: string, value: string): void {
    this.#headers.push(name, value)
  }

  /** Sends a JSON response without Fastify. */
  send(status: number, json: string): void {
    const { raw, response } = this
    const bytes = Buffer.byteLength(json)
    this.#bytes = bytes
    this.#headers.push('Content-Type', 'application/json', 'Content-Length', String(bytes))
    const isUnread = hasUnreadBody(raw)
    if (isUnread) {
      this.respondedAt = performance.now()
      if (mayBeTooLongToDrop(raw)) this.#headers.push('Connection', 'close')
    }
    // Programs get the successful responses of this path. A browser can be led to the others.
    if (status === 200 && !isUnread) return sendSuccess(response, this.#headers, json)
    this.#headers.push(...securityHeaderList)
    response.writeHead(status, this.#headers)
    if (isUnread) endingWithRequest(raw, Buffer.from(json)).pipe(response)
    else response.end(json)
  }
}

/** Returns a generator of request ids: random characters that are unique to this process, then a counter. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
