import type { Metric, Registry } from 'prom-client'

/** The tenth part of each decade, rounded (the series R10 of ISO 3): a percentile is never off by more than a quarter. */
const tenths = [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8]

/** Bounds of durations, in seconds: ten in each decade, from one to the other. */
export function durationBounds(from: number, to: number): number[] {
  const bounds: number[] = []
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    bounds.push(...tenths.map((tenth) => Number(`${tenth}e${power}`)))
  }
  return bounds.filter((bound) => bound >= from && bound <= to)
}

type Labels = Readonly<Record<string, string>>

/** The values of a histogram that have the same labels. */
export class Series {
  readonly labels: Labels
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels
    this.#bounds = bounds
    this.#counts = new Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((bounds[middle] as number) < value) low = middle + 1
      else high = middle
    }
    this.#counts[low] = (this.#counts[low] as number) + 1
    this.#sum += value
  }

  /** As prom-client wants them: buckets that hold all that is below their bound, the sum, and the count. */
  values(name: string) {
    let count = 0
    const buckets = this.#counts.map((own, i) => ({
      metricName: `${name}_bucket`,
      labels: { ...this.labels, le: this.#bounds[i] ?? '+Inf' },
      value: (count += own),
    }))
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: this.labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.labels, value: count },
    ]
  }
}

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  /** In order, from the lowest. */
  readonly bounds: readonly number[]
  readonly registry: Registry
}

/** In place of prom-client's own, which makes a text of the labels for each value: 1.1 µs in place of 0.05 µs (decision 0017). */
export class Histogram {
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series: Series[] = []

  constructor({ name, help, bounds, registry }: HistogramOptions) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
    // Of a metric the registry uses the name and `get`; the type wants all that a metric of prom-client has.
    registry.registerMetric(this as unknown as Metric)
  }

  /** To be kept by the caller, and asked for once: there is no looking up. */
  addSeries(labels: Labels = {}): Series {
    const series = new Series(labels, this.#bounds)
    this.#series.push(series)
    return series
  }

  get() {
    return {
      name: this.name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      values: this.#series.flatMap((series) => series.values(this.name)),
    }
  }
}
