import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { errorAnswer, errorTable } from '../contract/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { LastAnswers } from './protocol-errors.ts'

/** For how long the event loop takes on calls before it looks for others, in milliseconds. */
const turnMs = 15
/** The same while connections come in: of those, libuv accepts one a turn. */
const turnWithConnectionMs = 1
/** How much of all time goes to the answers of refused calls while others wait, however many there are. */
const shareOfRefusals = 0.2
/** So long a call may wait to be taken on, in milliseconds; one that would wait for longer is refused. */
const longestWaitMs = 70
/** Of the calls that wait: no fewer, however long they take, and no more. */
const fewestWaiting = 256
const mostWaiting = 1000
/** How much the last turn counts for how long a call takes. */
const weightOfTurn = 0.2
/** Of the calls that are taken on and wait for the store. */
const mostAtWork = 1000
/** Of all bodies that are being read and worked on, in bytes. Small ones are not counted: of those, memory holds many. */
const mostBodyBytes = 64 * 1024 * 1024
const smallBody = 16 * 1024

/** What a load balancer and an orchestrator ask for: they are to learn that the service is alive, above all under load. */
const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export interface AdmissionOptions extends LastAnswers {
  /** Is told of a call that has to wait, when it comes. */
  readonly onWait: ((request: IncomingMessage) => void) | undefined
}

/**
 * Takes on calls as they come, and, where they come faster than they can be answered, as many as can be answered soon. The
 * others it refuses: that costs a part of a call, and waiting with all would leave each too late (decision 0021).
 */
export class Admission {
  readonly #handle: Handle
  readonly #options: AdmissionOptions
  readonly #waiting: Waiting[] = []
  readonly #refused: ServerResponse[] = []
  #mostWaiting = fewestWaiting
  #msPerCall = longestWaitMs / fewestWaiting
  /** When the event loop began with what came in; 0 where nothing has. */
  #turnBegan = 0
  #turnMs = turnMs
  #isScheduled = false
  /** When calls were last taken on that had waited, and how many. */
  #last = { at: 0, calls: 0 }
  #atWork = 0
  #bodyBytes = 0
  /** Of the calls whose bodies are not small, how large those are. */
  readonly #bodies = new Map<ServerResponse, number>()

  /** Comes before what handles the requests of a server so far. */
  constructor(server: Server, options: AdmissionOptions) {
    const listeners = server.listeners('request') as Handle[]
    this.#handle = (request, response) => {
      for (const listener of listeners) listener.call(server, request, response)
    }
    this.#options = options
    server.removeAllListeners('request')
    server.on('request', this.#receive)
    server.on('connection', () => (this.#turnMs = turnWithConnectionMs))
  }

  /** Counts a call from when its body is there until it is answered; returns a fault where there are too many. */
  begin(response: ServerResponse): Fault | null {
    if (this.#atWork >= mostAtWork) return overloaded()
    this.#atWork++
    response.once('close', () => this.#atWork--)
    return null
  }

  /** Counts the bytes of a body that have come so far, until its call is answered; returns a fault where all have too many. */
  hold(bytes: number, response: ServerResponse): Fault | null {
    if (bytes <= smallBody) return null
    const before = this.#bodies.get(response)
    const more = bytes - (before ?? 0)
    if (this.#bodyBytes + more > mostBodyBytes) return overloaded()
    this.#bodyBytes += more
    this.#bodies.set(response, bytes)
    if (before === undefined) response.once('close', () => this.#release(response))
    return null
  }

  #release(response: ServerResponse): void {
    this.#bodyBytes -= this.#bodies.get(response) ?? 0
    this.#bodies.delete(response)
  }

  readonly #receive = (request: IncomingMessage, response: ServerResponse): void => {
    if ((this.#waiting.length === 0 && this.#hasTime()) || probes.includes(request.url)) {
      this.#handle(request, response)
      return
    }
    if (this.#waiting.length < this.#mostWaiting && this.#atWork < mostAtWork) {
      this.#options.onWait?.(request)
      this.#waiting.push({ request, response })
    } else this.#refused.push(response)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#last = { at: performance.now(), calls: 0 }
    setImmediate(this.#goOn)
  }

  #hasTime(): boolean {
    const now = performance.now()
    if (this.#turnBegan === 0) {
      this.#turnBegan = now
      setImmediate(this.#endTurn)
    }
    return now - this.#turnBegan < this.#turnMs
  }

  readonly #endTurn = (): void => {
    this.#turnBegan = 0
    if (!this.#isScheduled) this.#turnMs = turnMs
  }

  /** Once a turn, while any wait: the event loop reads what has come in, and writes what is answered, in between. */
  readonly #goOn = (): void => {
    const now = performance.now()
    this.#learn(now)
    let calls = 0
    for (const end = now + this.#turnMs; performance.now() < end; calls++) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      if (!next.response.destroyed) this.#handle(next.request, next.response)
    }
    const lastTurnMs = Math.max(now - this.#last.at, this.#turnMs)
    for (const end = performance.now() + shareOfRefusals * lastTurnMs; performance.now() < end;) {
      const next = this.#refused.shift()
      if (next === undefined) break
      this.#refuse(next)
    }
    this.#last = { at: now, calls }
    this.#turnMs = turnMs
    this.#isScheduled = this.#waiting.length > 0 || this.#refused.length > 0
    if (this.#isScheduled) setImmediate(this.#goOn)
  }

  /** While calls wait, the event loop does nothing but work: by the time that passes, a call takes as long as it takes. */
  #learn(now: number): void {
    const { at, calls } = this.#last
    if (calls === 0) return
    this.#msPerCall += weightOfTurn * ((now - at) / calls - this.#msPerCall)
    this.#mostWaiting = Math.min(Math.max(longestWaitMs / this.#msPerCall, fewestWaiting), mostWaiting)
  }

  /** Past Fastify, which would cost as much again. */
  #refuse(response: ServerResponse): void {
    const { nextRequestId, onRefused } = this.#options
    const requestId = nextRequestId()
    const fault = overloaded()
    const { code } = fault
    const { status } = errorTable[code]
    const body = errorAnswer(fault, requestId)
    const bytes = Buffer.byteLength(body)
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': bytes,
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'Retry-After': '1',
    })
    response.end(body)
    onRefused?.({ requestId, status, code, bytes, inPlaceOf: undefined })
  }
}

function overloaded(): Fault {
  return new Fault('unavailable', 'There are more calls than the service can answer; try again in a moment')
}
