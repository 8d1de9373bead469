import { Counter, type Registry } from 'prom-client'
import type { ApiToken } from '../../domain/api-token/api-token.ts'

/** Requests of an API token since the start of the process. */
export interface Usage {
  readonly labels: { readonly workspace_id: string; readonly api_token_id: string }
  value: number
}

/** Maximum number of API tokens that are counted one by one, more than a service has. */
const maxTokens = 5_000
const other = 'other'

/** Counts the requests of each API token. */
export class UsageCounter {
  readonly #usages = new Map<number, Usage>()
  readonly #others: Usage = { labels: { workspace_id: other, api_token_id: other }, value: 0 }

  count(apiToken: Pick<ApiToken, 'id' | 'workspaceId'>): void {
    const usage = this.#usages.get(apiToken.id) ?? this.#add(apiToken)
    usage.value++
  }

  get values(): Usage[] {
    return [...this.#usages.values(), this.#others]
  }

  #add({ id, workspaceId }: Pick<ApiToken, 'id' | 'workspaceId'>): Usage {
    if (this.#usages.size >= maxTokens) return this.#others
    const usage = { labels: { workspace_id: String(workspaceId), api_token_id: String(id) }, value: 0 }
    this.#usages.set(id, usage)
    return usage
  }
}

/** Name of the metric with which a worker reports its usages to the supervisor. */
const reportName = 'usages'

/** Returns the usages as a metric of a snapshot. */
export function usageReport(values: readonly Usage[]) {
  return { name: reportName, help: '', type: 'counter', aggregator: 'sum', values: [...values] }
}

/** Removes the usages from the snapshots in a registry, and returns them. */
export async function takeUsages(registry: Registry): Promise<readonly Usage[]> {
  const report = await registry.getSingleMetric(reportName)?.get()
  registry.removeSingleMetric(reportName)
  return (report?.values ?? []) as unknown as readonly Usage[]
}

/** Metrics of the API tokens and workspaces with the most requests. */
export class UsageMetrics {
  readonly #apiTokens: TopCounter
  readonly #workspaces: TopCounter

  constructor(registry: Registry) {
    this.#apiTokens = new TopCounter(registry, {
      name: 'ugs_api_token_requests_total',
      help: 'Authenticated requests of the API tokens with the most of them lately. Others share the label "other".',
      labelNames: ['workspace_id', 'api_token_id'],
    })
    this.#workspaces = new TopCounter(registry, {
      name: 'ugs_workspace_requests_total',
      help: 'Authenticated requests of the workspaces with the most of them lately. Others share the label "other".',
      labelNames: ['workspace_id'],
    })
  }

  /** @param usages those of all processes; they never decrease */
  update(usages: readonly Usage[], now = performance.now()): void {
    this.#apiTokens.update(usages, now)
    this.#workspaces.update(usages, now)
  }
}

/** Maximum number of series of a metric, besides that of the others. */
const maxSeries = 20
/** Time in which requests lose half of their weight for the choice of the series, in milliseconds. */
const halfLifeMs = 60_000
/** Factor by which a newcomer must exceed the least of the series, so that equals do not take turns. */
const stickiness = 2

interface Candidate {
  readonly labels: Readonly<Record<string, string>>
  /** Total at the last update. */
  total: number
  /** Recent requests, the older the less. */
  weight: number
  /** Value of the series; null if it is not shown. */
  shown: number | null
}

/**
 * A counter whose series are those with the most recent requests. All series only ever increase, as Prometheus expects: requests of
 * a candidate count as `other` until it gets a series, which starts with its latest requests.
 */
class TopCounter {
  readonly #labelNames: readonly string[]
  readonly #candidates = new Map<string, Candidate>()
  #others = 0
  #updatedAt = 0

  constructor(registry: Registry, options: { name: string; help: string; labelNames: readonly string[] }) {
    this.#labelNames = options.labelNames
    const read = () => this.#series()
    new Counter({
      ...options,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of read()) this.inc(labels, value)
      },
    })
  }

  update(usages: readonly Usage[], now: number): void {
    const decay = 0.5 ** ((now - this.#updatedAt) / halfLifeMs)
    this.#updatedAt = now
    const increases = new Map<Candidate, number>()
    for (const [candidate, total] of this.#totals(usages)) {
      const increase = total - candidate.total
      increases.set(candidate, increase)
      candidate.total = total
      candidate.weight = candidate.weight * decay + increase
    }
    const rank = ({ weight, shown }: Candidate) => weight * (shown === null ? 1 : stickiness)
    const top = new Set(
      [...increases.keys()]
        .filter(({ labels }) => labels.workspace_id !== other)
        .toSorted((one, another) => rank(another) - rank(one))
        .slice(0, maxSeries),
    )
    for (const [candidate, increase] of increases) {
      if (top.has(candidate)) candidate.shown = (candidate.shown ?? 0) + increase
      else {
        candidate.shown = null
        this.#others += increase
      }
    }
  }

  /** Adds up the usages with the same labels of this metric. */
  #totals(usages: readonly Usage[]): Map<Candidate, number> {
    const totals = new Map<Candidate, number>()
    for (const { labels, value } of usages) {
      const own = Object.fromEntries(
        Object.entries(labels).filter(([name]) => this.#labelNames.includes(name)),
      )
      const key = Object.values(own).join()
      const known = this.#candidates.get(key)
      const candidate = known ?? { labels: own, total: 0, weight: 0, shown: null }
      if (known === undefined) this.#candidates.set(key, candidate)
      totals.set(candidate, (totals.get(candidate) ?? 0) + value)
    }
    return totals
  }

  #series(): { labels: Readonly<Record<string, string>>; value: number }[] {
    const shown = [...this.#candidates.values()].flatMap(({ labels, shown }) =>
      shown === null ? [] : [{ labels, value: shown }],
    )
    const others = Object.fromEntries(this.#labelNames.map((name) => [name, other]))
    return [...shown, { labels: others, value: this.#others }]
  }
}
