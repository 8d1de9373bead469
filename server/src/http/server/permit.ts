import { Fault } from '../../domain/fault.ts'
import { FairPool, type FairShare } from '../../domain/util/fair-pool.ts'

/** Maximum number of admitted requests in flight, of which one workspace has at most half. */
const maxInFlight = 2000
/** Maximum size of all bodies in memory, of which one workspace has at most half. Small bodies do not count. */
const maxBodyBytes = 64 * 1024 * 1024
const smallBody = 16 * 1024

/** Resources that the admitted requests share. Counters instead of sets keep the garbage collector's work small. */
export class SharedResources {
  readonly inFlight = new FairPool(maxInFlight)
  readonly bodyBytes = new FairPool(maxBodyBytes)
  /** Number of permits so far: one per request. */
  issued = 0
}

/** Resources held by one request. Release it when the work is done. */
export class Permit {
  readonly #shared: SharedResources
  #workspaceId: number | null = null
  #inFlight: FairShare
  #isInFlight = false
  #bodyBytes = 0

  constructor(shared: SharedResources) {
    this.#shared = shared
    this.#inFlight = shared.inFlight.shareOf(null)
    shared.issued++
  }

  /** Number of requests so far, including this one. */
  get requests(): number {
    return this.#shared.issued
  }

  /**
   * Counts the request for a workspace from now on. Before, it counts for the clients that are not authenticated.
   * @throws Fault `unavailable` if it is in flight and the workspace has too many requests in flight
   */
  assign(workspaceId: number): void {
    const wasInFlight = this.#isInFlight
    this.release()
    this.#workspaceId = workspaceId
    this.#inFlight = this.#shared.inFlight.shareOf(workspaceId)
    if (wasInFlight && !this.begin()) throw overloaded()
  }

  /** Counts the request as in flight. Returns false if too many are, of all workspaces or of its own. */
  begin(): boolean {
    this.#isInFlight ||= this.#inFlight.take()
    return this.#isInFlight
  }

  /**
   * Reserves memory for the first `bytes` bytes of the body. Returns false if all bodies together are too large, of all workspaces or
   * of its own.
   */
  reserve(bytes: number): boolean {
    if (bytes <= smallBody) return true
    if (!this.#shared.bodyBytes.shareOf(this.#workspaceId).take(bytes - this.#bodyBytes)) return false
    this.#bodyBytes = bytes
    return true
  }

  release(): void {
    if (this.#isInFlight) this.#inFlight.release()
    if (this.#bodyBytes > 0) this.#shared.bodyBytes.shareOf(this.#workspaceId).release(this.#bodyBytes)
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
