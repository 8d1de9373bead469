import type { Worker } from 'node:cluster'
import { AggregatorRegistry, Counter, Registry, type PrometheusContentType } from 'prom-client'
import { addGauge } from './gauge.ts'
import type { Snapshot } from './metrics.ts'
import { takeUsages, UsageMetrics } from './usage-metrics.ts'

/** Asks a worker for its metrics. The response has the same number. */
interface MetricsRequest {
  readonly metricsRequest: number
}

interface MetricsResponse extends MetricsRequest {
  readonly snapshot: Snapshot
}

/** Maximum wait for a worker, in milliseconds. A worker needs a second to notice that its store is unreachable. */
const responseTimeoutMs = 3000

/**
 * Adds up the metrics of all workers, in the process that supervises them. The counts of dead workers stay in the sums:
 * Prometheus takes a falling counter for a restart, and would count its whole value again.
 */
export class WorkerMetrics {
  readonly #registry = new Registry()
  readonly #deaths: Counter
  readonly #usage = new UsageMetrics(this.#registry)
  /** Last response of each running worker. */
  readonly #snapshots = new Map<Worker, Snapshot>()
  #deadWorkers: Snapshot = []
  #requests = 0

  constructor() {
    addGauge(this.#registry, {
      name: 'ugs_workers',
      help: 'Listening workers, with --workers.',
      read: () => this.#snapshots.size,
    })
    this.#deaths = new Counter({
      name: 'ugs_worker_deaths_total',
      help: 'Workers that ended unexpectedly, with --workers.',
      registers: [this.#registry],
    })
  }

  add(worker: Worker): void {
    this.#snapshots.set(worker, [])
    worker.once('exit', (code) => {
      const last = this.#snapshots.get(worker) ?? []
      this.#snapshots.delete(worker)
      if (code !== 0) this.#deaths.inc()
      this.#keepCounts(last)
    })
  }

  /** Returns the metrics in Prometheus' text format. */
  async text(): Promise<string> {
    const workers = [...this.#snapshots.keys()]
    await Promise.all(workers.map((worker) => this.#ask(worker)))
    const sums = aggregate([...this.#snapshots.values(), this.#deadWorkers])
    this.#usage.update(await takeUsages(sums))
    return `${await this.#registry.metrics()}\n${await sums.metrics()}`
  }

  /** Updates the snapshot of a worker. If it does not respond, the previous snapshot stays. */
  #ask(worker: Worker): Promise<void> {
    const metricsRequest = ++this.#requests
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timeout)
        worker.off('message', take).off('exit', settle)
        resolve()
      }
      const take = (response: MetricsResponse) => {
        if (response.metricsRequest !== metricsRequest) return
        if (this.#snapshots.has(worker)) this.#snapshots.set(worker, response.snapshot)
        settle()
      }
      const timeout = setTimeout(settle, responseTimeoutMs)
      worker.on('message', take).once('exit', settle)
      // Sending fails if the worker is ending.
      worker.send({ metricsRequest } satisfies MetricsRequest, (error) => error && settle())
    })
  }

  #keepCounts(last: Snapshot): void {
    const counted = last.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
    // The type of aggregated metrics lacks their values.
    this.#deadWorkers = aggregate([this.#deadWorkers, counted]).getMetricsAsArray() as Snapshot
  }
}

/** Responds to the supervising process. Call this in a worker. */
export function respondToSupervisor(read: () => Promise<Snapshot>): void {
  process.on('message', (message: object) => {
    if (!('metricsRequest' in message)) return
    const { metricsRequest } = message as MetricsRequest
    void read().then((snapshot) => process.send?.({ metricsRequest, snapshot } satisfies MetricsResponse))
  })
}

function aggregate(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate<PrometheusContentType>([...snapshots])
}
