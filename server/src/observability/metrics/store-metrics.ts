import { Counter, type Registry } from 'prom-client'
import type { BatchObserver } from '../../store/batch-observer.ts'
import { addGauge } from './gauge.ts'
import { durationBounds, Histogram, type Series } from './histogram.ts'

/** Connections of a pool. */
export interface PoolState {
  readonly total: number
  readonly idle: number
  readonly waiting: number
  readonly max: number
  readonly isRefused: boolean
}

interface SeriesOfKind {
  readonly sizes: Series
  readonly waits: Series
  readonly durations: Series
}

/** Batches have at most 1,000 requests with PostgreSQL; with SQLite, those of one event-loop iteration. */
const sizeBounds = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024]

/** Metrics of the store's batches and of the connections to PostgreSQL. */
export class StoreMetrics implements BatchObserver {
  readonly #registry: Registry
  readonly #sizes: Histogram
  readonly #waits: Histogram
  readonly #durations: Histogram
  readonly #failures: Counter<'kind'>
  readonly #slowStatements: Counter
  readonly #ofKind = new Map<string, SeriesOfKind>()

  constructor(registry: Registry) {
    this.#registry = registry
    this.#sizes = new Histogram({
      name: 'ugs_store_batch_size',
      help: 'Requests that share a SQLite transaction or flush, or a PostgreSQL statement.',
      bounds: sizeBounds,
      registry,
    })
    this.#waits = new Histogram({
      name: 'ugs_store_batch_wait_seconds',
      help: "Wait of a batch's first request until the batch began, including SQLite's lock.",
      bounds: durationBounds(0.0001, 10),
      registry,
    })
    this.#durations = new Histogram({
      name: 'ugs_store_batch_duration_seconds',
      help: 'Duration of a batch, including waits for a PostgreSQL connection or lock.',
      bounds: durationBounds(0.0001, 10),
      registry,
    })
    this.#failures = new Counter({
      name: 'ugs_store_batch_failures_total',
      help: 'Failed batches. Their requests are retried, or run in separate batches.',
      labelNames: ['kind'],
      registers: [registry],
    })
    this.#slowStatements = new Counter({
      name: 'ugs_store_slow_statements_total',
      help: 'Statements that took at least UGS_SLOW_STATEMENT_MS.',
      registers: [registry],
    })
  }

  requestContext(): number {
    return performance.now()
  }

  begin(kind: string, arrivals: readonly unknown[]): (failed: boolean) => void {
    const { sizes, waits, durations } = this.#ofKind.get(kind) ?? this.#addKind(kind)
    const began = performance.now()
    sizes.observe(arrivals.length)
    waits.observe((began - (arrivals[0] as number)) / 1000)
    return (failed) => {
      durations.observe((performance.now() - began) / 1000)
      if (failed) this.#failures.inc({ kind })
    }
  }

  countSlowStatement(): void {
    this.#slowStatements.inc()
  }

  /** Adds metrics of the connections to PostgreSQL. */
  readonly watchPool = (read: () => PoolState): void => {
    const gauges = {
      ugs_postgres_connections: ['Connections to PostgreSQL.', ({ total }: PoolState) => total],
      ugs_postgres_connections_idle: ['Idle connections.', ({ idle }: PoolState) => idle],
      ugs_postgres_connections_max: ['Maximum number of connections.', ({ max }: PoolState) => max],
      ugs_postgres_connection_waiters: [
        'Statements and transactions that wait for a connection.',
        ({ waiting }: PoolState) => waiting,
      ],
      ugs_postgres_primary_refused: [
        'Processes that refuse the primary because it lacks acknowledged changes.',
        ({ isRefused }: PoolState) => Number(isRefused),
      ],
    } as const
    for (const [name, [help, of]] of Object.entries(gauges)) {
      addGauge(this.#registry, { name, help, read: () => of(read()) })
    }
  }

  #addKind(kind: string): SeriesOfKind {
    const series = {
      sizes: this.#sizes.addSeries({ kind }),
      waits: this.#waits.addSeries({ kind }),
      durations: this.#durations.addSeries({ kind }),
    }
    this.#failures.inc({ kind }, 0)
    this.#ofKind.set(kind, series)
    return series
  }
}
