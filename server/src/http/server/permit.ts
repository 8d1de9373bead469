import { Fault } from '../../domain/fault.ts'

/** Maximum number of admitted requests in flight. */
const maxInFlight = 1000
/** Maximum size of all bodies in memory. Small bodies do not count. */
const maxBodyBytes = 64 * 1024 * 1024
const smallBody = 16 * 1024

/** Resources that the admitted requests share. Counters instead of sets keep the garbage collector's work small. */
export class SharedResources {
  inFlight = 0
  bodyBytes = 0
  /** Number of permits so far: one per request. */
  issued = 0

  get isExhausted(): boolean {
    return this.inFlight >= maxInFlight
  }
}

/** Resources held by one request. Release it when the work is done. */
export class Permit {
  readonly #shared: SharedResources
  #isInFlight = false
  #bodyBytes = 0

  constructor(shared: SharedResources) {
    this.#shared = shared
    shared.issued++
  }

  /** Number of requests so far, including this one. */
  get requests(): number {
    return this.#shared.issued
  }

  /** Counts the request as in flight. Returns false if too many are. */
  begin(): boolean {
    if (this.#isInFlight) return true
    if (this.#shared.isExhausted) return false
    this.#shared.inFlight++
    this.#isInFlight = true
    return true
  }

  /** Reserves memory for the first `bytes` bytes of the body. Returns false if all bodies together are too large. */
  reserve(bytes: number): boolean {
    if (bytes <= smallBody) return true
    const more = bytes - this.#bodyBytes
    if (this.#shared.bodyBytes + more > maxBodyBytes) return false
    this.#shared.bodyBytes += more
    this.#bodyBytes = bytes
    return true
  }

  release(): void {
    if (this.#isInFlight) this.#shared.inFlight--
    this.#shared.bodyBytes -= this.#bodyBytes
    this.#isInFlight = false
    this.#bodyBytes = 0
  }

  /**
   * Counts the request as in flight while `work` runs.
   * @throws Fault `unavailable`, and the errors of `work`
   */
  during<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (!this.begin()) throw overloaded()
    let result: T | Promise<T> | undefined
    try {
      result = work()
    } finally {
      if (!(result instanceof Promise)) this.release()
    }
    return result instanceof Promise ? result.finally(() => this.release()) : result
  }
}

export function overloaded(): Fault {
  return new Fault('unavailable', 'The service is overloaded. Retry in a moment')
}
