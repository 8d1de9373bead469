import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultCode } from '../../domain/fault.ts'
import { endingWithRequest, hasUnreadBody } from '../response.ts'
import type { AuthorizedRequest, RequestContext } from '../request-context.ts'
import type { TraceIds } from '../server/request-tracing.ts'

/** A request that is served past Fastify, and its answer (decision 0024). */
export class FastPathContext implements RequestContext {
  call: AuthorizedRequest | undefined = undefined
  faultCode: FaultCode | undefined = undefined
  traceIds: TraceIds | undefined = undefined
  /** Size of the answer's body, once it is there. */
  bytes: number | null = null
  readonly id: string
  /** As it is documented. */
  readonly path: string
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  /** Names and values in turn, as Node takes them with the least work. */
  readonly #headers: string[]

  constructor(id: string, path: string, raw: IncomingMessage, response: ServerResponse) {
    this.id = id
    this.path = path
    this.raw = raw
    this.response = response
    this.#headers = ['X-Request-Id', id, 'Cache-Control', 'no-store']
  }

  /** Has the answer carry this header too. */
  header(name: string, value: string): void {
    this.#headers.push(name, value)
  }

  send(status: number, json: string): void {
    const { raw, response } = this
    const bytes = Buffer.byteLength(json)
    this.bytes = bytes
    this.#headers.push('Content-Type', 'application/json', 'Content-Length', String(bytes))
    response.writeHead(status, this.#headers)
    if (hasUnreadBody(raw)) endingWithRequest(raw, Buffer.from(json)).pipe(response)
    // Node writes a text of one byte a character together with the headers, without encoding it.
    else response.end(json, bytes === json.length ? 'latin1' : 'utf8')
  }
}
