import type { BatchObserver } from '../batch-observer.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { Attempt } from './retry.ts'

interface Pending<Item, Result> {
  readonly item: Item
  readonly attempt: Attempt
  readonly sent: () => void
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
  /** Context of the observer. */
  readonly context: unknown
}

export interface CoalescerOptions<Item, Result> {
  /** Kind of statement, for the observer. */
  readonly kind: string
  readonly observer: BatchObserver | undefined
  /** Returns the group of an item. A statement serves one group: one workspace and environment. */
  readonly groupOf: (item: Item) => string
  /** Returns the keys of an item within its group. Keys in one statement are distinct. */
  readonly keysOf: (item: Item) => readonly string[]
  /**
   * Treatment of items with the same key. `share`: they get the same result. `wait`: they go into separate statements.
   * `serialize`: the next of these statements also starts only after the previous one has ended.
   */
  readonly sameKey: 'share' | 'wait' | 'serialize'
  /**
   * Runs one statement for items of one group and returns results in their order. Calls `sent` before sending a change, and does not
   * send it if `sent` throws.
   */
  readonly run: (items: readonly Item[], sent: () => void) => Promise<readonly Result[]>
  /** Returns the size of an item, roughly in characters. By default only items are counted. */
  readonly weightOf?: (item: Item) => number
  /** Maximum number of statements in flight per group. Later items share the next statement. */
  readonly maxInFlightOfGroup: number
  /** Maximum number of statements in flight over all groups: about the number of connections. */
  readonly maxInFlight: number
  /** Time that fewer than `minItems` items wait for a statement in flight, in milliseconds. */
  readonly collectingMs: number
}

/** An operation passed its deadline while the statement waited for a connection. */
class DeadlinePassed extends Error {}

/** Minimum number of items for another statement while one is in flight. */
const minItems = 32
/** Maximum number of items in a statement, to bound its arrays and its duration. */
const maxItems = 1000
/** Size from which a statement gets no more items. */
const maxWeight = 262_144
/** Maximum number of statements in flight when the items of a failed statement run one by one. */
const maxSeparate = 8

/**
 * Combines the items that arrive within one event-loop iteration, and while earlier statements are in flight, into one
 * statement. A statement for a hundred items costs PostgreSQL and this process little more than a statement for one.
 */
export class Coalescer<Item, Result> {
  readonly #options: CoalescerOptions<Item, Result>
  readonly #queues = new Map<string, Pending<Item, Result>[]>()
  /** Start times of the statements in flight per group, oldest first, from `performance.now`. */
  readonly #startTimesOf = new Map<string, readonly number[]>()
  /** With `serialize`: the keys of the items in flight, with their group. */
  readonly #keysInFlight = new Set<string>()
  /** Groups with a timer that ends their collecting. */
  readonly #collecting = new Set<string>()
  #inFlight = 0
  #isScheduled = false

  constructor(options: CoalescerOptions<Item, Result>) {
    this.#options = options
  }

  /** @throws PostgresFailure */
  add(item: Item, attempt: Attempt, sent: () => void = () => undefined): Promise<Result> {
    return new Promise((resolve, reject) => {
      const group = this.#options.groupOf(item)
      const queue = this.#queues.get(group)
      const context = this.#options.observer?.requestContext()
      const pending = { item, attempt, sent, resolve, reject, context }
      if (queue === undefined) this.#queues.set(group, [pending])
      else queue.push(pending)
      if (!this.#isScheduled) {
        this.#isScheduled = true
        setImmediate(this.#flush)
      }
    })
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    // A served group moves to the end, so that a busy one does not starve the others.
    for (const [group, queue] of this.#queues) {
      const { maxInFlight, maxInFlightOfGroup } = this.#options
      const freeInAll = maxInFlight - this.#inFlight
      const startTimes = this.#startTimesOf.get(group) ?? []
      const free = Math.min(freeInAll, maxInFlightOfGroup - startTimes.length)
      if (freeInAll === 0) return
      if (free === 0 || this.#isCollecting(group, queue, startTimes)) continue
      const { batch, rest } = this.#split(group, queue.filter(isAwaited), free)
      // A group that gets no statement keeps its place: the loop would visit a key that is added again.
      if (batch.length > 0 || rest.length === 0) this.#queues.delete(group)
      if (rest.length > 0) this.#queues.set(group, rest)
      if (batch.length === 0) continue
      this.#inFlight++
      const startedAt = performance.now()
      this.#startTimesOf.set(group, [...startTimes, startedAt])
      const keys = this.#serializedKeysOf(group, batch)
      for (const key of keys) this.#keysInFlight.add(key)
      void this.#runTogether(batch).then(() => {
        for (const key of keys) this.#keysInFlight.delete(key)
        this.#end(group, startedAt)
        this.#flush()
      })
    }
  }

  #end(group: string, startedAt: number): void {
    this.#inFlight--
    const startTimes = this.#startTimesOf.get(group) as readonly number[]
    if (startTimes.length === 1) this.#startTimesOf.delete(group)
    else this.#startTimesOf.set(group, startTimes.toSpliced(startTimes.indexOf(startedAt), 1))
  }

  /** Returns whether to wait for more items. The wait is short, because a statement may wait for a lock or a distant server. */
  #isCollecting(group: string, queue: readonly unknown[], [oldest]: readonly number[]): boolean {
    if (oldest === undefined || queue.length >= minItems) return false
    const leftMs = oldest + this.#options.collectingMs - performance.now()
    if (leftMs <= 0) return false
    if (!this.#collecting.has(group)) {
      this.#collecting.add(group)
      setTimeout(() => {
        this.#collecting.delete(group)
        this.#flush()
      }, leftMs).unref()
    }
    return true
  }

  #serializedKeysOf(group: string, items: readonly Pending<Item, Result>[]): string[] {
    const { sameKey, keysOf } = this.#options
    if (sameKey !== 'serialize') return []
    return items.flatMap(({ item }) => keysOf(item).map((key) => `${group} ${key}`))
  }

  /** `free`: number of statements that the group may start. */
  #split(
    group: string,
    queue: Pending<Item, Result>[],
    free: number,
  ): { batch: Pending<Item, Result>[]; rest: Pending<Item, Result>[] } {
    // The items are divided among the free statements: PostgreSQL runs these in parallel, and this process prepares one while
    // it waits for another.
    const { sameKey, keysOf, weightOf } = this.#options
    const size = Math.min(Math.max(Math.ceil(queue.length / free), minItems), maxItems)
    const taken = new Set<string>()
    const isTaken = (key: string) =>
      taken.has(key) || (sameKey === 'serialize' && this.#keysInFlight.has(`${group} ${key}`))
    const batch: Pending<Item, Result>[] = []
    const rest: Pending<Item, Result>[] = []
    let weight = 0
    for (const pending of queue) {
      const keys = sameKey === 'share' ? [] : keysOf(pending.item)
      if (batch.length >= size || weight >= maxWeight || keys.some(isTaken)) rest.push(pending)
      else {
        batch.push(pending)
        weight += weightOf?.(pending.item) ?? 0
      }
      // Later items with these keys stay behind this one.
      for (const key of keys) taken.add(key)
    }
    return { batch, rest }
  }

  async #runTogether(batch: readonly Pending<Item, Result>[]): Promise<void> {
    const { keysOf, run, kind, observer, sameKey } = this.#options
    const slots = new Map<string, number>()
    const items: Item[] = []
    const slotOf = batch.map(({ item }) => {
      const key = keysOf(item).join('\n')
      const known = slots.get(key)
      if (known !== undefined) return known
      slots.set(key, items.length)
      return items.push(item) - 1
    })
    const end = observer?.begin(
      kind,
      batch.map(({ context }) => context),
    )
    try {
      const results = await run(items, () => {
        if (batch.some(({ attempt }) => attempt.isOver)) throw new DeadlinePassed()
        for (const { sent } of batch) sent()
      })
      end?.(false)
      batch.forEach(({ resolve }, i) => resolve(results[slotOf[i] as number] as Result))
    } catch (error) {
      end?.(true)
      if (error instanceof DeadlinePassed) {
        const awaited = batch.filter(isAwaited)
        if (awaited.length > 0) await this.#runTogether(awaited)
        return
      }
      // One item failed the statement for all. Run each alone, so that the others succeed.
      // After an ambiguous commit, each operation must find out first whether its item took effect.
      const mayRunAgain =
        error instanceof PostgresFailure && error.isOfStatement && (sameKey === 'share' || !error.isAmbiguous)
      if (batch.length > 1 && mayRunAgain) await this.#runApart(batch)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Runs several at once, because one may wait for a locked row. */
  async #runApart(batch: readonly Pending<Item, Result>[]): Promise<void> {
    const rest = batch.values()
    const runOnes = async () => {
      for (const pending of rest) if (isAwaited(pending)) await this.#runTogether([pending])
    }
    await Promise.all(Array.from({ length: maxSeparate }, runOnes))
  }
}

/** Returns whether the operation still waits. Rejects an item whose operation has passed its deadline. */
function isAwaited({ attempt, reject }: Pick<Pending<unknown, unknown>, 'attempt' | 'reject'>): boolean {
  if (attempt.isOver) reject(new PostgresFailure(attempt.reason, 'connecting'))
  return !attempt.isOver
}
