import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { eventJson } from '../contract/event.ts'
import type { Config } from '../config/settings.ts'
import { timeOfEvent } from '../domain/audit/audit-event.ts'
import type { Keyring } from '../domain/secret-key/keyring.ts'
import type { Store } from '../domain/store.ts'
import { systemClock } from '../domain/util/clock.ts'
import { WebhookDispatcher } from '../domain/webhook/webhook-dispatcher.ts'
import type { WebhookMetrics } from '../observability/metrics/webhook-metrics.ts'
import { webhookRulesOf } from './configured-store.ts'
import { warningsOf } from './warnings.ts'
import { WebhookSender } from './webhook-sender.ts'

/** Pause between two steps while this process is the leader, and otherwise, in milliseconds. */
const leaderPauseMs = 250
const otherPauseMs = 1000
/** Pause before an early step, so that it serves several attempts, in milliseconds. */
const wokenPauseMs = 10
/** Interval at which the leader counts undelivered events for the metrics, in milliseconds. */
const countMs = 15_000
/** Time that attempts in flight have to finish when the service stops, in milliseconds. */
const graceMs = 3000

export interface WebhooksDependencies {
  readonly config: Config
  readonly store: Store
  readonly keyring: Keyring
  readonly metrics: WebhookMetrics | undefined
  readonly logger: Logger
}

/** Delivers webhooks while this process is the leader. Returns a function that stops it. */
export function startWebhooks(dependencies: WebhooksDependencies): () => Promise<void> {
  const { config, store, keyring, metrics, logger } = dependencies
  const sender = new WebhookSender({ ...webhookRulesOf(config), clock: systemClock })
  const dispatcher = new WebhookDispatcher({
    store,
    keyring,
    clock: systemClock,
    send: sender.send,
    bodyOf: eventJson,
    holder: randomUUID(),
    random: Math.random,
    observer: {
      attempted: (isDelivered) => metrics?.attempted(isDelivered),
      disabled: (id) =>
        logger.warn(
          { webhook_endpoint_id: id },
          'a webhook endpoint was disabled: deliveries failed for 3 days, or its receiver responded 410',
        ),
      positionLost: () =>
        logger.warn(
          'webhooks go on with the next event: the position in the events was lost, so some may be missing',
        ),
    },
  })
  const loop = new Loop(dispatcher, {
    warn: warningsOf(logger)('Webhooks could not be delivered'),
    count: async () => {
      if (metrics === undefined) return
      const { undelivered, oldestEventId } = await store.webhookDeliveries.backlog()
      metrics.setBacklog(undelivered, oldestEventId === null ? null : timeOfEvent(oldestEventId))
    },
    uncount: () => metrics?.clearBacklog(),
  })
  return async () => {
    await loop.stop()
    await dispatcher.stop(graceMs).catch(warningsOf(logger)('Webhook deliveries could not be recorded'))
    sender.close()
  }
}

interface LoopCallbacks {
  readonly warn: (error: unknown) => void
  readonly count: () => Promise<void>
  /** This process is not the leader. */
  readonly uncount: () => void
}

/** Runs steps one after the other, early if there is work. */
class Loop {
  readonly #dispatcher: WebhookDispatcher
  readonly #callbacks: LoopCallbacks
  #countAt = 0
  #isStopped = false
  #timer: NodeJS.Timeout | undefined
  #isWoken = false
  #hasFailed = false
  #running: Promise<void>

  constructor(dispatcher: WebhookDispatcher, callbacks: LoopCallbacks) {
    this.#dispatcher = dispatcher
    this.#callbacks = callbacks
    dispatcher.onWork(() => {
      const wasWoken = this.#isWoken
      this.#isWoken = true
      if (this.#timer !== undefined && !wasWoken) this.#schedule(wokenPauseMs)
    })
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#isWoken = false
    const isLeader = await this.#step()
    if (this.#isStopped) return
    this.#schedule(isLeader ? this.#leaderPause() : otherPauseMs)
  }

  /** An attempt may have finished during the step. */
  #leaderPause(): number {
    return this.#isWoken ? wokenPauseMs : leaderPauseMs
  }

  #schedule(pauseMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, pauseMs).unref()
  }

  async #step(): Promise<boolean> {
    try {
      const isLeader = await this.#dispatcher.step()
      if (isLeader) await this.#count()
      else this.#callbacks.uncount()
      this.#hasFailed = false
      return isLeader
    } catch (error) {
      // Once for each outage.
      if (!this.#hasFailed) this.#callbacks.warn(error)
      this.#hasFailed = true
      return false
    }
  }

  async #count(): Promise<void> {
    const now = systemClock.monotonic()
    if (now < this.#countAt) return
    this.#countAt = now + countMs
    await this.#callbacks.count()
  }
}
