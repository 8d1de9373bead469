import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../domain/util/clock.ts'
import { sendRefusal } from '../error-response.ts'
import type { RequestContext } from '../request-context.ts'
import { overloaded, Permit, SharedResources } from './permit.ts'
import type { Next, Stage } from './stage.ts'

/** Time per event-loop iteration in which requests are admitted as they are read, in milliseconds. */
const tickMs = 15
/** Value of `tickMs` while connections arrive: libuv accepts one per iteration. */
const tickWithConnectionMs = 1
/** Time in which iterations only accept connections, if several requests arrive per iteration, in milliseconds. */
const onlyConnectionsMs = 50
/** Time without a connection after which connections count as new, in milliseconds. */
const newConnectionsMs = 200
/** Maximum time that the requests admitted from the queue in one iteration may take, in milliseconds. */
const fullTickMs = 30
/** Minimum number of requests admitted per iteration: the more share a commit, the less each costs. */
const minPerTick = 64
/** Maximum share of time for refusals while requests wait. */
const shareOfRefusals = 0.2
/** Maximum queue wait, in milliseconds. Requests beyond it get a 503. */
const maxWaitMs = 70
/** Bounds of the queue length. In between, `maxWaitMs` determines it. */
const minWaiting = 256
const maxWaiting = 1000
/** Weight of the last iteration in the average service time. */
const weightOfTick = 0.2

/** Health checks never queue: a busy service must not look dead. */
const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

interface QueuedRequest {
  readonly context: RequestContext
  readonly next: Next
}

/**
 * Admits requests as they arrive. If they arrive faster than the service can respond, it queues those that it can respond to
 * soon and refuses the others with 503, which costs a third of a response (decision 0021).
 */
export class LoadShedder implements Stage {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #queue: QueuedRequest[] = []
  readonly #refused: RequestContext[] = []
  readonly #shared = new SharedResources()
  #maxWaiting = minWaiting
  #maxPerTick = minPerTick
  #serviceTimeMs = maxWaitMs / minWaiting
  /** Start of the current event-loop iteration; undefined if no request has been read in it. */
  #tickStartedAt: number | undefined
  #tickMs = tickMs
  #admittedInTick = 0
  /** Requests admitted in the last iteration that admitted any. */
  #admittedInLastTick = 0
  #connectionsSince = -Infinity
  #lastConnectionAt = -Infinity
  #isDrainScheduled = false
  #lastDrain = { at: 0, admitted: 0 }

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  attach(server: Server): void {
    // A connection is emitted again for each pipelined request.
    server.on('connection', ({ bytesRead }: Socket) => bytesRead === 0 && this.#countConnection())
  }

  issuePermit(): Permit {
    return new Permit(this.#shared)
  }

  handle(context: RequestContext, next: Next): void {
    context.permit = this.issuePermit()
    const isProbe = probes.includes(context.raw.url)
    if (isProbe || (this.#queue.length === 0 && this.#hasTimeInTick())) {
      this.#admittedInTick++
      next(context)
      return
    }
    if (this.#queue.length < this.#maxWaiting && !this.#shared.inFlight.isFull)
      this.#queue.push({ context, next })
    else this.#refused.push(context)
    if (this.#isDrainScheduled) return
    this.#isDrainScheduled = true
    this.#lastDrain = { at: this.#clock.monotonic(), admitted: 0 }
    setImmediate(this.#drainQueue)
  }

  #countConnection(): void {
    const now = this.#clock.monotonic()
    if (now - this.#lastConnectionAt > newConnectionsMs) this.#connectionsSince = now
    this.#lastConnectionAt = now
    const areNew = now - this.#connectionsSince < onlyConnectionsMs
    this.#tickMs = areNew && this.#admittedInLastTick > 1 ? 0 : tickWithConnectionMs
  }

  #hasTimeInTick(): boolean {
    const now = this.#clock.monotonic()
    if (this.#tickStartedAt === undefined) {
      this.#tickStartedAt = now
      setImmediate(this.#endTick)
    }
    return now - this.#tickStartedAt < this.#tickMs
  }

  readonly #endTick = (): void => {
    this.#tickStartedAt = undefined
    this.#closeTickCount()
    if (!this.#isDrainScheduled) this.#tickMs = tickMs
  }

  /** Runs once per event-loop iteration while requests wait, so that the loop reads and writes in between. */
  readonly #drainQueue = (): void => {
    const now = this.#clock.monotonic()
    this.#updateServiceTime(now)
    const admitted = this.#admitQueued(now + this.#tickMs)
    this.#admittedInTick += admitted
    this.#closeTickCount()
    const lastTickMs = Math.max(now - this.#lastDrain.at, this.#tickMs)
    this.#sendRefusals(this.#clock.monotonic() + shareOfRefusals * lastTickMs)
    this.#lastDrain = { at: now, admitted }
    this.#tickMs = tickMs
    this.#isDrainScheduled = this.#queue.length > 0 || this.#refused.length > 0
    if (this.#isDrainScheduled) setImmediate(this.#drainQueue)
  }

  #admitQueued(until: number): number {
    let admitted = 0
    for (; admitted < this.#maxPerTick && this.#clock.monotonic() < until; admitted++) {
      const queued = this.#queue.shift()
      if (queued === undefined) break
      if (!queued.context.raw.socket.destroyed) queued.next(queued.context)
    }
    return admitted
  }

  #sendRefusals(until: number): void {
    while (this.#clock.monotonic() < until) {
      const context = this.#refused.shift()
      if (context === undefined) return
      if (!context.raw.socket.destroyed) sendRefusal(context, overloaded())
    }
  }

  #closeTickCount(): void {
    if (this.#admittedInTick > 0) this.#admittedInLastTick = this.#admittedInTick
    this.#admittedInTick = 0
  }

  /** While requests wait, the event loop is never idle: elapsed time divided by requests is the service time. */
  #updateServiceTime(now: number): void {
    const { at, admitted } = this.#lastDrain
    if (admitted === 0) return
    this.#serviceTimeMs += weightOfTick * ((now - at) / admitted - this.#serviceTimeMs)
    this.#maxPerTick = Math.max(fullTickMs / this.#serviceTimeMs, minPerTick)
    this.#maxWaiting = Math.min(Math.max(maxWaitMs / this.#serviceTimeMs, minWaiting), maxWaiting)
  }
}
