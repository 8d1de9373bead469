import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

const answeredAt = Symbol('answeredAt')

interface Answered {
  /** When the last answer on this connection began to go out. */
  [answeredAt]?: number
}

/** What the loop does between two requests that wait for it may still be counted as idle, in milliseconds. */
const noIdleMs = 0.05

/**
 * When requests arrived, as near as it can be told from within. Node tells of a request when it reads it, and on a busy
 * service a request waits for that longer than it then takes: for the turn of the event loop that is under way, and for those
 * that are read before it.
 *
 * - All that is read in a turn had arrived when the turn began.
 * - Where the loop was busy all the time since the turn before, a request arrived at some time since then, and since the last
 *   answer on its connection. The middle of that is taken.
 *
 * All times are in milliseconds, as `performance.now` has them.
 */
export class ArrivalClock {
  /** When the turn under way began to read; undefined between turns. */
  #tick: number | undefined
  #lastTick = 0
  #lastIdle = 0
  /** Since when what is read in this turn may have been waiting. */
  #waitingSince = 0

  /** To be asked as soon as a request has been read. */
  arrivalOn(socket: Socket & Answered): number {
    const turn = this.#tick ?? this.#beginTick()
    const since = Math.min(turn, Math.max(this.#waitingSince, socket[answeredAt] ?? 0))
    return (since + turn) / 2
  }

  /** To be told when an answer begins to go out: the next request comes later. */
  answerOn(socket: Socket & Answered): void {
    socket[answeredAt] = performance.now()
  }

  #beginTick(): number {
    const now = performance.now()
    const { idleTime } = performance.nodeTiming
    this.#waitingSince = idleTime - this.#lastIdle < noIdleMs ? this.#lastTick : now
    this.#lastIdle = idleTime
    this.#lastTick = this.#tick = now
    // It runs when all that had arrived has been read, and before the loop looks for more.
    setImmediate(this.#endTick)
    return now
  }

  readonly #endTick = (): void => {
    this.#tick = undefined
  }
}
