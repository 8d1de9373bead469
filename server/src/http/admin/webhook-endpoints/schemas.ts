import { Type, type Static } from 'typebox'
import { response, success, text } from '../../../contract/user/schemas.ts'
import { eventTypes as allEventTypes } from '../../../domain/event/event.ts'
import { deliveryStates } from '../../../domain/webhook/webhook-delivery.ts'
import {
  defaultSecretOverlapMs,
  maxSecretOverlapMs,
  webhookStates,
} from '../../../domain/webhook/webhook-endpoint.ts'
import { id, nextCursor, time, timeOrNull, timeParameter } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

const eventTypes = Type.Array(textEnum(allEventTypes), {
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

export const WebhookEndpoint = response({
  id: id('Id of the webhook endpoint.'),
  name: Type.String({ examples: ['Renderer'] }),
  url,
  event_types: eventTypes,
  state: textEnum(webhookStates, {
    description: '`disabled` by the service after 3 days without success. Events then wait as if paused.',
  }),
  created_at: time('Time of creation'),
  updated_at: time('Time of the last change'),
  last_success_at: timeOrNull('Time of the last attempt that succeeded'),
  failing_since: timeOrNull('Time of the first failed attempt after the last success'),
  pending: Type.Integer({
    description: 'Events that wait for their first attempt.',
    minimum: 0,
    examples: [0],
  }),
  failing: Type.Integer({ description: 'Events whose last attempt failed.', minimum: 0, examples: [0] }),
  oldest_event_at: timeOrNull('Time of the oldest undelivered event'),
})
const webhookEndpoint = Type.Ref('#/components/schemas/WebhookEndpoint')
const secret = Type.String({
  description: 'Verifies signatures (Standard Webhooks). Shown only once.',
  examples: ['whsec_…'],
})

export const WebhookEndpointBody = Type.Object(
  { name: text('Name.', 'Renderer'), url, event_types: Type.Optional(eventTypes) },
  { additionalProperties: false },
)
export type WebhookEndpointBody = Static<typeof WebhookEndpointBody>

export const WebhookEndpointChangeBody = Type.Object(
  {
    name: Type.Optional(text('Name.', 'Renderer')),
    url: Type.Optional(url),
    event_types: Type.Optional(eventTypes),
    state: Type.Optional(
      textEnum(['active', 'paused'], {
        description: 'While paused, events wait, at most for the retention of events and 3 days.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type WebhookEndpointChangeBody = Static<typeof WebhookEndpointChangeBody>

export const WebhookSecretRotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        description: `Number of seconds for which the old secret signs too: 0 to 2592000 (30 days). Default: ${defaultSecretOverlapMs / 1000}.`,
        minimum: 0,
        maximum: maxSecretOverlapMs / 1000,
        examples: [86_400],
      }),
    ),
  },
  { additionalProperties: false },
)
export type WebhookSecretRotationBody = Static<typeof WebhookSecretRotationBody>

const WebhookDelivery = response({
  id: id('Id of the delivery.'),
  event_id: Type.String({
    description: '`webhook-id` of the request, the same for each attempt.',
    examples: ['019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45'],
  }),
  event_type: textEnum(allEventTypes),
  occurred_at: time('Time of the event'),
  team_id: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'The user group, or null if the event concerns the whole environment.',
    examples: [213],
  }),
  state: textEnum(deliveryStates, {
    description: '`pending` before the first attempt, `failing` after an attempt that failed.',
  }),
  attempts: Type.Integer({ minimum: 0, examples: [1] }),
  last_attempt_at: timeOrNull('Time of the last attempt'),
  next_attempt_at: timeOrNull('Time of the next attempt; null also while it waits for an earlier event'),
  response_status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'HTTP status of the last response, or null.',
    examples: [200],
  }),
  duration_ms: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Duration of the last attempt in milliseconds, or null.',
    examples: [35],
  }),
  error_code: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Reason why the last attempt got no response, or null.',
    examples: ['ECONNREFUSED'],
  }),
})

export const WebhookRedeliveryBody = Type.Object(
  {
    since: timeParameter('Events at or after this time'),
    until: Type.Optional(timeParameter('Events before this time')),
  },
  { additionalProperties: false },
)
export type WebhookRedeliveryBody = Static<typeof WebhookRedeliveryBody>

export const WebhookEndpointListResponse = response({
  success,
  webhook_endpoints: Type.Array(webhookEndpoint),
})
export const WebhookEndpointResponse = response({ success, webhook_endpoint: webhookEndpoint })
export const WebhookEndpointSecretResponse = response({ success, webhook_endpoint: webhookEndpoint, secret })
export const WebhookDeliveryListResponse = response({
  success,
  deliveries: Type.Array(WebhookDelivery),
  next_cursor: nextCursor,
})
export const WebhookRedeliveryResponse = response({
  success,
  redelivered: Type.Integer({
    description: 'Number of events that are sent again.',
    minimum: 0,
    examples: [12],
  }),
})
