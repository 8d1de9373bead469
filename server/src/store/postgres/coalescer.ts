import type { BatchObserver } from '../batch-observer.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { Attempt } from './retry.ts'

interface Pending<Item, Result> {
  readonly item: Item
  readonly attempt: Attempt
  readonly sent: () => void
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
  /** Of the observer. */
  readonly context: unknown
}

export interface CoalescerOptions<Item, Result> {
  /** What its statements do, for the observer. */
  readonly kind: string
  readonly observer: BatchObserver | undefined
  /** Which items may share a statement: one statement serves one workspace and environment. */
  readonly groupOf: (item: Item) => string
  /** What an item is about, within its group. A statement is given each of these once. */
  readonly keysOf: (item: Item) => readonly string[]
  /**
   * Treatment of items with the same key. `share`: they get the same result. `wait`: each goes into a statement of its own.
   * `serialize`: that statement also starts only after the previous one has ended.
   */
  readonly sameKey: 'share' | 'wait' | 'serialize'
  /** Runs one statement for items of one group; the results are in the order of the items. Calls `sent` before it does. */
  readonly run: (items: readonly Item[], sent: () => void) => Promise<readonly Result[]>
  /** How much an item is for a statement, about as a count of characters; without it, items are counted alone. */
  readonly weightOf?: (item: Item) => number
  /** How many statements of one group may be under way at once. What arrives meanwhile shares the next one. */
  readonly maxInFlightOfGroup: number
  /** How many of all groups: about as many as there are connections. */
  readonly maxInFlight: number
  /** For how long, in milliseconds, fewer than make a statement of their own wait for one that is under way. */
  readonly collectingMs: number
}

/** Fewer are not worth a statement of their own, while another can take them along or is under way. */
const minItems = 32
/** A statement has an end: its arrays, and how long the others wait for it. */
const maxItems = 1000
/** Once a statement weighs as much, no more go with it. */
const maxWeight = 262_144
/** How many run at once, each on its own, of those whose statement failed. */
const apartAtOnce = 8

/**
 * Turns what arrives within one turn of the event loop, and while the statements before are under way, into one
 * statement: a statement for a hundred costs PostgreSQL and this process little more than a statement for one.
 */
export class Coalescer<Item, Result> {
  readonly #options: CoalescerOptions<Item, Result>
  readonly #queues = new Map<string, Pending<Item, Result>[]>()
  /** When each statement of a group that is under way was begun, the oldest first, by `performance.now`. */
  readonly #underWayOf = new Map<string, readonly number[]>()
  /** With `serialize`: the keys of the items in flight, with their group. */
  readonly #keysInFlight = new Set<string>()
  /** The groups that are looked at again once they have collected for long enough. */
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
    // A group that is served goes to the end of the line, so that a busy one does not keep the others waiting.
    for (const [group, queue] of this.#queues) {
      const { maxInFlight, maxInFlightOfGroup } = this.#options
      const freeInAll = maxInFlight - this.#inFlight
      const underWay = this.#underWayOf.get(group) ?? []
      const free = Math.min(freeInAll, maxInFlightOfGroup - underWay.length)
      if (freeInAll === 0) return
      if (free === 0 || this.#isCollecting(group, queue, underWay)) continue
      const { batch, rest } = this.#split(group, queue.filter(isAwaited), free)
      // A group that gets no statement keeps its place: a key added again would be visited again.
      if (batch.length > 0 || rest.length === 0) this.#queues.delete(group)
      if (rest.length > 0) this.#queues.set(group, rest)
      if (batch.length === 0) continue
      this.#inFlight++
      const begunAt = performance.now()
      this.#underWayOf.set(group, [...underWay, begunAt])
      const keys = this.#serializedKeysOf(group, batch)
      for (const key of keys) this.#keysInFlight.add(key)
      void this.#runTogether(batch).then(() => {
        for (const key of keys) this.#keysInFlight.delete(key)
        this.#end(group, begunAt)
        this.#flush()
      })
    }
  }

  #end(group: string, begunAt: number): void {
    this.#inFlight--
    const underWay = this.#underWayOf.get(group) as readonly number[]
    if (underWay.length === 1) this.#underWayOf.delete(group)
    else this.#underWayOf.set(group, underWay.toSpliced(underWay.indexOf(begunAt), 1))
  }

  /** Not for long: one that waits for a lock, or for a server far away, must not hold up the others, whatever else goes meanwhile. */
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

  /** `free`: how many more statements of the group may be under way. */
  #split(
    group: string,
    queue: Pending<Item, Result>[],
    free: number,
  ): { batch: Pending<Item, Result>[]; rest: Pending<Item, Result>[] } {
    // Where more statements may be under way, they share what there is: PostgreSQL works on them at the same time, and
    // this process prepares one while it waits for another.
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
      // Those that wait keep their turn too.
      for (const key of keys) taken.add(key)
    }
    return { batch, rest }
  }

  async #runTogether(batch: readonly Pending<Item, Result>[]): Promise<void> {
    const { keysOf, run, kind, observer } = this.#options
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
        for (const { sent } of batch) sent()
      })
      end?.(false)
      batch.forEach(({ resolve }, i) => resolve(results[slotOf[i] as number] as Result))
    } catch (error) {
      end?.(true)
      // One item made the statement fail, and took the others with it: each on its own, only the one at fault fails.
      if (batch.length > 1 && error instanceof PostgresFailure && error.isOfStatement)
        await this.#runApart(batch)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Some at once: one whose row is locked waits for it, and the others must not wait with it. */
  async #runApart(batch: readonly Pending<Item, Result>[]): Promise<void> {
    const rest = batch.values()
    const runOnes = async () => {
      for (const pending of rest) if (isAwaited(pending)) await this.#runTogether([pending])
    }
    await Promise.all(Array.from({ length: apartAtOnce }, runOnes))
  }
}

/** Lets go of what nobody waits for any more: it was answered at its deadline. */
function isAwaited({ attempt, reject }: Pick<Pending<unknown, unknown>, 'attempt' | 'reject'>): boolean {
  if (attempt.isOver) reject(new PostgresFailure(attempt.reason, 'connecting'))
  return !attempt.isOver
}
