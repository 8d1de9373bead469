import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

const respondedAt = Symbol('respondedAt')

interface Responded {
  /** Time of the last response on this connection. */
  [respondedAt]?: number
}

/** Idle time between two event-loop iterations up to which the loop counts as busy, in milliseconds. */
const noIdleMs = 0.05

/**
 * Estimates when requests arrived, as `performance.now()`. Node.js reports a request when it reads it. On a busy service most
 * of a request's latency is the wait before that, until the current event-loop iteration ends and earlier requests are read.
 *
 * - All requests that one iteration reads had arrived when the iteration began.
 * - If the loop was busy since the previous iteration, a request arrived at some time since then, but after the previous
 *   response on its connection. The estimate is the midpoint of that interval.
 */
export class ArrivalEstimator {
  /** Start of the current iteration; undefined between iterations. */
  #tick: number | undefined
  #lastTick = 0
  #lastIdle = 0
  /** Earliest arrival of the requests that the current iteration reads. */
  #waitingSince = 0

  /** Returns the arrival time of the request that has just been read from `socket`. */
  arrivalOn(socket: Socket & Responded): number {
    const tick = this.#tick ?? this.#beginTick()
    const since = Math.min(tick, Math.max(this.#waitingSince, socket[respondedAt] ?? 0))
    return (since + tick) / 2
  }

  /** Records a response: the next request on the connection arrives later. */
  markResponse(socket: Socket & Responded): void {
    socket[respondedAt] = performance.now()
  }

  #beginTick(): number {
    const now = performance.now()
    const { idleTime } = performance.nodeTiming
    this.#waitingSince = idleTime - this.#lastIdle < noIdleMs ? this.#lastTick : now
    this.#lastIdle = idleTime
    this.#lastTick = this.#tick = now
    // Runs after everything that had arrived was read.
    setImmediate(this.#endTick)
    return now
  }

  readonly #endTick = (): void => {
    this.#tick = undefined
  }
}
