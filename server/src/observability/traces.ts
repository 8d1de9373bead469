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
  /** Told at most once a minute that spans could not be sent. */
  readonly onLoss: () => void
}

export interface Traces {
  readonly calls: RequestTracer
  readonly batches: BatchObserver
  /** Sends what has not been sent, for as long at most, in milliseconds. */
  close(timeoutMs: number): Promise<void>
}

const lossPauseMs = 60_000

/** The names that OpenTelemetry has for them. What runs in this process is no client of anything. */
const stores = {
  sqlite: { system: 'sqlite', spanKind: SpanKind.INTERNAL },
  postgres: { system: 'postgresql', spanKind: SpanKind.CLIENT },
} as const
const ignore = () => undefined
const ofHeaders: TextMapGetter<IncomingHttpHeaders> = {
  get: (headers, name) => headers[name],
  keys: (headers) => Object.keys(headers),
}

/**
 * Sends spans of calls, and of the batches of the store that they share, to a collector (OTLP over HTTP). Where to, which calls,
 * and the like is in OpenTelemetry's own environment variables, which its packages read.
 */
export function startTraces({ version, storeKind, onLoss }: TracesOptions): Traces {
  const store = stores[storeKind]
  let lastLoss = -Infinity
  // What went wrong may hold an address, or what a collector answered.
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
  const propagator = new W3CTraceContextPropagator()
  /** The span of the call that is being worked for, where it is followed. */
  const current = new AsyncLocalStorage<Span>()
  let followed = 0
  return {
    calls: {
      begin: ({ method = '', headers }) => {
        const parent =
          headers.traceparent === undefined
            ? ROOT_CONTEXT
            : propagator.extract(ROOT_CONTEXT, headers, ofHeaders)
        const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, parent)
        if (!span.isRecording()) return null
        const { traceId, spanId } = span.spanContext()
        return {
          ids: { trace_id: traceId, span_id: spanId },
          run: (work) => {
            followed++
            current.run(span, work)
          },
          end: (call) => {
            endSpan(span, call)
            // Before Node.js 24 it makes every promise of the process dearer, those of calls that are not followed too.
            if (--followed === 0) current.disable()
          },
        }
      },
    },
    batches: {
      requestContext: () => current.getStore(),
      begin: (kind, calls) => {
        const spans = [...new Set(calls as readonly (Span | undefined)[])].filter(
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
              'ugs.batch.size': calls.length,
            },
          },
          trace.setSpan(ROOT_CONTEXT, first),
        )
        return (failed) => {
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        }
      },
    },
    close: async (timeoutMs) => {
      await Promise.race([provider.shutdown(), sleep(timeoutMs, undefined, { ref: false })]).catch(onLoss)
    },
  }
}

/** By OpenTelemetry's names for HTTP. Nothing in it is secret: of the path it tells the route. */
function endSpan(span: Span, call: CompletedRequest): void {
  const { method, path, status, code, apiToken } = call
  const attributes: Attributes = {
    'http.request.method': method ?? undefined,
    'http.route': path ?? undefined,
    'url.path': path ?? undefined,
    'url.scheme': 'http',
    'http.response.status_code': status ?? undefined,
    'http.response.body.size': call.bytes ?? undefined,
    'ugs.request_id': call.requestId,
    'ugs.operation': call.operation ?? undefined,
    'ugs.api_token_id': apiToken?.id,
    'ugs.workspace_id': apiToken?.workspaceId,
    'ugs.environment': apiToken?.environment,
    'ugs.error_code': code ?? undefined,
  }
  span.setAttributes(attributes)
  if (path !== null) span.updateName(`${method} ${path}`)
  // RFC 9110 and OpenTelemetry alike: 4xx is the caller's failure.
  if (status !== null && status >= 500) {
    span.setAttribute('error.type', code ?? String(status))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
