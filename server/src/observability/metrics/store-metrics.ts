import { Counter, type Registry } from 'prom-client'
import type { BatchObserver } from '../../store/batch-observer.ts'
import type { PoolState } from '../../store/postgres/primary-pool.ts'
import { addGauge } from './gauge.ts'
import { durationBounds, Histogram, type Series } from './histogram.ts'

interface SeriesOfKind {
  readonly sizes: Series
  readonly waits: Series
  readonly durations: Series
}

/** A batch is a thousand calls at most with PostgreSQL, and with SQLite what one turn of the event loop brings. */
const sizeBounds = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024]

/** Of the store's batches, and of the connections to PostgreSQL. */
export class StoreMetrics implements BatchObserver {
  readonly #registry: Registry
  readonly #sizes: Histogram
  readonly #waits: Histogram
  readonly #durations: Histogram
  readonly #failures: Counter<'kind'>
  readonly #ofKind = new Map<string, SeriesOfKind>()

  constructor(registry: Registry) {
    this.#registry = registry
    this.#sizes = new Histogram({
      name: 'ugs_store_batch_size',
      help: 'Calls that share a transaction of SQLite, or a statement of PostgreSQL.',
      bounds: sizeBounds,
      registry,
    })
    this.#waits = new Histogram({
      name: 'ugs_store_batch_wait_seconds',
      help: "Time that the first call of a batch waited until the batch began, with SQLite for another process's lock too.",
      bounds: durationBounds(0.0001, 10),
      registry,
    })
    this.#durations = new Histogram({
      name: 'ugs_store_batch_duration_seconds',
      help: 'Time that a batch took, with PostgreSQL waiting for a connection or a lock included.',
      bounds: durationBounds(0.0001, 10),
      registry,
    })
    this.#failures = new Counter({
      name: 'ugs_store_batch_failures_total',
      help: 'Batches that failed. Their calls are tried again, or each in a batch of its own.',
      labelNames: ['kind'],
      registers: [registry],
    })
  }

  requestContext(): number {
    return performance.now()
  }

  begin(kind: string, calls: readonly unknown[]): (failed: boolean) => void {
    const { sizes, waits, durations } = this.#ofKind.get(kind) ?? this.#addKind(kind)
    const began = performance.now()
    sizes.observe(calls.length)
    waits.observe((began - (calls[0] as number)) / 1000)
    return (failed) => {
      durations.observe((performance.now() - began) / 1000)
      if (failed) this.#failures.inc({ kind })
    }
  }

  /** To be called with what tells of the connections to PostgreSQL. */
  readonly watchPool = (read: () => PoolState): void => {
    const gauges = {
      ugs_postgres_connections: ['Connections to PostgreSQL.', ({ total }: PoolState) => total],
      ugs_postgres_connections_idle: ['Those of them that nothing uses.', ({ idle }: PoolState) => idle],
      ugs_postgres_connections_max: ['How many there may be.', ({ max }: PoolState) => max],
      ugs_postgres_connection_waiters: [
        'Statements and transactions that wait for a connection.',
        ({ waiting }: PoolState) => waiting,
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
