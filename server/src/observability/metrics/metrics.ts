import { setImmediate as nextTurn } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import { addGauge } from './gauge.ts'
import { HttpMetrics } from './http-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { StoreMetrics } from './store-metrics.ts'

export interface MetricsDependencies {
  readonly version: string
  readonly store: string
  /** As `/readyz` has it. */
  readonly isReady: () => Promise<boolean>
}

/** The metrics of one process as they stand, so that they can be sent to another. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** All that a process measures of itself (docs/operations.md). */
export class Metrics {
  readonly #registry = new Registry()
  readonly #stopMeasuring: () => void
  readonly #encryptedTokens: Gauge<'secret_key'>
  readonly http = new HttpMetrics(this.#registry)
  readonly store = new StoreMetrics(this.#registry)

  constructor({ version, store, isReady }: MetricsDependencies) {
    this.#stopMeasuring = addProcessMetrics(this.#registry)
    this.#encryptedTokens = new Gauge({
      name: 'ugs_sealed_tokens',
      help: 'User group tokens that are sealed with a secret key, as they were counted within the last hour.',
      labelNames: ['secret_key'],
      registers: [this.#registry],
      // Of one store, which all of them count.
      aggregator: 'max',
    })
    addGauge(this.#registry, {
      name: 'ugs_ready',
      help: '1 where /readyz would answer 200, else 0.',
      read: async () => {
        // The other metrics are read first: they would see this one asking the store.
        await nextTurn()
        return Number(await isReady())
      },
      aggregator: 'min',
    })
    addGauge(this.#registry, {
      name: 'ugs_build_info',
      help: 'Always 1; what runs is in the labels.',
      labels: { version, node: process.versions.node, store },
      read: () => 1,
      aggregator: 'first',
    })
  }

  /** By the ids of the secret keys. */
  setEncryptedTokens(counts: ReadonlyMap<string, number>): void {
    this.#encryptedTokens.reset()
    for (const [id, count] of counts) this.#encryptedTokens.set({ secret_key: id }, count)
  }

  /** In Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  snapshot(): Promise<Snapshot> {
    return this.#registry.getMetricsAsJSON()
  }

  stop(): void {
    this.#stopMeasuring()
  }
}
