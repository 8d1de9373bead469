import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api'
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { CompletedRequest, RequestTracer } from '../http/server/request-observer.ts'
import type { BatchObserver } from '../store/batch-observer.ts'

export interface TracesOptions {
  readonly version: string
  readonly storeKind: keyof typeof stores
  /** Called at most once a minute if spans cannot be sent. */
  readonly onLoss: () => void
}

export interface Traces {
  readonly requests: RequestTracer
  readonly batches: BatchObserver
  /** Sends the remaining spans, for `timeoutMs` at most. */
  close(timeoutMs: number): Promise<void>
}

const lossPauseMs = 60_000

/** OpenTelemetry's names for the stores. SQLite runs in this process, so its spans are not those of a client. */
const stores = {
  sqlite: { system: 'sqlite', spanKind: SpanKind.INTERNAL },
  postgres: { system: 'postgresql', spanKind: SpanKind.CLIENT },
} as const
const ignore = () => undefined
const headerGetter: TextMapGetter<IncomingHttpHeaders> = {
  get: (headers, name) => headers[name],
  keys: (headers) => Object.keys(headers),
}

/**
 * Sends spans of requests and of the store's batches to a collector (OTLP over HTTP). OpenTelemetry's packages read the
 * `OTEL_*` environment variables for endpoint, sampling and limits.
 */
export function startTraces({ version, storeKind, onLoss }: TracesOptions): Traces {
  let lastLoss = -Infinity
  // The error itself may hold an address or a collector's response.
  setGlobalErrorHandler(() => {
    if (performance.now() - lastLoss < lossPauseMs) return
    lastLoss = performance.now()
    onLoss()
  })
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': 'user-group-service',
          'service.version': version,
          'process.pid': process.pid,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer = provider.getTracer('user-group-service', version)
  /** Span of the current request, if it is sampled. */
  const current = new AsyncLocalStorage<Span>()
  return {
    requests: requestTracer(tracer, current),
    batches: batchObserver(tracer, current, stores[storeKind]),
    close: async (timeoutMs) => {
      await Promise.race([provider.shutdown(), sleep(timeoutMs, undefined, { ref: false })]).catch(onLoss)
    },
  }
}

function requestTracer(tracer: Tracer, current: AsyncLocalStorage<Span>): RequestTracer {
  const propagator = new W3CTraceContextPropagator()
  let tracedRequests = 0
  return {
    begin: ({ method = '', headers }) => {
      const parent =
        headers.traceparent === undefined
          ? ROOT_CONTEXT
          : propagator.extract(ROOT_CONTEXT, headers, headerGetter)
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, parent)
      if (!span.isRecording()) return null
      const { traceId, spanId } = span.spanContext()
      return {
        ids: { trace_id: traceId, span_id: spanId },
        run: (work) => {
          tracedRequests++
          current.run(span, work)
        },
        end: (request) => {
          endSpan(span, request)
          // Before Node.js 24 an active AsyncLocalStorage slows down every promise of the process.
          if (--tracedRequests === 0) current.disable()
        },
      }
    },
  }
}

function batchObserver(
  tracer: Tracer,
  current: AsyncLocalStorage<Span>,
  store: (typeof stores)[keyof typeof stores],
): BatchObserver {
  return {
    requestContext: () => current.getStore(),
    begin: (kind, contexts) => {
      const spans = [...new Set(contexts as readonly (Span | undefined)[])].filter(
        (span) => span !== undefined,
      )
      const [first, ...others] = spans
      if (first === undefined) return ignore
      const span = tracer.startSpan(
        `${store.system} ${kind}`,
        {
          kind: store.spanKind,
          links: others.map((other) => ({ context: other.spanContext() })),
          attributes: {
            'db.system.name': store.system,
            'ugs.batch.kind': kind,
            'ugs.batch.size': contexts.length,
          },
        },
        trace.setSpan(ROOT_CONTEXT, first),
      )
      return (failed) => {
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      }
    },
  }
}

/** Sets OpenTelemetry's HTTP attributes. Paths are those of routes, so that no attribute is secret. */
function endSpan(span: Span, request: CompletedRequest): void {
  const { method, path, status, code, apiToken } = request
  const attributes: Attributes = {
    'http.request.method': method ?? undefined,
    'http.route': path ?? undefined,
    'url.path': path ?? undefined,
    'url.scheme': 'http',
    'http.response.status_code': status ?? undefined,
    'http.response.body.size': request.bytes ?? undefined,
    'ugs.request_id': request.requestId,
    'ugs.operation': request.operation ?? undefined,
    'ugs.api_token_id': apiToken?.id,
    'ugs.workspace_id': apiToken?.workspaceId,
    'ugs.environment': apiToken?.environment,
    'ugs.error_code': code ?? undefined,
  }
  span.setAttributes(attributes)
  if (path !== null) span.updateName(`${method} ${path}`)
  // A 4xx is the client's error, for RFC 9110 and OpenTelemetry.
  if (status !== null && status >= 500) {
    span.setAttribute('error.type', code ?? String(status))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
