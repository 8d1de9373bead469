import { FairPool } from './fair-pool.ts'

/** Runs work of workspaces, as many pieces at once as a pool has places. Other work waits, and the workspaces take turns. */
export class FairQueue {
  readonly #pool: FairPool
  /** Work that waits, by workspace. The workspace that was served last comes last. */
  readonly #waiting = new Map<number, (() => void)[]>()

  /** @param size maximum number of pieces at once, of which one workspace has at most half */
  constructor(size: number) {
    this.#pool = new FairPool(size)
  }

  /** Runs `work` in the turn of its workspace. `work` must not wait for other work of the queue. @throws the errors of `work` */
  async run<T>(workspaceId: number, work: () => Promise<T>): Promise<T> {
    const share = this.#pool.shareOf(workspaceId)
    if (!share.take()) await new Promise<void>((resolve) => this.#wait(workspaceId, resolve))
    try {
      return await work()
    } finally {
      share.release()
      this.#startNext()
    }
  }

  #wait(workspaceId: number, start: () => void): void {
    const queue = this.#waiting.get(workspaceId)
    if (queue === undefined) this.#waiting.set(workspaceId, [start])
    else queue.push(start)
  }

  #startNext(): void {
    for (const [workspaceId, queue] of this.#waiting) {
      if (!this.#pool.shareOf(workspaceId).take()) continue
      queue.shift()?.()
      // The loop visits the workspace again, after the others.
      this.#waiting.delete(workspaceId)
      if (queue.length > 0) this.#waiting.set(workspaceId, queue)
    }
  }
}
