import { json, object, successful, time } from '../../../contract/json/json-builder.ts'
import { timeOfEvent } from '../../../domain/audit/audit-event.ts'
import type { WebhookDelivery } from '../../../domain/webhook/webhook-delivery.ts'
import type { WebhookEndpointHealth } from '../../../domain/webhook/webhook-endpoint-store.ts'
import type { EndpointWithSecret } from '../../../domain/webhook/webhook-management.ts'

export function webhookEndpointJson(endpoint: WebhookEndpointHealth): string {
  return object({
    id: json(endpoint.id),
    name: json(endpoint.name),
    url: json(endpoint.url),
    event_types: json(endpoint.eventTypes),
    state: json(endpoint.state),
    created_at: time(endpoint.createdAt),
    updated_at: time(endpoint.updatedAt),
    last_success_at: time(endpoint.lastSuccessAt),
    failing_since: time(endpoint.failingSince),
    pending: json(endpoint.pending),
    failing: json(endpoint.failing),
    oldest_event_at: time(endpoint.oldestEventId === null ? null : timeOfEvent(endpoint.oldestEventId)),
  })
}

/** Returns the response that shows a secret. */
export function secretResponse({ endpoint, secret }: EndpointWithSecret): string {
  return successful({ webhook_endpoint: webhookEndpointJson(endpoint), secret: json(secret) })
}

export function webhookDeliveryJson(delivery: WebhookDelivery): string {
  return object({
    id: json(delivery.id),
    event_id: json(delivery.eventId),
    event_type: json(delivery.eventType),
    occurred_at: time(timeOfEvent(delivery.eventId)),
    team_id: json(delivery.teamId),
    state: json(delivery.state),
    attempts: json(delivery.attempts),
    last_attempt_at: time(delivery.lastAttemptAt),
    next_attempt_at: time(delivery.nextAttemptAt),
    response_status: json(delivery.responseStatus),
    duration_ms: json(delivery.durationMs),
    error_code: json(delivery.errorCode),
  })
}
