import { Counter, type Registry } from 'prom-client'
import type { Operation } from '../../http/operations.ts'
import type { RequestObserver, CompletedRequest } from '../../http/server/request-observer.ts'
import { addGauge } from './gauge.ts'
import { durationBounds, Histogram, type Series } from './histogram.ts'
import type { UsageCounter } from './usage-metrics.ts'

/** Value of the label `operation`. Requests that are not authenticated have an area instead, or `none`. */
type ObservedOperation = Operation | 'health' | 'docs' | 'console' | 'none'

/** Metrics of requests. */
export class HttpMetrics implements RequestObserver {
  readonly #durations: Histogram
  readonly #durationsOf = new Map<ObservedOperation, Map<number, Series>>()
  readonly #errors: Counter<'operation' | 'code'>
  readonly #unanswered: Counter<'operation'>
  readonly #sessionsCreated: Counter<'environment'>
  readonly #usage: UsageCounter
  #inFlight = 0

  constructor(registry: Registry, usage: UsageCounter) {
    this.#usage = usage
    this.#durations = new Histogram({
      name: 'ugs_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its response.',
      bounds: durationBounds(0.00025, 10),
      registry,
    })
    this.#errors = new Counter({
      name: 'ugs_http_errors_total',
      help: 'Error responses, by code.',
      labelNames: ['operation', 'code'],
      registers: [registry],
    })
    this.#unanswered = new Counter({
      name: 'ugs_http_requests_unanswered_total',
      help: 'Requests whose client disconnected before the end of the response.',
      labelNames: ['operation'],
      registers: [registry],
    })
    this.#sessionsCreated = new Counter({
      name: 'ugs_sessions_created_total',
      help: 'Viewer sessions that were created.',
      labelNames: ['environment'],
      registers: [registry],
    })
    addGauge(registry, {
      name: 'ugs_http_requests_in_flight',
      help: 'Requests that have arrived and have no complete response yet, including connections to /events.',
      read: () => this.#inFlight,
    })
  }

  begin(): void {
    this.#inFlight++
  }

  end({ operation, path, apiToken, status, code, duration, isCutOff }: CompletedRequest): void {
    if (apiToken !== null) this.#usage.count(apiToken)
    const observed = operation ?? areaOf(path)
    if (code !== null) this.#errors.inc({ operation: observed, code })
    if (apiToken !== null && operation === 'createSession' && status === 200)
      this.#sessionsCreated.inc({ environment: apiToken.environment })
    // A request whose headers were refused never counted as in flight.
    if (duration === null) return
    this.#inFlight--
    if (status === null || isCutOff) this.#unanswered.inc({ operation: observed })
    else {
      const series = this.#durationsOf.get(observed)?.get(status) ?? this.#addSeries(observed, status)
      series.observe(duration / 1000)
    }
  }

  #addSeries(operation: ObservedOperation, status: number): Series {
    const series = this.#durations.addSeries({ operation, status: String(status) })
    const ofOperation = this.#durationsOf.get(operation)
    if (ofOperation === undefined) this.#durationsOf.set(operation, new Map([[status, series]]))
    else ofOperation.set(status, series)
    return series
  }
}

function areaOf(path: string | null): ObservedOperation {
  if (path === '/healthz' || path === '/readyz') return 'health'
  if (path === '/openapi.json' || path?.startsWith('/docs')) return 'docs'
  return path?.startsWith('/console') ? 'console' : 'none'
}
