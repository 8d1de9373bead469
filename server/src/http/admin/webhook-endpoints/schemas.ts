import { Type, type Static } from 'typebox'
import { object, response, seconds, textEnum } from '../../../contract/schema.ts'
import { text } from '../../../contract/user/schemas.ts'
import { eventTypes as allEventTypes } from '../../../domain/event/event.ts'
import { deliveryStates } from '../../../domain/webhook/webhook-delivery.ts'
import {
  defaultSecretOverlapMs,
  maxSecretOverlapMs,
  webhookHealths,
  webhookStates,
} from '../../../domain/webhook/webhook-endpoint.ts'
import {
  count,
  id,
  numberOrNull,
  page,
  pageParameters,
  textOrNull,
  time,
  timeOrNull,
  timeParameter,
} from '../fields.ts'

export const EventType = textEnum(allEventTypes, {
  description: 'For example `user_group.suspended`. Newer services may send others.',
})
const eventTypes = Type.Array(EventType, {
  description: 'Types of the events that it receives. Empty for all.',
  uniqueItems: true,
  maxItems: allEventTypes.length,
  examples: [['user_group.token_rotated', 'user_group.suspended']],
})
const url = Type.String({
  description:
    'An https URL at a public address, without user name, password and fragment. Settings of the service may allow others.',
  minLength: 1,
  maxLength: 2000,
  examples: ['https://renderer.example.com/webhooks'],
})

export const WebhookEndpoint = object(
  {
    id: id('Id of the webhook endpoint.'),
    name: Type.String({ examples: ['Renderer'] }),
    url,
    event_types: eventTypes,
    state: textEnum(webhookStates, {
      description: '`disabled` by the service after 3 days without success. Events then wait as if paused.',
    }),
    health: textEnum(webhookHealths, {
      description: '`ok` or `failing` by the last attempt, `unknown` before the first one.',
    }),
    created_at: time('Time of creation'),
    updated_at: time('Time of the last change'),
    previous_secrets_valid_until: Type.Array(time('Time'), {
      description: 'Times until which replaced secrets sign too, earliest first.',
      examples: [[]],
    }),
    last_success_at: timeOrNull('Time of the last attempt that succeeded', 'none did'),
    failing_since: timeOrNull('Time of the first failed attempt after the last success', 'none failed'),
    pending: count('Number of events that wait for their first attempt.', 0),
    failing: count('Number of events whose last attempt failed.', 0),
    oldest_event_at: timeOrNull('Time of the oldest undelivered event', 'there is none'),
  },
  'A URL that receives the events of this environment, signed by Standard Webhooks.',
)
const secret = Type.String({
  description: 'Verifies signatures (Standard Webhooks). It is shown only once, so store it.',
  examples: ['whsec_…'],
})

export const WebhookEndpointFields = object({
  name: text('1 to 255 characters, need not be unique.', 'Renderer'),
  url,
  event_types: Type.Optional(eventTypes),
})
export type WebhookEndpointFields = Static<typeof WebhookEndpointFields>

export const WebhookEndpointChange = object(
  {
    name: Type.Optional(text('1 to 255 characters.', 'Renderer')),
    url: Type.Optional(url),
    event_types: Type.Optional(eventTypes),
    state: Type.Optional(
      textEnum(['active', 'paused'], {
        description: 'While paused, events wait, at most for the retention of events and 3 days.',
      }),
    ),
  },
  'Fields to change. Omitted fields keep their values.',
)
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>

export const WebhookSecretRotation = object({
  overlap_seconds: seconds(
    `Time for which the old secret signs too, in whole seconds: 0 to 2592000, 30 days. Default: ${defaultSecretOverlapMs / 1000}, a day. Secrets that were replaced earlier keep their own times.`,
    { maximum: maxSecretOverlapMs / 1000, example: 86_400 },
  ),
})
export type WebhookSecretRotation = Static<typeof WebhookSecretRotation>

export const WebhookDelivery = object(
  {
    id: id('Id of the delivery.'),
    event_id: Type.String({
      description: '`webhook-id` of the request, the same for each attempt.',
      examples: ['019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45'],
    }),
    event_type: EventType,
    occurred_at: time('Time of the event'),
    team_id: numberOrNull('The user group. Null if the event concerns the whole environment.', 213),
    state: textEnum(deliveryStates, {
      description: '`pending` before the first attempt, `failing` after an attempt that failed.',
    }),
    attempts: count('Number of attempts.', 1),
    last_attempt_at: timeOrNull('Time of the last attempt', 'there was none'),
    next_attempt_at: timeOrNull(
      'Time of the next attempt',
      'it was delivered, and while it waits for an earlier event of the user group',
    ),
    response_status: numberOrNull('HTTP status of the last response. Null if there was none.', 200),
    duration_ms: numberOrNull('Duration of the last attempt, in milliseconds. Null if there was none.', 35),
    error_code: textOrNull(
      'Reason why the last attempt got no response, such as `ECONNREFUSED`. Null if it got one.',
      'ECONNREFUSED',
    ),
  },
  'The delivery of one event to one webhook endpoint.',
)

const headers = (description: string, examples: readonly unknown[]) => ({
  type: ['object', 'null'],
  description,
  additionalProperties: { type: 'string' },
  examples,
})
const request = {
  request_body: Type.String({ description: 'Body of the request.', examples: ['{"type":"…"}'] }),
  response_headers: Type.Unsafe<Record<string, string> | null>(
    headers(
      'The first headers of the last response, at most 2,000 characters, without cookies and tokens. Null if there was none.',
      [{ 'content-type': 'text/plain' }],
    ),
  ),
}
const requestHeaders = (condition: string) =>
  Type.Unsafe<Record<string, string> | null>(
    headers(`Headers of the request, without those of the connection. Null ${condition}.`, [
      { 'webhook-id': '019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45', 'webhook-signature': 'v1,…' },
    ]),
  )

export const WebhookDeliveryDetails = object(
  {
    ...WebhookDelivery.properties,
    request_headers: requestHeaders('if there was no attempt, or its secret could not be decrypted'),
    ...request,
  },
  'A delivery with the request and the head of the response of its last attempt.',
)

export const WebhookDeliverySearch = object({
  state: Type.Optional(
    textEnum(deliveryStates, { description: 'Only deliveries in this state. Default: all.' }),
  ),
  ...pageParameters,
})
export type WebhookDeliverySearch = Static<typeof WebhookDeliverySearch>

export const WebhookRedelivery = object({
  since: timeParameter('Events at or after this time'),
  until: Type.Optional(timeParameter('Events before this time. Default: all')),
})
export type WebhookRedelivery = Static<typeof WebhookRedelivery>

export const WebhookEndpointListResponse = response({
  webhook_endpoints: Type.Array(WebhookEndpoint),
})
export const WebhookEndpointResponse = response({ webhook_endpoint: WebhookEndpoint })
export const WebhookEndpointSecretResponse = response({ webhook_endpoint: WebhookEndpoint, secret })
export const WebhookDeliveryListResponse = page({
  deliveries: Type.Array(WebhookDelivery),
})
export const WebhookDeliveryResponse = response({ delivery: WebhookDeliveryDetails })
export const WebhookTestResponse = response({
  delivered: Type.Boolean({ description: 'True if the response is a 2xx.' }),
  request_headers: requestHeaders('never'),
  ...request,
  response_status: numberOrNull('HTTP status of the response. Null if there was none.', 204),
  duration_ms: count('Duration in milliseconds.', 35),
  error_code: textOrNull(
    'Reason why there was no response, such as `ECONNREFUSED`. Null if there was one.',
    null,
  ),
})
export const WebhookRedeliveryResponse = response({
  redelivered: count('Number of events that are sent again.', 12),
})
