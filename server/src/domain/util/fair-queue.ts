import { Fault } from '../fault.ts'
import { FairPool } from './fair-pool.ts'

interface Waiting {
  readonly start: () => void
  readonly timer: NodeJS.Timeout | undefined
}

/** Runs work of workspaces, as many pieces at once as a pool has places. Other work waits, and the workspaces take turns. */
export class FairQueue {
  readonly #pool: FairPool
  readonly #maxWaitMs: number | null
  /** Work that waits, by workspace. The workspace that was served last comes last. */
  readonly #waiting = new Map<number, Waiting[]>()

  /**
   * @param size maximum number of pieces at once, of which one workspace has at most half
   * @param maxWaitMs time after which work that waits fails, in milliseconds; null for no limit
   */
  constructor(size: number, maxWaitMs: number | null = null) {
    this.#pool = new FairPool(size)
    this.#maxWaitMs = maxWaitMs
  }

  /**
   * Runs `work` in the turn of its workspace. `work` must not wait for other work of the queue.
   * @throws Fault `unavailable` if it waits for too long, and the errors of `work`
   */
  async run<T>(workspaceId: number, work: () => Promise<T>): Promise<T> {
    const share = this.#pool.shareOf(workspaceId)
    if (!share.take()) await this.#turnOf(workspaceId)
    try {
      return await work()
    } finally {
      share.release()
      this.#startNext()
    }
  }

  /** Resolves when the workspace has got a place. */
  #turnOf(workspaceId: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(workspaceId) ?? []
      this.#waiting.set(workspaceId, queue)
      const giveUp = () => {
        queue.splice(queue.indexOf(waiting), 1)
        if (queue.length === 0) this.#waiting.delete(workspaceId)
        reject(
          new Fault('unavailable', 'This workspace has too many requests of this kind. Retry in a moment'),
        )
      }
      const timer = this.#maxWaitMs === null ? undefined : setTimeout(giveUp, this.#maxWaitMs)
      const waiting = { start: resolve, timer }
      queue.push(waiting)
    })
  }

  #startNext(): void {
    for (const [workspaceId, queue] of this.#waiting) {
      if (!this.#pool.shareOf(workspaceId).take()) continue
      const next = queue.shift() as Waiting
      clearTimeout(next.timer)
      next.start()
      // The loop visits the workspace again, after the others.
      this.#waiting.delete(workspaceId)
      if (queue.length > 0) this.#waiting.set(workspaceId, queue)
    }
  }
}
