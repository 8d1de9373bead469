import { Gauge, type Aggregator, type Registry } from 'prom-client'

export interface GaugeOptions {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
  /** Returns undefined if there is no value. */
  readonly read: () => number | undefined | Promise<number>
  /** Combines the values of several workers. Default is the sum. */
  readonly aggregator?: Aggregator
}

/** Adds a gauge whose value is read at each scrape. */
export function addGauge(registry: Registry, options: GaugeOptions): void {
  const { name, help, labels = {}, read, aggregator = 'sum' } = options
  new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    aggregator,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) this.remove(labels)
      else this.set(labels, value)
    },
  })
}
