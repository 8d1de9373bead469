import type { Worker } from 'node:cluster'
import { AggregatorRegistry, Counter, Registry, type PrometheusContentType } from 'prom-client'
import { addGauge } from './gauge.ts'
import type { Snapshot } from './metrics.ts'

/** What a worker is asked for; the answer has the same number. */
interface MetricsRequest {
  readonly metricsRequest: number
}

interface MetricsResponse extends MetricsRequest {
  readonly snapshot: Snapshot
}

/** How long a worker is waited for, in milliseconds: it takes a second to find that its store is away. */
const patienceMs = 3000

/**
 * The metrics of all workers as those of one service, in the process that supervises them. What a worker had counted when it was
 * last asked still counts when it has died: a sum that falls looks like a restart of all, and what is left of it like a burst.
 */
export class WorkerMetrics {
  readonly #registry = new Registry()
  readonly #deaths: Counter
  /** Of the workers that live, as each last answered. */
  readonly #snapshots = new Map<Worker, Snapshot>()
  #ofTheDead: Snapshot = []
  #requests = 0

  constructor() {
    addGauge(this.#registry, {
      name: 'ugs_workers',
      help: 'Workers that listen, with --workers.',
      read: () => this.#snapshots.size,
    })
    this.#deaths = new Counter({
      name: 'ugs_worker_deaths_total',
      help: 'Workers that ended before they were told to, with --workers.',
      registers: [this.#registry],
    })
  }

  /** Asks this worker too from now on: it listens. */
  add(worker: Worker): void {
    this.#snapshots.set(worker, [])
    worker.once('exit', (code) => {
      const last = this.#snapshots.get(worker) ?? []
      this.#snapshots.delete(worker)
      if (code !== 0) this.#deaths.inc()
      this.#bury(last)
    })
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    const workers = [...this.#snapshots.keys()]
    await Promise.all(workers.map((worker) => this.#ask(worker)))
    const own = await this.#registry.getMetricsAsJSON()
    return aggregate([own, ...this.#snapshots.values(), this.#ofTheDead]).metrics()
  }

  /** Where it does not answer, what it answered before stands. */
  #ask(worker: Worker): Promise<void> {
    const metricsRequest = ++this.#requests
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(patience)
        worker.off('message', take).off('exit', settle)
        resolve()
      }
      const take = (response: MetricsResponse) => {
        if (response.metricsRequest !== metricsRequest) return
        if (this.#snapshots.has(worker)) this.#snapshots.set(worker, response.snapshot)
        settle()
      }
      const patience = setTimeout(settle, patienceMs)
      worker.on('message', take).once('exit', settle)
      // It may be dying.
      worker.send({ metricsRequest } satisfies MetricsRequest, (error) => error && settle())
    })
  }

  #bury(last: Snapshot): void {
    const counted = last.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
    // What was aggregated has its values beside the rest, which the type does not tell.
    this.#ofTheDead = aggregate([this.#ofTheDead, counted]).getMetricsAsArray() as Snapshot
  }
}

/** In a worker: answers the process that supervises it. */
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
