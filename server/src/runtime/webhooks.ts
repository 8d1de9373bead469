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
import { Loop } from './loop.ts'
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
  let countAt = 0
  /** True if there is more work than the step in flight, or the last one, has done. */
  let isWoken = false
  const leaderPause = () => (isWoken ? wokenPauseMs : leaderPauseMs)
  const step = async () => {
    isWoken = false
    if (!(await dispatcher.step())) {
      metrics?.clearBacklog()
      return otherPauseMs
    }
    const now = systemClock.monotonic()
    if (metrics !== undefined && now >= countAt) {
      countAt = now + countMs
      const { undelivered, oldestEventId } = await store.webhookDeliveries.backlog()
      metrics.setBacklog(undelivered, oldestEventId === null ? null : timeOfEvent(oldestEventId))
    }
    return leaderPause()
  }
  const onFailure = warningsOf(logger)('Webhooks could not be delivered')
  const loop = new Loop({ step, failurePauseMs: otherPauseMs, onFailure })
  dispatcher.onWork(() => {
    if (!isWoken) loop.wake(wokenPauseMs)
    isWoken = true
  })
  return async () => {
    await loop.stop()
    await dispatcher.stop(graceMs).catch(warningsOf(logger)('Webhook deliveries could not be recorded'))
    sender.close()
  }
}
