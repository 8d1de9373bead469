import { page, readResponse, success, timeOf } from './admin-responses.ts'
import type { WebhookDelivery, WebhookEndpoint, WebhookEndpointSecret } from './admin-types.ts'
import type { Page } from './paged.ts'
import {
  isArray,
  isCount,
  isCountOrNull,
  isObject,
  isOneOf,
  isText,
  isTextOrNull,
  isTexts,
  isTimeText,
  isTimeTextOrNull,
  read,
  type Shape,
} from './shape.ts'
import type { components } from './wire.ts'

// Readers for the responses of `/admin/v1/webhook-endpoints`.

type Wire = components['schemas']
type WireDelivery = Wire['WebhookDeliveryListResponse']['deliveries'][number]

const webhookEndpointShape: Shape<Wire['WebhookEndpoint']> = {
  id: isCount,
  name: isText,
  url: isText,
  // Any strings, so that types of newer services are passed on.
  event_types: isTexts,
  state: isOneOf(['active', 'paused', 'disabled']),
  created_at: isTimeText,
  updated_at: isTimeText,
  last_success_at: isTimeTextOrNull,
  failing_since: isTimeTextOrNull,
  pending: isCount,
  failing: isCount,
  oldest_event_at: isTimeTextOrNull,
}
const webhookDeliveryShape: Shape<WireDelivery> = {
  id: isCount,
  event_id: isText,
  event_type: isText,
  occurred_at: isTimeText,
  team_id: isCountOrNull,
  state: isOneOf(['pending', 'failing', 'delivered']),
  attempts: isCount,
  last_attempt_at: isTimeTextOrNull,
  next_attempt_at: isTimeTextOrNull,
  response_status: isCountOrNull,
  duration_ms: isCountOrNull,
  error_code: isTextOrNull,
}

export function readWebhookEndpoints(json: unknown): WebhookEndpoint[] {
  return readResponse<Wire['WebhookEndpointListResponse']>(json, {
    success,
    webhook_endpoints: isArray,
  }).webhook_endpoints.map(webhookEndpointOf)
}

export function readWebhookEndpoint(json: unknown): WebhookEndpoint {
  return webhookEndpointOf(
    readResponse<Wire['WebhookEndpointResponse']>(json, { success, webhook_endpoint: isObject })
      .webhook_endpoint,
  )
}

export function readWebhookSecret(json: unknown): WebhookEndpointSecret {
  const response = readResponse<Wire['WebhookEndpointSecretResponse']>(json, {
    success,
    webhook_endpoint: isObject,
    secret: isText,
  })
  return { webhookEndpoint: webhookEndpointOf(response.webhook_endpoint), secret: response.secret }
}

export function readWebhookDeliveries(json: unknown): Page<WebhookDelivery> {
  const response = readResponse<Wire['WebhookDeliveryListResponse']>(json, { ...page, deliveries: isArray })
  return { items: response.deliveries.map(webhookDeliveryOf), nextCursor: response.next_cursor }
}

export function readRedelivered(json: unknown): number {
  return readResponse<Wire['WebhookRedeliveryResponse']>(json, { success, redelivered: isCount }).redelivered
}

function webhookEndpointOf(value: unknown): WebhookEndpoint {
  const { id, name, url, state, pending, failing, ...endpoint } = read(
    value,
    'a webhook endpoint',
    webhookEndpointShape,
  )
  return {
    ...{ id, name, url, eventTypes: endpoint.event_types, state },
    createdAt: Date.parse(endpoint.created_at),
    updatedAt: Date.parse(endpoint.updated_at),
    lastSuccessAt: timeOf(endpoint.last_success_at),
    failingSince: timeOf(endpoint.failing_since),
    ...{ pending, failing, oldestEventAt: timeOf(endpoint.oldest_event_at) },
  }
}

function webhookDeliveryOf(value: unknown): WebhookDelivery {
  const { id, state, attempts, ...delivery } = read(value, 'a delivery', webhookDeliveryShape)
  return {
    id,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    occurredAt: Date.parse(delivery.occurred_at),
    teamId: delivery.team_id,
    ...{ state, attempts },
    lastAttemptAt: timeOf(delivery.last_attempt_at),
    nextAttemptAt: timeOf(delivery.next_attempt_at),
    responseStatus: delivery.response_status,
    durationMs: delivery.duration_ms,
    errorCode: delivery.error_code,
  }
}
