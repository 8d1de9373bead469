import { queryOptions } from '@tanstack/react-query'
import { getAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'

export type WebhookEndpoint = Wire['WebhookEndpoint']
export type WebhookDelivery = Wire['WebhookDeliveryListResponse']['deliveries'][number]
type EventType = WebhookDelivery['event_type']
export type DeliveryState = WebhookDelivery['state']

/** Prefix of the keys of all queries about webhooks. */
export const queryKey = ['webhook-endpoints'] as const

export const endpointsQuery = queryOptions({
  queryKey,
  queryFn: async ({ signal }) =>
    (await getAdmin<Wire['WebhookEndpointListResponse']>('/webhook-endpoints', { signal })).webhook_endpoints,
})

export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKey, id],
    queryFn: async ({ signal }) =>
      (await getAdmin<Wire['WebhookEndpointResponse']>(`/webhook-endpoints/${id}`, { signal }))
        .webhook_endpoint,
  })

export const deliveryQuery = ({ id: endpointId }: WebhookEndpoint, { id }: WebhookDelivery) =>
  queryOptions({
    queryKey: [...queryKey, String(endpointId), 'deliveries', id],
    queryFn: async ({ signal }) =>
      (
        await getAdmin<Wire['WebhookDeliveryResponse']>(`/webhook-endpoints/${endpointId}/deliveries/${id}`, {
          signal,
        })
      ).delivery,
  })

// As a record, so that a missing type does not compile.
const everyEventType: Readonly<Record<EventType, true>> = {
  'user_group.created': true,
  'user_group.updated': true,
  'user_group.token_rotated': true,
  'user_group.grace_period_ended': true,
  'user_group.suspended': true,
  'user_group.resumed': true,
  'user_group.deleted': true,
  'user_group.restored': true,
  'user_group.sessions_ended': true,
  'schema.created': true,
  'schema.updated': true,
  'schema.deleted': true,
  'data_source.created': true,
  'data_source.updated': true,
  'data_source.deleted': true,
  'api_token.revoked': true,
  'signing_key.retired': true,
}

export const eventTypes: readonly string[] = Object.keys(everyEventType)

export const deliveryStateLabels: Readonly<Record<DeliveryState, string>> = {
  pending: 'Pending',
  failing: 'Failing',
  delivered: 'Delivered',
}

/** Filter of the deliveries. Kept in the address, so that it can be linked. */
export interface DeliverySearch {
  readonly state?: DeliveryState
}

/** Reads the filter from an address. */
export function readDeliverySearch({ state }: Record<string, unknown>): DeliverySearch {
  return typeof state === 'string' && state in deliveryStateLabels ? { state: state as DeliveryState } : {}
}
