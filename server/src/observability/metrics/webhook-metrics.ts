import { Counter, type Registry } from 'prom-client'
import { addGauge } from './gauge.ts'

/** Metrics of webhooks. The process that delivers counts the undelivered events of all endpoints; others report 0. */
export class WebhookMetrics {
  readonly #attempts: Counter<'outcome'>
  #undelivered = 0
  #oldestAt = Infinity

  constructor(registry: Registry) {
    this.#attempts = new Counter({
      name: 'ugs_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint: delivered or failed.',
      labelNames: ['outcome'],
      registers: [registry],
    })
    for (const outcome of ['delivered', 'failed']) this.#attempts.inc({ outcome }, 0)
    addGauge(registry, {
      name: 'ugs_webhook_undelivered_events',
      help: 'Events that wait for their delivery to a webhook endpoint that is not paused, counted every 15 seconds.',
      read: () => this.#undelivered,
      aggregator: 'max',
    })
    addGauge(registry, {
      name: 'ugs_webhook_oldest_undelivered_seconds',
      help: 'Age of the oldest event that waits for its delivery; 0 if there is none.',
      read: () => Math.max(0, Date.now() - this.#oldestAt) / 1000,
      aggregator: 'max',
    })
  }

  attempted(isDelivered: boolean): void {
    this.#attempts.inc({ outcome: isDelivered ? 'delivered' : 'failed' })
  }

  /** @param oldestAt time of the oldest undelivered event, in milliseconds since the Unix epoch */
  setBacklog(undelivered: number, oldestAt: number | null): void {
    this.#undelivered = undelivered
    this.#oldestAt = oldestAt ?? Infinity
  }

  /** Another process delivers. */
  clearBacklog(): void {
    this.setBacklog(0, null)
  }
}
