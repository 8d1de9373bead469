import type { Event, EventPosition } from '../event/event.ts'
import type { PositionedEvent } from '../event/event-store.ts'
import { DecryptionError, type Keyring } from '../secret-key/keyring.ts'
import type { Store } from '../store.ts'
import type { Clock } from '../util/clock.ts'
import { AttemptsInFlight, maxInFlight } from './attempts-in-flight.ts'
import { nextAttemptAt } from './retry-schedule.ts'
import { isGone, isSuccess, type AttemptResult } from './webhook-delivery.ts'
import type { DueDelivery, NewDelivery, RecordedAttempt, WebhookTarget } from './webhook-delivery-store.ts'
import { receives } from './webhook-endpoint.ts'
import { signedHeaders } from './webhook-signature.ts'

/** Time after which another process takes over from a leader that has stopped, in milliseconds. */
export const claimMs = 30_000
/** Maximum number of events that one step reads. */
const maxBatchEvents = 200
/** Number of deliveries after which a step writes no more: some ten milliseconds, in which requests wait. */
const maxStepDeliveries = 1000
/** Maximum number of attempts that one transaction records: some milliseconds, in which requests wait. */
const maxBatchAttempts = 64

/** Sends one request, and never fails. */
export type SendWebhook = (
  request: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    /** Maximum time until the receiver responds, in milliseconds. By default that of deliveries. */
    readonly timeoutMs?: number
  },
  signal?: AbortSignal,
) => Promise<AttemptResult>

interface WebhookObserver {
  readonly attempted: (isDelivered: boolean) => void
  /** The endpoint was disabled: a delivery failed for the retry period, or the receiver is gone. */
  readonly disabled: (endpointId: number) => void
  /** Events may be missing: the position was lost, and deliveries go on with the next event. */
  readonly positionLost: () => void
}

export interface WebhookDispatcherDependencies {
  readonly store: Pick<Store, 'events' | 'webhookDeliveries'>
  readonly keyring: Keyring
  readonly clock: Clock
  readonly send: SendWebhook
  /** Returns the body of a message. */
  readonly bodyOf: (event: Event) => string
  readonly observer: WebhookObserver
  /** A name that no other process has. */
  readonly holder: string
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/**
 * Delivers events to webhook endpoints while this process is the leader. A delivery is recorded after its attempt, so a crash in
 * between may repeat it, and never loses it. Only `step` writes to the store, one step at a time.
 */
export class WebhookDispatcher {
  readonly #parts: WebhookDispatcherDependencies
  readonly #inFlight = new AttemptsInFlight()
  /** Number of the last attempt of each endpoint. Those that waited longest go first. */
  readonly #lastAttempt = new Map<number, number>()
  #attempts = 0
  #done: { readonly queue: string; readonly attempt: RecordedAttempt }[] = []
  #wake: () => void = () => undefined
  readonly #stopping = new AbortController()

  constructor(parts: WebhookDispatcherDependencies) {
    this.#parts = parts
  }

  /** Sets a function to call when the next step need not wait: it can record an attempt or read more events. */
  onWork(wake: () => void): void {
    this.#wake = wake
  }

  /**
   * Records finished attempts, writes deliveries for new events, and starts attempts that are due. Returns false if this process is
   * not the leader.
   * @throws Fault `unavailable`
   */
  async step(): Promise<boolean> {
    const { store, clock, holder } = this.#parts
    const leader = await store.webhookDeliveries.claim({ holder, now: clock.now(), durationMs: claimMs })
    if (leader === null) {
      this.#discardDone()
      return false
    }
    const claimEndsAt = clock.monotonic() + claimMs / 2
    await this.#record()
    const targets = await store.webhookDeliveries.targets()
    await this.#enqueue(leader.position, targets)
    // After a long wait for the store, another process may be the leader.
    if (clock.monotonic() < claimEndsAt) await this.#startDue(targets)
    return true
  }

  /** Resolves when no attempt is in flight. `step` then records the last ones. */
  idle(): Promise<void> {
    return this.#inFlight.ended()
  }

  /** Ends attempts in flight, records those that have finished, and lets another process take over. */
  async stop(graceMs: number): Promise<void> {
    const { store, holder } = this.#parts
    const timer = setTimeout(() => this.#stopping.abort(), graceMs)
    await this.idle()
    clearTimeout(timer)
    await this.#record()
    await store.webhookDeliveries.release(holder)
  }

  async #record(): Promise<void> {
    const { store, clock, holder, observer } = this.#parts
    while (this.#done.length > 0) {
      const done = this.#done.slice(0, maxBatchAttempts)
      const disabled = await store.webhookDeliveries.record({
        holder,
        now: clock.now(),
        author: 'service',
        requestId: null,
        attempts: done.map(({ attempt }) => attempt),
      })
      this.#done = this.#done.slice(done.length)
      for (const { queue } of done) this.#inFlight.delete(queue)
      for (const id of disabled ?? []) observer.disabled(id)
    }
  }

  /** Forgets attempts that the next leader repeats. */
  #discardDone(): void {
    for (const { queue } of this.#done) this.#inFlight.delete(queue)
    this.#done = []
  }

  async #enqueue(from: EventPosition | null, targets: readonly WebhookTarget[]): Promise<void> {
    const { store, clock, holder, observer } = this.#parts
    const page = from === null ? null : await store.events.read(from, maxBatchEvents)
    // Without events, a position also moves on PostgreSQL, where each write would move it again.
    if (page?.events.length === 0) return
    const { deliveries, lastEvent } = this.#deliveriesOf(page?.events ?? [], targets)
    const isPart = lastEvent !== undefined && lastEvent !== page?.events.at(-1)
    const to = isPart ? lastEvent.position : (page?.position ?? (await store.events.head()))
    const isMoved = await store.webhookDeliveries.enqueue({ holder, from, to, now: clock.now(), deliveries })
    if (isMoved && page === null) observer.positionLost()
    // Many events of one workspace delay those of another one as little as possible.
    if (isPart || page?.events.length === maxBatchEvents) this.#wake()
  }

  /** Returns the deliveries of the first events, and the last of these events. */
  #deliveriesOf(events: readonly PositionedEvent[], targets: readonly WebhookTarget[]) {
    const { bodyOf } = this.#parts
    const deliveries: NewDelivery[] = []
    let lastEvent: PositionedEvent | undefined
    for (const event of events) {
      if (deliveries.length >= maxStepDeliveries) break
      lastEvent = event
      const wanted = targets.filter((target) => receives(target, event))
      const body = wanted.length === 0 ? '' : bodyOf(event)
      const { eventId, type: eventType, userGroup } = event
      const teamId = userGroup?.teamId ?? null
      for (const { id: endpointId } of wanted)
        deliveries.push({ endpointId, eventId, eventType, teamId, body })
    }
    return { deliveries, lastEvent }
  }

  async #startDue(targets: readonly WebhookTarget[]): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const { store, clock } = this.#parts
    const open = this.#inTurns(
      targets.filter((target) => target.state === 'active' && this.#inFlight.mayStart(target)),
    )
    if (open.length === 0) return
    // Enough to find some that are not in flight.
    const due = await store.webhookDeliveries.due({
      now: clock.now(),
      endpoints: open.map((target) => ({ id: target.id, limit: this.#inFlight.limitOf(target) })),
      limit: maxInFlight,
    })
    const targetOf = new Map(open.map((target) => [target.id, target]))
    for (const delivery of due) {
      const { endpointId, teamId } = delivery
      const target = targetOf.get(endpointId) as WebhookTarget
      const queue = `${endpointId}/${teamId ?? ''}`
      if (this.#inFlight.has(queue) || !this.#inFlight.mayStart(target)) continue
      this.#lastAttempt.set(endpointId, ++this.#attempts)
      this.#inFlight.add(queue, target, this.#attempt(delivery, target, queue))
    }
  }

  /**
   * Returns the endpoints in the order in which they get attempts: workspaces take turns. In each, endpoints with the fewest attempts
   * in flight come first, then those that waited longest.
   */
  #inTurns(targets: readonly WebhookTarget[]): WebhookTarget[] {
    const inFlightOf = ({ id }: WebhookTarget) => this.#inFlight.countOf(id)
    const lastOf = ({ id }: WebhookTarget) => this.#lastAttempt.get(id) ?? 0
    const turns = new Map<number, number>()
    return targets
      .toSorted((a, b) => inFlightOf(a) - inFlightOf(b) || lastOf(a) - lastOf(b))
      .map((target) => {
        const turn = turns.get(target.workspaceId) ?? 0
        turns.set(target.workspaceId, turn + 1)
        return { target, turn }
      })
      .sort((a, b) => a.turn - b.turn)
      .map(({ target }) => target)
  }

  async #attempt(delivery: DueDelivery, target: WebhookTarget, queue: string): Promise<void> {
    const { clock, random, observer } = this.#parts
    const startedAt = clock.now()
    const startedAtMonotonic = clock.monotonic()
    const result = await this.#send(delivery, target, startedAt)
    // The next leader repeats an attempt that the end of the service has interrupted.
    const isInterrupted = this.#stopping.signal.aborted && !isSuccess(result)
    if (isInterrupted) return
    const attempts = delivery.attempts + 1
    const firstAttemptAt = delivery.firstAttemptAt ?? startedAt
    const isDelivered = isSuccess(result)
    observer.attempted(isDelivered)
    const durationMs = clock.monotonic() - startedAtMonotonic
    this.#inFlight.note(delivery.endpointId, isDelivered ? durationMs : null)
    const attempt: RecordedAttempt = {
      id: delivery.id,
      endpointId: delivery.endpointId,
      teamId: delivery.teamId,
      attempts,
      startedAt,
      isDelivered,
      durationMs: Math.round(durationMs),
      nextAttemptAt:
        isDelivered || isGone(result)
          ? null
          : nextAttemptAt(
              { attempts, firstAttemptAt, now: clock.now(), retryAfterMs: result.retryAfterMs },
              random(),
            ),
      responseStatus: result.status,
      errorCode: result.errorCode,
      signature: result.signature,
      responseHeaders: result.responseHeaders ?? null,
    }
    this.#done.push({ queue, attempt })
    this.#wake()
  }

  async #send(
    { eventId, body }: DueDelivery,
    target: WebhookTarget,
    now: number,
  ): Promise<AttemptResult & { readonly signature: string | null }> {
    const { keyring, send } = this.#parts
    try {
      const headers = signedHeaders({ id: eventId, now, body }, target, keyring)
      const result = await send({ url: target.url, headers, body }, this.#stopping.signal)
      return { ...result, signature: headers['webhook-signature'] }
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      return { status: null, errorCode: 'SECRET_SEALED', signature: null }
    }
  }
}
