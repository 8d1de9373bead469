import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../fault.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Clock } from '../util/clock.ts'
import { FairQueue } from '../util/fair-queue.ts'
import { comparePositions, type EventPosition } from './event.ts'
import type { EventPage, EventStore, PositionedEvent } from './event-store.ts'

/** Pause between two reads of the store, in milliseconds. */
const pollMs = 50
/** Number of events that one read returns at most. */
const pageSize = 1000
/** The same for a subscriber that catches up: less, because a client that does not read has one such page in memory. */
const catchUpPageSize = 100
/** Time without a subscriber or a call of `currentPosition` after which the feed stops reading, in milliseconds. */
const idleMs = 10_000
/** Maximum time between two heartbeats of a subscriber, in milliseconds. A second is promised. */
const heartbeatMs = 900

/** Receives the events of one workspace and environment. */
export interface EventSink extends TenantScope {
  /** Receives events in order. Returns false if it cannot take more before `EventSubscription.resume` is called. */
  readonly send: (events: readonly PositionedEvent[]) => boolean
  /**
   * Called at least once a second while the store can be read, also while the sink is full.
   * @param position all events up to here have been sent
   * @param completeAt time on the monotonic clock: every change that was committed before it has been sent
   */
  readonly heartbeat: (position: EventPosition, completeAt: number) => void
  /**
   * Events may be missing or void: the position is unknown or older than the retention, or the database has failed over. The feed
   * continues from `position`.
   */
  readonly reset: (position: EventPosition) => void
  /** The feed ends: because the service stops, or because of a fault. */
  readonly end: (fault?: Fault) => void
}

interface Subscriber {
  readonly sink: EventSink
  /** All events up to here have been sent. Null if it begins with the next event. */
  cursor: EventPosition | null
  /** True once the store has accepted the position. */
  hasBegun: boolean
  /** True if the sink gets its events from the common read, false while it catches up or is full. */
  isLive: boolean
  isFull: boolean
  isCatchingUp: boolean
  completeAt: number
  lastHeartbeatAt: number
}

/**
 * Passes the events of the store to subscribers. All subscribers of a process share one read. One that begins at an earlier position,
 * or cannot take more for a while, catches up with reads of its own.
 */
export class EventFeed {
  readonly #events: EventStore
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #subscribers = new Set<Subscriber>()
  #position: EventPosition | null = null
  /** Every change that was committed before this time is at or before `#position`. */
  #completeAt = -Infinity
  #startedAt = -Infinity
  /** Reads whose `nextPosition` has not been reached, oldest first. */
  #reads: { readonly startedAt: number; readonly nextPosition: EventPosition }[] = []
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #wantedAt = -Infinity
  #isClosed = false
  /** Reads of subscribers that are behind. */
  readonly #turns = new FairQueue(1)
  #sent = 0

  constructor({ store, clock }: { store: { readonly events: EventStore }; clock: Pick<Clock, 'monotonic'> }) {
    this.#events = store.events
    this.#clock = clock
  }

  get subscribers(): number {
    return this.#subscribers.size
  }

  /** Number of events sent to subscribers. */
  get sent(): number {
    return this.#sent
  }

  /** Milliseconds by which the feed is behind the store; null while it does not read. */
  get lagMs(): number | null {
    if (!this.#isRunning) return null
    return Math.max(0, this.#clock.monotonic() - Math.max(this.#completeAt, this.#startedAt))
  }

  /**
   * Returns a position that every later read of the store includes; null if none is known yet. The feed then begins to read, and the
   * next call returns one.
   */
  currentPosition(): EventPosition | null {
    this.#wantedAt = this.#clock.monotonic()
    this.#start()
    return this.#position
  }

  /** @throws Fault `unavailable`, or `not_implemented` if the store has no order of events (Citus) */
  async checkReadable(): Promise<void> {
    if (this.#isClosed) throw new Fault('unavailable', 'The service is stopping. Connect again')
    await this.#events.head()
  }

  /** @param after null begins with the next event */
  subscribe(sink: EventSink, after: EventPosition | null): EventSubscription {
    const subscriber: Subscriber = {
      sink,
      cursor: after,
      hasBegun: false,
      isLive: false,
      isFull: false,
      isCatchingUp: false,
      completeAt: -Infinity,
      lastHeartbeatAt: -Infinity,
    }
    this.#subscribers.add(subscriber)
    this.#start()
    if (this.#isClosed) queueMicrotask(() => this.#endAll())
    else void this.#catchUp(subscriber)
    return {
      resume: () => {
        subscriber.isFull = false
        void this.#catchUp(subscriber)
      },
      end: () => {
        this.#remove(subscriber)
        this.#wantedAt = this.#clock.monotonic()
      },
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#endAll()
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
  }

  #endAll(fault?: Fault): void {
    for (const subscriber of [...this.#subscribers]) this.#end(subscriber, fault)
  }

  #end(subscriber: Subscriber, fault?: Fault): void {
    this.#remove(subscriber)
    subscriber.sink.end(fault)
  }

  get #isRunning(): boolean {
    return this.#timer !== undefined || this.#isReading
  }

  #start(): void {
    if (this.#isRunning || this.#isClosed) return
    this.#startedAt = this.#clock.monotonic()
    void this.#poll()
  }

  async #poll(): Promise<void> {
    this.#timer = undefined
    this.#isReading = true
    const isFullPage = await this.#read().catch((error: unknown) => this.#giveUp(error as Fault))
    this.#isReading = false
    const isIdle = this.#subscribers.size === 0 && this.#clock.monotonic() - this.#wantedAt > idleMs
    if (this.#isClosed) return
    if (isIdle) this.#position = null
    else this.#timer = setTimeout(() => void this.#poll(), isFullPage === true ? 0 : pollMs).unref()
  }

  /** Reads one page and passes it on. Returns whether there may be more. */
  async #read(): Promise<boolean> {
    const startedAt = this.#clock.monotonic()
    if (this.#position === null) {
      this.#position = await this.#events.head()
      this.#reads = []
      this.#completeAt = -Infinity
      return true
    }
    const page = await this.#events.read(this.#position, pageSize)
    if (page === null) {
      // The store was replaced by another, for example by an older backup.
      this.#position = null
      for (const subscriber of this.#subscribers) subscriber.isLive = false
      return false
    }
    this.#position = page.position
    this.#noteProgress(startedAt, page)
    for (const subscriber of this.#subscribers) {
      if (!subscriber.isLive) void this.#catchUp(subscriber)
      else this.#deliver(subscriber, page)
    }
    const now = this.#clock.monotonic()
    for (const subscriber of this.#subscribers) {
      if (subscriber.isLive) subscriber.completeAt = this.#completeAt
      this.#beat(subscriber, now)
    }
    return page.events.length === pageSize
  }

  #noteProgress(startedAt: number, { readUpTo, nextPosition }: EventPage): void {
    // After a crash or a failover, the database gives positions again.
    const last = this.#reads.at(-1)
    if (last !== undefined && comparePositions(nextPosition, last.nextPosition) < 0) this.#reads = []
    this.#reads.push({ startedAt, nextPosition })
    const firstOpen = this.#reads.findIndex((read) => comparePositions(read.nextPosition, readUpTo) > 0)
    const done = this.#reads.splice(0, firstOpen === -1 ? this.#reads.length : firstOpen)
    this.#completeAt = done.at(-1)?.startedAt ?? this.#completeAt
    // While a transaction stays open, later reads say nothing new.
    if (this.#reads.length > maxOpenReads) this.#reads.splice(1, 1)
  }

  #giveUp(error: Fault): void {
    if (error.code !== 'not_implemented') return
    this.#wantedAt = -Infinity
    this.#endAll(error)
  }

  /** Passes on the events after the subscriber's cursor. */
  #deliver(subscriber: Subscriber, { events, position, isContinuous }: EventPage): void {
    const { sink, cursor } = subscriber
    // An idle feed costs nothing more.
    if (events.length === 0 && isContinuous && position === cursor) return
    const own = events.filter(
      (event) =>
        event.workspaceId === sink.workspaceId &&
        event.environment === sink.environment &&
        (cursor === null || comparePositions(event.position, cursor) > 0),
    )
    if (cursor === null || comparePositions(position, cursor) > 0) subscriber.cursor = position
    this.#sent += own.length
    this.#call(subscriber, () => {
      if (own.length > 0 && !sink.send(own)) {
        subscriber.isFull = true
        subscriber.isLive = false
      }
      // After the events: a client whose connection ends before the reset gets it again.
      if (!isContinuous) sink.reset(position)
    })
  }

  /** Calls a sink. One that throws is ended, so that the others get their events. */
  #call(subscriber: Subscriber, action: () => void): void {
    try {
      action()
    } catch {
      this.#end(
        subscriber,
        new Fault('internal', 'Something went wrong on our side', { reason: 'EVENT_SINK' }),
      )
    }
  }

  /** Reads on for a subscriber until it has reached the common read. */
  async #catchUp(subscriber: Subscriber): Promise<void> {
    if (subscriber.isCatchingUp) return
    subscriber.isCatchingUp = true
    try {
      while (this.#isBehind(subscriber)) {
        const { cursor } = subscriber
        const page = cursor === null ? null : await this.#readInTurn(subscriber.sink.workspaceId, cursor)
        if (page === null) await this.#begin(subscriber)
        else if (this.#subscribers.has(subscriber)) this.#deliver(subscriber, page)
        subscriber.hasBegun = true
        // Until the common read has begun, it is enough to have read once.
        if (this.#position === null) return
        const isLevel = comparePositions(subscriber.cursor as EventPosition, this.#position) >= 0
        subscriber.isLive = isLevel && !subscriber.isFull
      }
    } catch (error) {
      // The next read of the feed tries again.
      this.#giveUp(error as Fault)
    } finally {
      subscriber.isCatchingUp = false
    }
  }

  /** Reads one page at a time for all subscribers, workspaces in turn, and at most half of the time, so that requests go on. */
  #readInTurn(workspaceId: number, cursor: EventPosition): Promise<EventPage | null> {
    return new Promise((resolve, reject) => {
      void this.#turns.run(workspaceId, async () => {
        const startedAt = this.#clock.monotonic()
        const read = this.#events.read(cursor, catchUpPageSize)
        read.then(resolve, reject)
        const isRead = await read.then(yes, no)
        if (isRead) await sleep(this.#clock.monotonic() - startedAt, undefined, { ref: false })
      })
    })
  }

  #isBehind(subscriber: Subscriber): boolean {
    return !subscriber.isLive && !subscriber.isFull && this.#subscribers.has(subscriber)
  }

  /** Lets a subscriber begin, or begin again, with the next event. */
  async #begin(subscriber: Subscriber): Promise<void> {
    const isReset = subscriber.cursor !== null
    subscriber.cursor = await this.#events.head()
    subscriber.hasBegun = true
    if (!this.#subscribers.has(subscriber)) return
    const { sink, cursor } = subscriber
    if (isReset) this.#call(subscriber, () => sink.reset(cursor))
    // Comes before the next event, so that the client knows a position.
    this.#beat(subscriber, this.#clock.monotonic())
  }

  #beat(subscriber: Subscriber, now: number): void {
    if (!subscriber.hasBegun || now - subscriber.lastHeartbeatAt < heartbeatMs) return
    subscriber.lastHeartbeatAt = now
    const { sink, cursor, completeAt } = subscriber
    this.#call(subscriber, () => sink.heartbeat(cursor as EventPosition, completeAt))
  }
}

/** Maximum number of reads that are remembered while a transaction stays open. */
const maxOpenReads = 100

export interface EventSubscription {
  /** Resumes delivery after `send` returned false. */
  readonly resume: () => void
  readonly end: () => void
}

const yes = () => true
const no = () => false
