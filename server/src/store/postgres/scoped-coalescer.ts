import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { Environment } from '../../domain/environment.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { Coalescer, type CoalescerOptions } from './coalescer.ts'

/** Maximum number of statements of a kind in flight per workspace and environment. More would only make them smaller. */
const maxInFlightOfGroup = 2
/** Usual duration of a statement, including its flush to disk. */
const collectingMs = 5

/** The tenant scope of a statement and, on Citus, its bucket. */
export type ScopeValues = readonly [workspaceId: number, environment: Environment, bucket: number | null]

/** An item about a user group. */
export interface Located extends TenantScope {
  readonly bucket: number
}

type Kind<Item, Result> = Pick<CoalescerOptions<Item, Result>, 'kind' | 'keysOf' | 'weightOf'> & {
  readonly run: (scope: ScopeValues, items: readonly Item[], sent: () => void) => Promise<Result[]>
}

/** Creates coalescers whose statements each serve one workspace and environment and, on Citus, one bucket. */
export class ScopedCoalescers {
  readonly #maxInFlight: number
  readonly #isDistributed: () => boolean
  readonly #observer: BatchObserver | undefined

  /** @param maxInFlight maximum number of statements of a kind in flight over all workspaces and environments */
  constructor(maxInFlight: number, isDistributed: () => boolean, observer: BatchObserver | undefined) {
    this.#maxInFlight = maxInFlight
    this.#isDistributed = isDistributed
    this.#observer = observer
  }

  /** Items with the same key share a result. */
  reading<Item extends Located, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('share', kind)
  }

  /** Items with the same key run in separate statements. */
  changing<Item extends Located, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('wait', kind)
  }

  /** Items with the same key run one after another, each after the previous statement has ended. */
  serializing<Item extends Located, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('serialize', kind)
  }

  #create<Item extends Located, Result>(
    sameKey: 'share' | 'wait' | 'serialize',
    { run, ...kind }: Kind<Item, Result>,
  ): Coalescer<Item, Result> {
    const bucketOf = ({ bucket }: Item) => (this.#isDistributed() ? bucket : null)
    return new Coalescer<Item, Result>({
      groupOf: (item) => `${item.workspaceId}/${item.environment}/${bucketOf(item)}`,
      ...kind,
      observer: this.#observer,
      sameKey,
      run: (items, sent) => {
        const first = items[0] as Item
        // Items that were added before the tables were distributed may be in different buckets.
        const isOneBucket = items.every(({ bucket }) => bucket === first.bucket)
        return run([first.workspaceId, first.environment, isOneBucket ? bucketOf(first) : null], items, sent)
      },
      maxInFlightOfGroup,
      maxInFlight: this.#maxInFlight,
      collectingMs,
    })
  }
}
