import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { Environment } from '../../domain/environment.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { Coalescer, type CoalescerOptions } from './coalescer.ts'

/** Maximum number of statements of a kind in flight per workspace and environment. More would only make them smaller. */
const maxInFlightOfGroup = 2
/** Usual duration of a statement, including its flush to disk. */
const collectingMs = 5

export type ScopeValues = readonly [workspaceId: number, environment: Environment]

type Kind<Item, Result> = Pick<CoalescerOptions<Item, Result>, 'kind' | 'keysOf' | 'weightOf'> & {
  readonly run: (scope: ScopeValues, items: readonly Item[], sent: () => void) => Promise<Result[]>
}

/** Creates coalescers whose statements each serve one workspace and environment. */
export class ScopedCoalescers {
  readonly #maxInFlight: number
  readonly #observer: BatchObserver | undefined

  /** @param maxInFlight maximum number of statements of a kind in flight over all workspaces and environments */
  constructor(maxInFlight: number, observer: BatchObserver | undefined) {
    this.#maxInFlight = maxInFlight
    this.#observer = observer
  }

  /** Items with the same key share a result. */
  reading<Item extends TenantScope, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('share', kind)
  }

  /** Items with the same key run in separate statements. */
  changing<Item extends TenantScope, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('wait', kind)
  }

  /** Items with the same key run one after another, each after the previous statement has ended. */
  serializing<Item extends TenantScope, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
    return this.#create('serialize', kind)
  }

  #create<Item extends TenantScope, Result>(
    sameKey: 'share' | 'wait' | 'serialize',
    { run, ...kind }: Kind<Item, Result>,
  ): Coalescer<Item, Result> {
    return new Coalescer<Item, Result>({
      groupOf: ({ workspaceId, environment }) => `${workspaceId}/${environment}`,
      ...kind,
      observer: this.#observer,
      sameKey,
      run: (items, sent) => {
        const { workspaceId, environment } = items[0] as Item
        return run([workspaceId, environment], items, sent)
      },
      maxInFlightOfGroup,
      maxInFlight: this.#maxInFlight,
      collectingMs,
    })
  }
}
