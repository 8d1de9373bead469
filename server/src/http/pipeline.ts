import { createServer, type RequestListener, type Server } from 'node:http'
import type { BlockList } from 'node:net'
import type { Clock } from '../domain/util/clock.ts'
import type { AuthenticationThrottle } from './authentication-throttle.ts'
import { createRequestIds, RequestContext } from './request-context.ts'
import { closeIdleConnections } from './server/idle-connection-timeout.ts'
import { LoadShedder } from './server/load-shedder.ts'
import { keepNextTickFast } from './server/next-tick.ts'
import { handleInTurn } from './server/pipelining.ts'
import { ProtocolErrors } from './server/protocol-errors.ts'
import type { RequestObserver, RequestTracer } from './server/request-observer.ts'
import { RequestTimeout } from './server/request-timeout.ts'
import { RequestTracker } from './server/request-tracker.ts'
import { traceRequests } from './server/request-tracing.ts'
import { validateRequests } from './server/request-validation.ts'
import type { Next, Stage } from './server/stage.ts'
import { deferContinue } from './server/unread-body.ts'

export interface PipelineOptions {
  /** May change at run time. */
  readonly observers: readonly RequestObserver[]
  /** Null if requests are not traced. */
  readonly tracer: RequestTracer | null
  readonly isDraining: () => boolean
  readonly clock: Pick<Clock, 'monotonic'>
  /** Sizes in bytes, times in milliseconds. */
  readonly limits: {
    readonly maxHeader: number
    readonly headersTimeout: number
    readonly requestTimeout: number
    readonly keepAliveTimeout: number
  }
  readonly fastPath: Stage
  readonly throttle: Pick<AuthenticationThrottle, 'trustedProxies'>
}

/** Creates the HTTP server. A request passes the stages in this order, until one responds. */
export function createPipeline(options: PipelineOptions, fastify: RequestListener): Server {
  const { observers, tracer, isDraining, clock, limits, fastPath, throttle } = options
  const nextRequestId = createRequestIds()
  const tracker = new RequestTracker(observers, tracer !== null)
  const protocolErrors = new ProtocolErrors(nextRequestId, tracker)
  const stages: (Stage | undefined)[] = [
    protocolErrors,
    trustProxies(throttle.trustedProxies),
    deferContinue,
    keepNextTickFast,
    closeIdleConnections(limits.keepAliveTimeout + limits.headersTimeout),
    handleInTurn,
    tracker,
    closeWhileDraining(isDraining),
    validateRequests,
    new LoadShedder(clock),
    tracer === null ? undefined : traceRequests(tracer),
    new RequestTimeout(limits.requestTimeout, protocolErrors.refuseLate),
    fastPath,
    // Its onRequest hooks (app.ts, fast-path.ts) run before a route's handler.
    { handle: ({ raw, response }) => fastify(raw, response) },
  ]
  const server = createServer({
    keepAliveTimeout: limits.keepAliveTimeout,
    maxHeaderSize: limits.maxHeader,
    headersTimeout: limits.headersTimeout,
    // `RequestTimeout` limits the time of bodies.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    // `validateRequests` responds in the format of all other errors.
    requireHostHeader: false,
  })
  // Node.js silently drops headers beyond its maximum count. The limit on their size is enough.
  server.maxHeadersCount = 0
  connectStages(server, stages, nextRequestId)
  return server
}

/** Makes the server pass each request through the stages. */
export function connectStages(
  server: Server,
  stages: readonly (Stage | undefined)[],
  nextRequestId: () => string,
): void {
  const present = stages.filter((stage) => stage !== undefined)
  for (const stage of present) stage.attach?.(server)
  const handle = present.reduceRight<Next>(
    (next, stage) => (stage.handle === undefined ? next : (context) => stage.handle?.(context, next)),
    () => undefined,
  )
  server.on('request', (request, response) => handle(new RequestContext(nextRequestId(), request, response)))
}

/** Lets requests find the address of their client behind these proxies. */
function trustProxies(proxies: BlockList): Stage {
  return {
    handle(context, next) {
      context.trustedProxies = proxies
      next(context)
    },
  }
}

/** Makes clients of a service that is stopping connect elsewhere. */
function closeWhileDraining(isDraining: () => boolean): Stage {
  return {
    handle(context, next) {
      if (isDraining()) context.response.setHeader('Connection', 'close')
      next(context)
    },
  }
}
