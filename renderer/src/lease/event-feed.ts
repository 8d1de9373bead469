import type { EventSourceMessage } from 'eventsource-parser'
import type { Clock } from '../clock.ts'
import { connectFeed, type ConnectionEnd, type DisconnectionReason } from './feed-connection.ts'
import { readFeedEvent, type FeedEvent } from './feed-event.ts'
import type { Instant } from './instant.ts'
import { includes, parsePosition, type Position } from './position.ts'
import { userAgent } from '../version.ts'

/** End of a connection to the event feed. The client connects again by itself. */
export interface Disconnection {
  readonly reason: DisconnectionReason
  /** HTTP status, if there was a response other than 200. */
  readonly status: number | undefined
  /** Time until the next attempt, in milliseconds. */
  readonly retryInMs: number
}

export interface FeedHandler {
  /** Every change that was committed before `completeAt` was received. Undefined if the service does not know. */
  onHeartbeat(completeAt: Instant | undefined): void
  onEvent(event: FeedEvent, position: Position): void
  /** Events before `position` may have been missed. Also called when the feed starts. */
  onReset(position: Position | undefined): void
  /** The first heartbeat since the start or the last disconnection arrived. Called before `onHeartbeat`. */
  onConnected(): void
  onDisconnected(disconnection: Disconnection): void
}

export interface EventFeedOptions {
  readonly url: URL
  readonly apiToken: string
  readonly clock: Clock
  readonly silenceMs: number
}

const initialDelayMs = 100
const maxDelayMs = 5000
/** For failures that only an operator can end. */
const initialDelayOfRefusalsMs = 5000
const maxDelayOfRefusalsMs = 60_000
/** Limits the error of a lease, which counts time by the clocks of two machines, to about 0.1 s. */
const maxConnectionMs = 10 * 60_000

/** One connection to the event feed of the service, which is opened again whenever it ends. */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #handler: FeedHandler
  #state: 'new' | 'open' | 'closed' = 'new'
  #closeConnection: () => void = () => undefined
  #timer: NodeJS.Timeout | undefined
  #position: Position | undefined
  /** Connections without a second heartbeat since the last one with. */
  #failures = 0
  #heartbeats = 0
  #isConnected = false

  constructor(options: EventFeedOptions, handler: FeedHandler) {
    this.#options = options
    this.#handler = handler
  }

  /** Position of the last message. */
  get position(): Position | undefined {
    return this.#position
  }

  open(): void {
    if (this.#state !== 'new') return
    this.#state = 'open'
    this.#connect()
  }

  /** Starts another connection after a pause. */
  reconnect(reason: 'late'): void {
    this.#closeConnection()
    this.#reconnect({ reason })
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
    this.#closeConnection()
  }

  #connect(): void {
    const { url, apiToken, clock, silenceMs } = this.#options
    this.#heartbeats = 0
    this.#closeConnection = connectFeed({
      url,
      headers: {
        'user-agent': userAgent,
        authorization: `Token ${apiToken}`,
        accept: 'text/event-stream',
        'cache-control': 'no-store',
        ...(this.#position && { 'last-event-id': this.#position.text }),
      },
      clock,
      silenceMs,
      onMessage: (message, completeAt) => this.#receive(message, completeAt),
      onEnd: (end) => this.#reconnect(end),
    })
    const renew = () => {
      this.#closeConnection()
      this.#connect()
    }
    this.#timer = setTimeout(renew, maxConnectionMs * jitter()).unref()
  }

  #receive({ event = 'message', id, data }: EventSourceMessage, completeAt: Instant | undefined): void {
    const position = parsePosition(id)
    if (position === undefined && event !== 'reset') {
      this.#closeConnection()
      this.#reconnect({ reason: 'bad_response', status: 200 })
      return
    }
    // A store that was restored from a backup continues from an earlier position.
    const isContinuous = position && this.#position && includes(position, this.#position)
    this.#position = position
    if (event === 'reset' || !isContinuous) this.#handler.onReset(position)
    if (event === 'reset' || !position) return
    if (event === 'heartbeat') this.#receiveHeartbeat(completeAt)
    else this.#handler.onEvent(readFeedEvent(event, data), position)
  }

  #receiveHeartbeat(completeAt: Instant | undefined): void {
    this.#heartbeats++
    if (this.#heartbeats > 1) this.#failures = 0
    if (!this.#isConnected) this.#handler.onConnected()
    this.#isConnected = true
    this.#handler.onHeartbeat(completeAt)
  }

  #reconnect({ reason, status, retryAfter }: ConnectionEnd): void {
    if (this.#state === 'closed') return
    // The same position would fail again.
    if (reason === 'invalid_position' || reason === 'bad_response') this.#position = undefined
    const isRefusal = ['unauthenticated', 'forbidden', 'no_feed', 'bad_response'].includes(reason)
    const [initial, maximum] = isRefusal
      ? [initialDelayOfRefusalsMs, maxDelayOfRefusalsMs]
      : [initialDelayMs, maxDelayMs]
    const delay = Math.min(maximum, initial * 2 ** this.#failures) * jitter()
    const requested = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : 0
    const retryInMs = Math.max(delay, Math.min(requested, maxDelayOfRefusalsMs))
    this.#failures++
    this.#isConnected = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), retryInMs).unref()
    this.#handler.onDisconnected({ reason, status, retryInMs })
  }
}

function jitter(): number {
  return 0.5 + Math.random() / 2
}
