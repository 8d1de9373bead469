import { isPerson } from '../../domain/principal.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { FaultCode } from '../../domain/fault.ts'
import type { Operation } from '../operations.ts'
import type { RequestContext } from '../request-context.ts'
import { ArrivalEstimator } from './arrival-estimator.ts'
import type { CompletedRequest, RequestObserver, TraceIds } from './request-observer.ts'
import type { Next, Stage } from './stage.ts'

/** Reports each request to the observers once its response has ended or its client has left. */
export class RequestTracker implements Stage {
  readonly #observers: readonly RequestObserver[]
  readonly #isTraced: boolean
  readonly #arrivals = new ArrivalEstimator()

  constructor(observers: readonly RequestObserver[], isTraced: boolean) {
    this.#observers = observers
    this.#isTraced = isTraced
  }

  handle(context: RequestContext, next: Next): void {
    if (this.#observers.length === 0 && !this.#isTraced) return next(context)
    const { raw, response } = context
    const { socket } = raw
    const arrivedAt = this.#arrivals.arrivalOn(socket)
    for (const observer of this.#observers) observer.begin?.()
    // Fastify's `onResponse` hook does not run if the connection breaks.
    response.once('close', () => {
      this.#arrivals.markResponse(socket)
      const record = new RequestRecord(context, arrivedAt)
      context.trace?.end(record)
      this.#report(record)
    })
    next(context)
  }

  /** Reports an error response to a request whose headers never became complete. */
  readonly reportUnparsed = (
    response: Pick<CompletedRequest, 'requestId' | 'status' | 'code' | 'bytes'>,
  ): void => {
    const unknown = { method: null, path: null, operation: null, apiToken: null, duration: null }
    this.#report({ ...response, ...unknown, isCutOff: false, traceIds: undefined })
  }

  #report(request: CompletedRequest): void {
    for (const observer of this.#observers) observer.end(request)
  }
}

/** Reads properties on demand: most requests are never logged. */
class RequestRecord implements CompletedRequest {
  readonly #context: RequestContext
  readonly duration: number

  constructor(context: RequestContext, arrivedAt: number) {
    this.#context = context
    this.duration = (context.replacement?.at ?? context.respondedAt ?? performance.now()) - arrivedAt
  }

  get requestId(): string {
    return this.#context.id
  }

  get method(): string | null {
    return this.#context.raw.method ?? null
  }

  get path(): string | null {
    return this.#context.path
  }

  get operation(): Operation | null {
    return this.#context.authorized?.operation ?? null
  }

  get apiToken(): ApiToken | null {
    const principal = this.#context.authorized?.principal
    return principal === undefined || isPerson(principal) ? null : principal
  }

  get status(): number | null {
    const { replacement, response } = this.#context
    return replacement?.status ?? (response.headersSent ? response.statusCode : null)
  }

  get code(): FaultCode | null {
    const { replacement, response, faultCode = null } = this.#context
    return replacement?.code ?? (response.headersSent ? faultCode : null)
  }

  get bytes(): number | null {
    return this.#context.replacement?.bytes ?? this.#context.bytes
  }

  get isCutOff(): boolean {
    const { replacement, respondedAt, raw, response } = this.#context
    // An endless response can only be cut off.
    if (replacement !== undefined || respondedAt !== undefined) return false
    // Node.js reports a response as finished even if its request broke off.
    return !(raw.complete && response.writableFinished)
  }

  get traceIds(): TraceIds | undefined {
    return this.#context.trace?.ids
  }
}
