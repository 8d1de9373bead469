import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { errorBody, errorTable } from '../../contract/errors.ts'
import type { Clock } from '../../domain/util/clock.ts'
import { Fault } from '../../domain/fault.ts'
import { endingWithRequest, hasUnreadBody } from '../response.ts'
import { closeOnAmbiguousFraming } from './request-validation.ts'
import { prependRequestListener, type HandleRequest } from './prepend-listener.ts'
import type { FinalResponses } from './protocol-errors.ts'

/** For how long the event loop takes on calls before it looks for others, in milliseconds. */
const tickMs = 15
/** The same while connections come in: of those, libuv accepts one a turn. Where calls come at once, turns do nothing else at first. */
const tickWithConnectionMs = 1
const onlyConnectionsMs = 50
/** After so long without a connection, those that come are new ones. */
const newConnectionsMs = 200
/** A turn takes on no more calls than it takes so long to answer, what the store does included, in milliseconds. */
const fullTickMs = 30
/** But for these: the more share a commit, the less it costs each. */
const minPerTick = 64
/** How much of all time goes to the answers of refused calls while others wait, however many there are. */
const shareOfRefusals = 0.2
/** So long a call may wait to be taken on, in milliseconds; one that would wait for longer is refused. */
const maxWaitMs = 70
/** Of the calls that wait: no fewer, however long they take, and no more. */
const minWaiting = 256
const maxWaiting = 1000
/** How much the last turn counts for how long a call takes. */
const weightOfTick = 0.2
/** Of the calls that are taken on and wait for the store. */
const maxInFlight = 1000
/** Of all bodies that are being read and worked on, in bytes. Small ones are not counted: of those, memory holds many. */
const maxBodyBytes = 64 * 1024 * 1024
const smallBody = 16 * 1024

/** What a load balancer and an orchestrator ask for: they are to learn that the service is alive, above all under load. */
const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** What the calls that are served take up together. */
interface Usage {
  /** That are worked on. */
  calls: number
  /** Of bodies that are not small. */
  bodyBytes: number
}

/**
 * What one call takes up of what all share. Counts alone: a set of requests, of which one comes and one goes with each call, would make
 * V8 keep what has gone until it collects the old generation.
 */
export class Permit {
  readonly #used: Usage
  #isInFlight = false
  #bodyBytes = 0

  constructor(used: Usage) {
    this.#used = used
  }

  /** The call is worked on from now on; false where too many are. */
  begin(): boolean {
    if (this.#isInFlight) return true
    if (this.#used.calls >= maxInFlight) return false
    this.#used.calls++
    this.#isInFlight = true
    return true
  }

  /** So many bytes of its body have come so far; false where those of all calls are too many. */
  hold(bytes: number): boolean {
    if (bytes <= smallBody) return true
    const more = bytes - this.#bodyBytes
    if (this.#used.bodyBytes + more > maxBodyBytes) return false
    this.#used.bodyBytes += more
    this.#bodyBytes = bytes
    return true
  }

  /** Gives back whatever it took. */
  end(): void {
    if (this.#isInFlight) this.#used.calls--
    this.#used.bodyBytes -= this.#bodyBytes
    this.#isInFlight = false
    this.#bodyBytes = 0
  }
}

export interface LoadShedderOptions extends FinalResponses {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Is told of a call that has to wait, be it to be refused, when it comes. */
  readonly onWait: ((request: IncomingMessage) => void) | undefined
  /** Is told of a call that was neither taken on nor refused, since its client had left. */
  readonly onLeft: ((request: IncomingMessage, requestId: string) => void) | undefined
}

/**
 * Takes on calls as they come, and, where they come faster than they can be answered, as many as can be answered soon. The
 * others it refuses: that costs a part of a call, and waiting with all would leave each too late (decision 0021).
 */
export class LoadShedder {
  readonly #handle: HandleRequest
  readonly #options: LoadShedderOptions
  readonly #clock: LoadShedderOptions['clock']
  readonly #waiting: Waiting[] = []
  readonly #refused: Waiting[] = []
  #maxWaiting = minWaiting
  #maxPerTick = minPerTick
  #serviceTimeMs = maxWaitMs / minWaiting
  /** When the event loop began with what came in; 0 where nothing has. */
  #tickBeganAt = 0
  #tickMs = tickMs
  /** How many calls were taken on in this turn, and in the last one in which any were. */
  #requestsOfTick = 0
  #requestsOfLastTick = 0
  #connectionsSince = -Infinity
  #lastConnectionAt = -Infinity
  #isScheduled = false
  /** When calls were last taken on that had waited, and how many. */
  #last = { at: 0, calls: 0 }
  readonly #used: Usage = { calls: 0, bodyBytes: 0 }

  /** Comes before what handles the requests of a server so far. */
  constructor(server: Server, options: LoadShedderOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#handle = prependRequestListener(server, (request, response) => this.#receive(request, response))
    server.on('connection', () => this.#connect())
  }

  /** What a call takes up; to be ended, whatever came of it. */
  claim(): Permit {
    return new Permit(this.#used)
  }

  /**
   * Counts a call that is worked on while this is done.
   * @throws Fault `unavailable` where there are too many, and what `work` throws
   */
  during<T>(work: () => T | Promise<T>): T | Promise<T> {
    const claim = this.claim()
    if (!claim.begin()) throw overloaded()
    let result: T | Promise<T> | undefined
    try {
      result = work()
    } finally {
      if (!(result instanceof Promise)) claim.end()
    }
    return result instanceof Promise ? result.finally(() => claim.end()) : result
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    if ((this.#waiting.length === 0 && this.#hasTime()) || probes.includes(request.url)) {
      this.#requestsOfTick++
      this.#handle(request, response)
      return
    }
    // Others of its connection come before it: they would have it wait all the same.
    const isBehind = response.socket === null
    const most = isBehind ? maxWaiting : this.#maxWaiting
    this.#options.onWait?.(request)
    if (this.#waiting.length < most && this.#used.calls < maxInFlight) {
      this.#waiting.push({ request, response })
    } else if (isBehind) {
      // Node reads no more of a connection on which enough answers wait.
      this.#refuse({ request, response })
      return
    } else this.#refused.push({ request, response })
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#last = { at: this.#clock.monotonic(), calls: 0 }
    setImmediate(this.#drainQueue)
  }

  #connect(): void {
    const now = this.#clock.monotonic()
    if (now - this.#lastConnectionAt > newConnectionsMs) this.#connectionsSince = now
    this.#lastConnectionAt = now
    const isFirst = now - this.#connectionsSince < onlyConnectionsMs
    this.#tickMs = isFirst && this.#requestsOfLastTick > 1 ? 0 : tickWithConnectionMs
  }

  #hasTime(): boolean {
    const now = this.#clock.monotonic()
    if (this.#tickBeganAt === 0) {
      this.#tickBeganAt = now
      setImmediate(this.#endTick)
    }
    return now - this.#tickBeganAt < this.#tickMs
  }

  readonly #endTick = (): void => {
    this.#tickBeganAt = 0
    this.#endRequestsOfTick()
    if (!this.#isScheduled) this.#tickMs = tickMs
  }

  /** Once a turn, while any wait: the event loop reads what has come in, and writes what is answered, in between. */
  readonly #drainQueue = (): void => {
    const now = this.#clock.monotonic()
    this.#updateServiceTime(now)
    let calls = 0
    for (const end = now + this.#tickMs; calls < this.#maxPerTick && this.#clock.monotonic() < end; calls++) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      if (next.request.socket.destroyed) this.#leave(next.request)
      else this.#handle(next.request, next.response)
    }
    this.#requestsOfTick += calls
    this.#endRequestsOfTick()
    const lastTurnMs = Math.max(now - this.#last.at, this.#tickMs)
    for (const end = this.#clock.monotonic() + shareOfRefusals * lastTurnMs; this.#clock.monotonic() < end;) {
      const next = this.#refused.shift()
      if (next === undefined) break
      this.#refuse(next)
    }
    this.#last = { at: now, calls }
    this.#tickMs = tickMs
    this.#isScheduled = this.#waiting.length > 0 || this.#refused.length > 0
    if (this.#isScheduled) setImmediate(this.#drainQueue)
  }

  #endRequestsOfTick(): void {
    if (this.#requestsOfTick > 0) this.#requestsOfLastTick = this.#requestsOfTick
    this.#requestsOfTick = 0
  }

  /** While calls wait, the event loop does nothing but work: by the time that passes, a call takes as long as it takes. */
  #updateServiceTime(now: number): void {
    const { at, calls } = this.#last
    if (calls === 0) return
    this.#serviceTimeMs += weightOfTick * ((now - at) / calls - this.#serviceTimeMs)
    this.#maxPerTick = Math.max(fullTickMs / this.#serviceTimeMs, minPerTick)
    this.#maxWaiting = Math.min(Math.max(maxWaitMs / this.#serviceTimeMs, minWaiting), maxWaiting)
  }

  #leave(request: IncomingMessage): void {
    this.#options.onLeft?.(request, this.#options.nextRequestId())
  }

  /** Past Fastify, which would cost as much again. */
  #refuse({ request, response }: Waiting): void {
    if (request.socket.destroyed) {
      this.#leave(request)
      return
    }
    const { nextRequestId, onRefused } = this.#options
    const requestId = nextRequestId()
    const fault = overloaded()
    const { code } = fault
    const { status } = errorTable[code]
    const body = errorBody(fault, requestId)
    const bytes = Buffer.byteLength(body)
    closeOnAmbiguousFraming(request, response)
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': bytes,
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'Retry-After': '1',
    })
    if (hasUnreadBody(request)) endingWithRequest(request, Buffer.from(body)).pipe(response)
    else response.end(body)
    onRefused?.({ requestId, status, code, bytes, request })
  }
}

export function overloaded(): Fault {
  return new Fault('unavailable', 'There are more calls than the service can answer; try again in a moment')
}
