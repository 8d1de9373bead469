import { timeOfEvent } from '../../../domain/audit/audit-event.ts'
import type { WebhookDelivery } from '../../../domain/webhook/webhook-delivery.ts'
import type { WebhookEndpointHealth } from '../../../domain/webhook/webhook-endpoint-store.ts'

/** Returns the members of a `WebhookEndpoint`. */
export const shownEndpoint = ({ oldestEventId, ...endpoint }: WebhookEndpointHealth) => ({
  ...endpoint,
  oldestEventAt: oldestEventId === null ? null : timeOfEvent(oldestEventId),
})

/** Returns the members of a `WebhookDelivery`. */
export const shownDelivery = (delivery: WebhookDelivery) => ({
  ...delivery,
  occurredAt: timeOfEvent(delivery.eventId),
})
