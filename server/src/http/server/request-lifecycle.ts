import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { FaultCode } from '../../domain/fault.ts'
import { ArrivalClock } from './arrival-clock.ts'
import type { Operation, RequestContext } from '../request-context.ts'
import type { RequestTracer, TraceIds } from './request-tracing.ts'
import type { Refusal } from './protocol-errors.ts'

/** A call that is over. Nothing in it is secret: no token, no user group id, no query. */
export interface CompletedRequest {
  readonly requestId: string
  /** Null where the request was refused before it was understood. */
  readonly method: string | null
  /** With `{name}` in place of what stood for a parameter; null where there is no such path and method. */
  readonly path: string | null
  readonly operation: Operation | null
  readonly apiToken: ApiToken | null
  /** Null where the client left before the answer. */
  readonly status: number | null
  /** Of the error that was answered. */
  readonly code: FaultCode | null
  /** Milliseconds from the request's arrival to the end of the answer; null where its headers were refused. */
  readonly duration: number | null
  /** Size of the answer's body; null where it was not known when the answer began. */
  readonly bytes: number | null
  /** Whether the connection was gone before all of the answer had been sent. */
  readonly isCutOff: boolean
  /** Of a call that is followed. */
  readonly traceIds: TraceIds | undefined
}

/** Watches calls. It is called on the hot path, and throws nothing. */
export interface RequestObserver {
  /** A call has begun, of which `end` will tell. */
  begin?(): void
  /** A call is over; one without a duration had not begun. */
  end(call: CompletedRequest): void
}

/** A call that is under way. */
export interface TrackedRequest extends Readonly<Omit<RequestContext, 'traceIds'>> {
  traceIds: TraceIds | undefined
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  /** As in `EndedCall`. */
  readonly path: string | null
  /** As in `EndedCall`. */
  readonly bytes: number | null
}

/** Tells of each call when it is over, however that comes. */
export class RequestTracker {
  readonly #observers: readonly RequestObserver[]
  readonly #tracer: RequestTracer | null
  readonly #clock = new ArrivalClock()
  /** When requests arrived whose calls had to wait. */
  readonly #arrivals = new WeakMap<IncomingMessage, number>()
  /** Why a request that was being handled had another answer than its handler's. */
  readonly #refusals = new WeakMap<ServerResponse, Refusal & { readonly at: number }>()
  /** What to call when a connection closes with answers that wait for earlier ones. */
  readonly #waiting = new WeakMap<Socket, Set<() => void>>()

  constructor(observers: readonly RequestObserver[], tracer: RequestTracer | null) {
    this.#observers = observers
    this.#tracer = tracer
  }

  /** The answer to a request begins to go out. */
  markResponding({ socket }: IncomingMessage): void {
    this.#clock.answerOn(socket)
  }

  /** A request has come, and its call has to wait until it begins or is refused. */
  readonly waits = (request: IncomingMessage): void => {
    this.#arrivals.set(request, this.#clock.arrivalOn(request.socket))
  }

  /** A request's client left before its call began. */
  readonly left = (request: IncomingMessage, requestId: string): void => {
    this.#endUnbegun(request, { requestId, status: null, code: null, bytes: null, isCutOff: true })
  }

  /** Does what belongs to the call, having begun to watch it. */
  begin(watched: TrackedRequest, work: () => void): void {
    const { raw, response } = watched
    const arrivedAt = this.#arrivals.get(raw) ?? this.#clock.arrivalOn(raw.socket)
    for (const observer of this.#observers) observer.begin?.()
    const traced = this.#tracer?.begin(raw) ?? null
    if (traced !== null) watched.traceIds = traced.ids
    const waiting = response.socket === null ? this.#waitingOn(raw.socket) : undefined
    const end = () => {
      if (waiting?.delete(end)) response.off('close', end)
      const refusal = this.#refusals.get(response)
      const duration = (refusal?.at ?? performance.now()) - arrivedAt
      const call = new RequestRecord(watched, duration, refusal)
      traced?.end(call)
      this.#end(call)
    }
    waiting?.add(end)
    // Fastify's own hook is not called where the connection breaks.
    response.once('close', end)
    if (traced === null) work()
    else traced.run(work)
  }

  /** A request was answered past Fastify, which may have begun to handle it. */
  readonly refused = (refusal: Refusal): void => {
    const { requestId, status, code, bytes, inPlaceOf, request } = refusal
    if (inPlaceOf !== undefined) this.#refusals.set(inPlaceOf, { ...refusal, at: performance.now() })
    else this.#endUnbegun(request, { requestId, status, code, bytes, isCutOff: false })
  }

  /** Without a request, its headers were refused. */
  #endUnbegun(
    request: IncomingMessage | undefined,
    response: Pick<CompletedRequest, 'requestId' | 'status' | 'code' | 'bytes' | 'isCutOff'>,
  ): void {
    const nothing = { path: null, operation: null, apiToken: null, traceIds: undefined }
    if (request === undefined) {
      this.#end({ ...response, ...nothing, method: null, duration: null })
      return
    }
    const arrivedAt = this.#arrivals.get(request) ?? this.#clock.arrivalOn(request.socket)
    for (const observer of this.#observers) observer.begin?.()
    const duration = performance.now() - arrivedAt
    this.#end({ ...response, ...nothing, method: request.method ?? null, duration })
  }

  #end(call: CompletedRequest): void {
    for (const observer of this.#observers) observer.end(call)
  }

  /** Node tells an answer of the end of its connection only once it is its turn to be sent. */
  #waitingOn(socket: Socket): Set<() => void> {
    const known = this.#waiting.get(socket)
    if (known !== undefined) return known
    const waiting = new Set<() => void>()
    this.#waiting.set(socket, waiting)
    socket.once('close', () => waiting.forEach((end) => end()))
    return waiting
  }
}

/** Looks up only what is asked for: most calls are not. */
class RequestRecord implements CompletedRequest {
  readonly #call: TrackedRequest
  readonly #refusal: Refusal | undefined
  readonly duration: number

  constructor(call: TrackedRequest, duration: number, refusal: Refusal | undefined) {
    this.#call = call
    this.#refusal = refusal
    this.duration = duration
  }

  get requestId(): string {
    return this.#refusal?.requestId ?? this.#call.id
  }

  get method(): string | null {
    return this.#call.raw.method ?? null
  }

  get path(): string | null {
    return this.#call.path
  }

  get operation(): Operation | null {
    return this.#call.call?.operation ?? null
  }

  get apiToken(): ApiToken | null {
    return this.#call.call?.apiToken ?? null
  }

  get status(): number | null {
    const { response } = this.#call
    return this.#refusal?.status ?? (response.headersSent ? response.statusCode : null)
  }

  get code(): FaultCode | null {
    return this.#refusal?.code ?? (this.#call.response.headersSent ? (this.#call.faultCode ?? null) : null)
  }

  get bytes(): number | null {
    return this.#refusal?.bytes ?? this.#call.bytes
  }

  get isCutOff(): boolean {
    // An answer to a request that broke off counts as finished too, though nobody is there to take it.
    const isBroken = !this.#call.raw.complete || !this.#call.response.writableFinished
    return this.#refusal === undefined && isBroken
  }

  get traceIds(): TraceIds | undefined {
    return this.#call.traceIds
  }
}

/** A call that Fastify handles. */
export class FastifyTrackedRequest implements TrackedRequest {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
  }

  get id(): string {
    return this.#request.id
  }

  get raw(): IncomingMessage {
    return this.#request.raw
  }

  get response(): ServerResponse {
    return this.#reply.raw
  }

  get call() {
    return this.#request.call
  }

  get faultCode() {
    return this.#request.faultCode
  }

  get traceIds(): TraceIds | undefined {
    return this.#request.traceIds
  }

  set traceIds(ids: TraceIds | undefined) {
    this.#request.traceIds = ids
  }

  get path(): string | null {
    const { url } = this.#request.routeOptions
    return url === undefined ? null : pathOfRoute(url)
  }

  get bytes(): number | null {
    const length = this.#reply.getHeader('content-length')
    return length === undefined ? null : Number(length)
  }
}

/** `/admin/v1/user-groups/:team_id(^…$)` as it is documented: `/admin/v1/user-groups/{team_id}`. */
function pathOfRoute(url: string): string {
  return url.replaceAll(/:(\w+)(?:\(\^.*?\$\))?/g, '{$1}')
}
