import { defaultSecretOverlapMs } from '../../../domain/webhook/webhook-endpoint.ts'
import type { EndpointWithSecret } from '../../../domain/webhook/webhook-management.ts'
import { DeletedResponse, timestampOf } from '../fields.ts'
import { deleted, type Operations, tagged } from '../operation.ts'
import { pageById } from '../pages.ts'
import { shownDelivery, shownDetails, shownEndpoint, shownTest } from './responses.ts'
import * as schemas from './schemas.ts'

const one = { faults: ['not_found', 'not_implemented'] } as const

export const webhookEndpointOperations = tagged('Webhooks', {
  listWebhookEndpoints: {
    method: 'GET',
    path: '/webhook-endpoints',
    scope: 'observe',
    summary: 'List the webhook endpoints',
    description: 'Ordered by id, with the last success and the number of events that wait for delivery.',
    response: schemas.WebhookEndpointListResponse,
    faults: ['not_implemented'],
    handle: async ({ caller }, { webhooks }) => ({
      body: { webhookEndpoints: (await webhooks.list(caller)).map(shownEndpoint) },
    }),
  },
  createWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints',
    scope: 'admin',
    summary: 'Create a webhook endpoint',
    description:
      'It receives events from now on. The secret verifies signatures and is shown only once. If a response is lost, list the webhook endpoints and delete the unknown one. `UGS_MAX_WEBHOOK_ENDPOINTS` limits their number.',
    retry: 'never',
    body: schemas.WebhookEndpointFields,
    status: 201,
    response: schemas.WebhookEndpointSecretResponse,
    faults: ['limit_reached', 'not_implemented'],
    handle: async ({ caller, body }, { webhooks }) => {
      const { name, url, event_types: eventTypes = [] } = body.value as schemas.WebhookEndpointFields
      return withSecret(await webhooks.create(caller, { name, url, eventTypes }))
    },
  },
  getWebhookEndpoint: {
    ...one,
    method: 'GET',
    path: '/webhook-endpoints/{id}',
    scope: 'observe',
    summary: 'Get a webhook endpoint',
    response: schemas.WebhookEndpointResponse,
    handle: async ({ caller, params }, { webhooks }) => {
      const endpoint = await webhooks.find(caller, params.id as number)
      return { body: { webhookEndpoint: shownEndpoint(endpoint) } }
    },
  },
  updateWebhookEndpoint: {
    ...one,
    method: 'PATCH',
    path: '/webhook-endpoints/{id}',
    scope: 'admin',
    summary: 'Change a webhook endpoint, also to pause or resume it',
    description:
      'Omitted fields keep their values. An endpoint that becomes active is attempted at once. A repeated request overwrites changes that others made in between.',
    body: schemas.WebhookEndpointChange,
    response: schemas.WebhookEndpointResponse,
    handle: async ({ caller, params, body }, { webhooks }) => {
      const { event_types: eventTypes, ...rest } = body.value as schemas.WebhookEndpointChange
      const change = { ...rest, ...(eventTypes !== undefined && { eventTypes }) }
      const endpoint = await webhooks.update(caller, params.id as number, change)
      return { body: { webhookEndpoint: shownEndpoint(endpoint) } }
    },
  },
  deleteWebhookEndpoint: {
    ...one,
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    scope: 'admin',
    summary: 'Delete a webhook endpoint with its deliveries',
    retry: { not_found: 'succeeded' },
    response: DeletedResponse,
    handle: async ({ caller, params }, { webhooks }) => {
      await webhooks.delete(caller, params.id as number)
      return deleted
    },
  },
  rotateWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints/{id}/rotate-secret',
    scope: 'admin',
    summary: 'Replace the secret of a webhook endpoint; both sign during an overlap',
    description:
      'The new secret is shown only once. A rotation does not end the overlaps of earlier ones. At most four replaced secrets sign too; beyond them, only a rotation without an overlap is possible. If a response is lost, rotate again and give the receiver the new secret at once.',
    retry: 'never',
    body: schemas.WebhookSecretRotation,
    response: schemas.WebhookEndpointSecretResponse,
    faults: ['not_found', 'limit_reached', 'not_implemented'],
    handle: async ({ caller, params, body }, { webhooks }) => {
      const { overlap_seconds: overlap } = body.value as schemas.WebhookSecretRotation
      const overlapMs = overlap === undefined ? defaultSecretOverlapMs : overlap * 1000
      return withSecret(await webhooks.rotateSecret(caller, params.id as number, overlapMs))
    },
  },
  testWebhookEndpoint: {
    ...one,
    method: 'POST',
    path: '/webhook-endpoints/{id}/test',
    scope: 'admin',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Sends `webhook_endpoint.test`, whatever the state and the event types of the endpoint, and waits up to 10 seconds for the response. It is no delivery: it is not repeated and does not change `health`.',
    retry: 'never',
    response: schemas.WebhookTestResponse,
    handle: async ({ caller, params }, { webhooks }) => ({
      body: shownTest(await webhooks.test(caller, params.id as number)),
    }),
  },
  listWebhookDeliveries: {
    ...one,
    method: 'GET',
    path: '/webhook-endpoints/{id}/deliveries',
    scope: 'observe',
    summary: 'List the deliveries to a webhook endpoint',
    description: 'The newest first, for the retention of events.',
    query: schemas.WebhookDeliverySearch,
    response: schemas.WebhookDeliveryListResponse,
    handle: async ({ caller, params, query }, { webhooks }) => {
      const { state = null, ...page } = query as schemas.WebhookDeliverySearch
      const { items, nextCursor } = await pageById(
        page,
        ({ afterId: beforeId, limit }) =>
          webhooks.listDeliveries(caller, params.id as number, { state, beforeId, limit }),
        ({ id }) => id,
      )
      return { body: { deliveries: items.map(shownDelivery), nextCursor } }
    },
  },
  getWebhookDelivery: {
    ...one,
    method: 'GET',
    path: '/webhook-endpoints/{id}/deliveries/{delivery_id}',
    scope: 'observe',
    summary: 'Get a delivery with its last request and the head of the response',
    response: schemas.WebhookDeliveryResponse,
    handle: async ({ caller, params }, { webhooks }) => {
      const delivery = await webhooks.findDelivery(caller, params.id as number, params.delivery_id as number)
      return { body: { delivery: shownDetails(delivery) } }
    },
  },
  redeliverWebhook: {
    ...one,
    method: 'POST',
    path: '/webhook-endpoints/{id}/deliveries/{delivery_id}/redeliver',
    scope: 'admin',
    summary: 'Send an event again',
    description: 'Also if it was delivered. After a repeated request, the receiver may get it more often.',
    response: schemas.WebhookRedeliveryResponse,
    handle: async ({ caller, params }, { webhooks }) => {
      const which = { deliveryId: params.delivery_id as number }
      return { body: { redelivered: await webhooks.redeliver(caller, params.id as number, which) } }
    },
  },
  redeliverWebhooks: {
    ...one,
    method: 'POST',
    path: '/webhook-endpoints/{id}/redeliver',
    scope: 'admin',
    summary: 'Send all events of a time range again',
    description:
      'Also delivered ones. Returns how many, without events that wait for their first attempt. A repeated request does not count events that an earlier one sends again.',
    body: schemas.WebhookRedelivery,
    response: schemas.WebhookRedeliveryResponse,
    handle: async ({ caller, params, body }, { webhooks }) => {
      const { since, until } = body.value as schemas.WebhookRedelivery
      const which = {
        since: timestampOf('since', since),
        until: until === undefined ? Infinity : timestampOf('until', until),
      }
      return { body: { redelivered: await webhooks.redeliver(caller, params.id as number, which) } }
    },
  },
} as const satisfies Operations)

const withSecret = ({ endpoint, secret }: EndpointWithSecret) => ({
  body: { webhookEndpoint: shownEndpoint(endpoint), secret },
})
