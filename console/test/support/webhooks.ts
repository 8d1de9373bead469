import { assertSucceeded, type ManagedEnvironment } from '../../../server/test/support/admin-api.ts'

interface Endpoint {
  readonly id: number
  readonly name: string
  readonly event_types: readonly string[]
  readonly state: string
}

interface Delivery {
  readonly id: number
  readonly state: string
}

type Managed = Pick<ManagedEnvironment, 'admin'>

export async function listedEndpoint({ admin }: Managed, name: string): Promise<Endpoint | undefined> {
  const response = await admin.listWebhookEndpoints()
  const { webhook_endpoints: all } = assertSucceeded<{ webhook_endpoints: Endpoint[] }>(
    response,
    'listWebhookEndpoints',
  )
  return all.find((endpoint) => endpoint.name === name)
}

/** Creates an endpoint and returns its id. */
export async function createEndpoint(
  { admin }: Managed,
  name: string,
  url: string,
  eventTypes: readonly string[] = [],
): Promise<number> {
  const response = await admin.createWebhookEndpoint({ body: { name, url, event_types: eventTypes } })
  return assertSucceeded<{ webhook_endpoint: Endpoint }>(response, 'createWebhookEndpoint').webhook_endpoint
    .id
}

export async function deliveriesOf({ admin }: Managed, id: number): Promise<Delivery[]> {
  const response = await admin.listWebhookDeliveries({ params: { id } })
  return assertSucceeded<{ deliveries: Delivery[] }>(response, 'listWebhookDeliveries').deliveries
}

/** Resolves once the newest delivery to the endpoint has this state. */
export async function delivered(managed: Managed, id: number, state: string): Promise<void> {
  while ((await deliveriesOf(managed, id))[0]?.state !== state);
}
