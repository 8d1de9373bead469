import { setImmediate as nextTick } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import type { StoreIntegrity } from '../../domain/store.ts'
import { addFeedMetrics, type WatchedFeed } from './feed-metrics.ts'
import { addGauge } from './gauge.ts'
import { HttpMetrics } from './http-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { SpaceMetrics } from './space-metrics.ts'
import { StoreMetrics } from './store-metrics.ts'
import { UsageCounter, UsageMetrics, usageReport } from './usage-metrics.ts'
import { WebhookMetrics } from './webhook-metrics.ts'

export interface MetricsDependencies {
  readonly version: string
  readonly store: string
  /** Returns true if `/readyz` would return 200. */
  readonly isReady: () => Promise<boolean>
}

/** The current metrics of one process, in a form that can be sent to another. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** All metrics of a process (docs/operations.md lists them). */
export class Metrics {
  readonly #registry = new Registry()
  readonly #stopMeasuring: () => void
  readonly #encryptedTokens: Gauge<'secret_key'>
  readonly #usage = new UsageCounter()
  #usageMetrics: UsageMetrics | undefined
  readonly http = new HttpMetrics(this.#registry, this.#usage)
  readonly store = new StoreMetrics(this.#registry)
  readonly space = new SpaceMetrics(this.#registry)
  readonly webhooks = new WebhookMetrics(this.#registry)

  constructor({ version, store, isReady }: MetricsDependencies) {
    this.#stopMeasuring = addProcessMetrics(this.#registry)
    this.#encryptedTokens = new Gauge({
      name: 'ugs_sealed_tokens',
      help: 'User group tokens and webhook secrets of the whole store encrypted with this secret key, counted within the last hour.',
      labelNames: ['secret_key'],
      registers: [this.#registry],
      // All workers count the same store.
      aggregator: 'max',
    })
    addGauge(this.#registry, {
      name: 'ugs_ready',
      help: '1 if /readyz would return 200, else 0.',
      read: async () => {
        // Other metrics are read first, as the readiness check uses the store.
        await nextTick()
        return Number(await isReady())
      },
      aggregator: 'min',
    })
    addGauge(this.#registry, {
      name: 'ugs_build_info',
      help: 'Always 1. The labels have the versions.',
      labels: { version, node: process.versions.node, store },
      read: () => 1,
      aggregator: 'first',
    })
  }

  watch(
    feed: WatchedFeed,
    throttle: { readonly throttledAddresses: number },
    integrity: Pick<StoreIntegrity, 'damage'>,
  ): void {
    addFeedMetrics(this.#registry, feed)
    addGauge(this.#registry, {
      name: 'ugs_store_damaged',
      help: '1 if the store is damaged and refuses changes, else 0.',
      read: () => Number(integrity.damage !== null),
      aggregator: 'max',
    })
    addGauge(this.#registry, {
      name: 'ugs_throttled_addresses',
      help: 'Client addresses with too many failed authentications within about a minute.',
      read: () => throttle.throttledAddresses,
    })
  }

  /** Sets the number of encrypted tokens by secret key id. */
  setEncryptedTokens(counts: ReadonlyMap<string, number>): void {
    this.#encryptedTokens.reset()
    for (const [id, count] of counts) this.#encryptedTokens.set({ secret_key: id }, count)
  }

  /** Returns the metrics in Prometheus' text format. */
  text(): Promise<string> {
    this.#usageMetrics ??= new UsageMetrics(this.#registry)
    this.#usageMetrics.update(this.#usage.values)
    return this.#registry.metrics()
  }

  /** Returns the metrics of a worker. The supervisor chooses the API tokens to show. */
  async snapshot(): Promise<Snapshot> {
    const report = usageReport(this.#usage.values) as unknown as Snapshot[number]
    return [...(await this.#registry.getMetricsAsJSON()), report]
  }

  stop(): void {
    this.#stopMeasuring()
  }
}
