import { timeOfEvent } from '../../../domain/audit/audit-event.ts'
import type { WebhookDelivery, WebhookDeliveryDetails } from '../../../domain/webhook/webhook-delivery.ts'
import type { WebhookTest } from '../../../domain/webhook/webhook-management.ts'
import { messageHeaders } from '../../../domain/webhook/webhook-signature.ts'
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

/** Returns the members of a `WebhookDeliveryDetails`. */
export const shownDetails = ({ signature, body, ...delivery }: WebhookDeliveryDetails) => ({
  ...shownDelivery(delivery),
  requestHeaders:
    signature === null || delivery.lastAttemptAt === null
      ? null
      : JSON.stringify(messageHeaders({ id: delivery.eventId, now: delivery.lastAttemptAt }, signature)),
  requestBody: body,
  responseHeaders: delivery.responseHeaders,
})

/** Returns the members of a `WebhookTestResponse`. */
export const shownTest = ({ isDelivered, headers, body, durationMs, result }: WebhookTest) => ({
  delivered: isDelivered,
  requestHeaders: JSON.stringify(headers),
  requestBody: body,
  responseHeaders: result.responseHeaders ?? null,
  responseStatus: result.status,
  durationMs,
  errorCode: result.errorCode,
})
