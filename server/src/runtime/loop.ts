export interface LoopOptions {
  /**
   * Does a part of the work, and returns the pause after it, in milliseconds. Calls `fail` with each error in spite of which other work
   * goes on.
   */
  readonly step: (fail: (error: unknown) => void) => Promise<number>
  /** Pause after a step that throws, in milliseconds. */
  readonly failurePauseMs: number
  /** Called with the first error of each outage. */
  readonly onFailure: (error: unknown) => void
}

/** Runs steps one after the other. */
export class Loop {
  readonly #options: LoopOptions
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #hasFailed = false
  #running: Promise<void>

  constructor(options: LoopOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Replaces the pause before the next step. Has no effect while a step is running. */
  wake(pauseMs: number): void {
    if (this.#timer !== undefined) this.#schedule(pauseMs)
  }

  /** Stops after the step in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    const { step, failurePauseMs, onFailure } = this.#options
    const errors: unknown[] = []
    const fail = (error: unknown) => errors.push(error)
    const pauseMs = await step(fail).catch((error: unknown) => {
      fail(error)
      return failurePauseMs
    })
    if (errors.length > 0 && !this.#hasFailed) onFailure(errors[0])
    this.#hasFailed = errors.length > 0
    this.#schedule(pauseMs)
  }

  #schedule(pauseMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, pauseMs).unref()
  }
}
