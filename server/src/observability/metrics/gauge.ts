import { Gauge, type Aggregator, type Registry } from 'prom-client'

export interface GaugeOptions {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
  /** Undefined where there is nothing to tell. */
  readonly read: () => number | undefined | Promise<number>
  /** What it comes to over several processes; by default their sum. */
  readonly aggregator?: Aggregator
}

/** Adds a gauge that is read when it is asked for. */
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
