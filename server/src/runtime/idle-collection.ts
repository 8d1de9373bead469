import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const intervalMs = 5000
/** Maximum share of an interval in which the event loop of an idle process is busy. */
const maxUtilization = 0.05
/** Minimum growth of the old generation that is worth a collection, which takes some 30 ms. */
const minGrowthBytes = 8 * 1024 * 1024

export interface Heap {
  /** Returns the size of the objects of the old generation, garbage included. */
  oldBytes(): number
  collect(): void
  /** Returns the use of the event loop since `last`. */
  utilization(last?: EventLoopUtilization): EventLoopUtilization
}

/**
 * Collects the garbage that a busy time has left in the old generation, once the process is idle. V8 collects it only when more is
 * allocated, so that the memory of a flood would stay for as long as the process is idle.
 */
export class IdleCollection {
  readonly #heap: Heap
  #minBytes: number
  #utilization: EventLoopUtilization

  constructor(heap: Heap = v8Heap) {
    this.#heap = heap
    this.#minBytes = heap.oldBytes()
    this.#utilization = heap.utilization()
  }

  /** Runs once per interval. */
  check(): void {
    const current = this.#heap.utilization()
    const isIdle = this.#heap.utilization(this.#utilization).utilization < maxUtilization
    this.#utilization = current
    const bytes = this.#heap.oldBytes()
    this.#minBytes = Math.min(this.#minBytes, bytes)
    if (!isIdle || bytes - this.#minBytes < minGrowthBytes) return
    this.#heap.collect()
    this.#minBytes = this.#heap.oldBytes()
  }
}

/** Returns a function that stops the collections. */
export function collectWhenIdle(): () => void {
  const collection = new IdleCollection()
  const timer = setInterval(() => collection.check(), intervalMs).unref()
  return () => clearInterval(timer)
}

let collectGarbage: (() => void) | undefined

const v8Heap: Heap = {
  oldBytes: () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0,
  collect: () => {
    if (collectGarbage === undefined) {
      setFlagsFromString('--expose-gc')
      collectGarbage = runInNewContext('gc') as () => void
    }
    collectGarbage()
    // Releases the pages that the first left almost empty.
    collectGarbage()
  },
  utilization: (last) => performance.eventLoopUtilization(last),
}
