import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { Environment } from '../../domain/environment.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { Coalescer, type CoalescerOptions } from './coalescer.ts'
import type { Distribution } from './citus/distribution.ts'

/** Maximum number of statements of a kind in flight per workspace and environment. More would only make them smaller. */
const maxInFlightOfGroup = 2
/** Usual duration of a statement, including its flush to disk. */
const collectingMs = 5

/** The tenant scope of a statement and, on Citus, a bucket of its shard. */
export type ScopeValues = readonly [workspaceId: number, environment: Environment, shardBucket: number | null]

/** An item about the user group of a bucket. */
export interface Bucketed extends TenantScope {
  readonly bucket: number
}

type Kind<Item, Result> = Pick<CoalescerOptions<Item, Result>, 'kind' | 'keysOf' | 'weightOf'> & {
  readonly run: (scope: ScopeValues, items: readonly Item[], sent: () => void) => Promise<Result[]>
}

/** Creates coalescers whose statements each serve one workspace and environment and, on Citus, one shard. */
export class ScopedCoalescers {
  readonly #maxInFlight: number
  readonly #distribution: Distribution
  readonly #observer: BatchObserver | undefined

  /** @param maxInFlight maximum number of statements of a kind in flight over all workspaces and environments */
  constructor(maxInFlight: number, distribution: Distribution, observer: BatchObserver | undefined) {
    this.#maxInFlight = maxInFlight
    this.#distribution = distribution
    this.#observer = observer
  }

  /** Items with the same key share a result. */
  reading<Item extends Bucketed, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('share', kind)
  }

  /** Items with the same key run in separate statements. */
  changing<Item extends Bucketed, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('wait', kind)
  }

  /** Items with the same key run one after another, each after the previous statement has ended. */
  serializing<Item extends Bucketed, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('serialize', kind)
  }

  #create<Item extends Bucketed, Result>(
    sameKey: 'share' | 'wait' | 'serialize',
    { run, ...kind }: Kind<Item, Result>,
  ): Coalescer<Item, Result> {
    const shardOf = ({ bucket }: Item) => this.#distribution.shardOf(bucket)
    return new Coalescer<Item, Result>({
      groupOf: (item) => `${item.workspaceId}/${item.environment}/${shardOf(item)}`,
      ...kind,
      observer: this.#observer,
      sameKey,
      run: (items, sent) => {
        const first = items[0] as Item
        const shard = shardOf(first)
        // The distribution may have changed since the items were grouped.
        const isOneShard = shard !== null && items.every((item) => shardOf(item) === shard)
        const scope = [first.workspaceId, first.environment, isOneShard ? first.bucket : null] as const
        return isOneShard
          ? this.#distribution.onNodeOf(first.bucket, () => run(scope, items, sent))
          : run(scope, items, sent)
      },
      maxInFlightOfGroup,
      maxInFlight: this.#maxInFlight,
      collectingMs,
    })
  }
}
