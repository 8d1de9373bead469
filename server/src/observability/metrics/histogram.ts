import type { Metric, Registry } from 'prom-client'

/** Ten bounds per decade (series R10 of ISO 3): percentiles are off by a quarter at most. */
const tenths = [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8]

/** Returns bucket bounds for durations in seconds, ten per decade. */
export function durationBounds(from: number, to: number): number[] {
  const bounds: number[] = []
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    bounds.push(...tenths.map((tenth) => Number(`${tenth}e${power}`)))
  }
  return bounds.filter((bound) => bound >= from && bound <= to)
}

type Labels = Readonly<Record<string, string>>

/** The values of a histogram with the same labels. */
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

  /** Returns cumulative buckets, the sum and the count, in the format of prom-client. */
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
  /** Upper bounds of the buckets, in ascending order. */
  readonly bounds: readonly number[]
  readonly registry: Registry
}

/** Replaces prom-client's histogram, which builds a label text for each value: 0.9 µs instead of 0.07 µs (decision 0017). */
export class Histogram {
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series: Series[] = []

  constructor({ name, help, bounds, registry }: HistogramOptions) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
    // The registry uses only the name and `get` of a metric; its type requires more.
    registry.registerMetric(this as unknown as Metric)
  }

  /** Adds a series. The caller keeps it and adds each set of labels once. */
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
