import { InvalidArgumentError, Option, type Command } from 'commander'
import { eventTypes, type EventType } from '../domain/event/event.ts'
import { deliveryStates, type DeliveryState } from '../domain/webhook/webhook-delivery.ts'
import { UsageError } from './errors.ts'
import { actions, byId, type ResponseOf } from './management.ts'
import {
  parseCount,
  parseName,
  secondsUpTo,
  sinceOption,
  tenantScopeCommand,
  untilOption,
} from './options.ts'
import { fieldTable, shortTime } from './output.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface EndpointOptions extends TenantScopeOptions {
  name?: string
  url?: string
  types?: EventType[]
}

interface RedeliverOptions extends TenantScopeOptions {
  delivery?: number
  since?: string
  until?: string
}

type Endpoint = ResponseOf<'getWebhookEndpoint'>['webhook_endpoint']

const { runs, lists } = actions({
  load: async () => (await import('../http/admin/webhook-endpoints/operations.ts')).webhookEndpointOperations,
  usesSecretKeys: true,
})
const fieldsOf = ({ name, url, types }: EndpointOptions) => ({ name, url, event_types: types })

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('Manage webhook endpoints, which receive events.')
  addEndpointCommands(webhook)
  addTestCommand(webhook)
  addSecretAndDeliveryCommands(webhook)
}

const commandOnOne = (webhook: Command, name: string, description: string) =>
  tenantScopeCommand(webhook, name, description).argument('<id>', 'id from `ugs webhook list`', parseCount)

function addEndpointCommands(webhook: Command): void {
  tenantScopeCommand(
    webhook,
    'create',
    'Create a webhook endpoint. Prints its secret, which is shown only once.',
  )
    .requiredOption('--name <name>', 'name', parseName)
    .requiredOption('--url <url>', 'https URL that receives the events')
    .option('--types <types>', 'comma-separated types of events (default: all)', parseEventTypes)
    .action(
      runs(
        'createWebhookEndpoint',
        (options: EndpointOptions) => ({ body: fieldsOf(options) }),
        ({ webhook_endpoint: endpoint, secret }) => ({
          json: { ...endpoint, secret },
          secret,
          message: `Created webhook endpoint ${endpoint.id}. Its secret is shown only now.`,
        }),
      ),
    )
  tenantScopeCommand(webhook, 'list', 'List the webhook endpoints of an environment.').action(
    lists('listWebhookEndpoints', 'webhook_endpoints', [
      'id',
      'name',
      'state',
      'health',
      'pending',
      'failing',
      'oldest_event_at',
      ['OLD_SECRETS_UNTIL', (endpoint) => oldSecretsUntil(endpoint).join(', ') || null],
      'url',
    ]),
  )
  commandOnOne(webhook, 'update', 'Change a webhook endpoint.')
    .option('--name <name>', 'name', parseName)
    .option('--url <url>', 'https URL that receives the events')
    .option('--types <types>', 'comma-separated types of events; all for all', parseEventTypes)
    .action(changes(fieldsOf, (id) => `Updated webhook endpoint ${id}.`))
  commandOnOne(webhook, 'pause', 'Keep events waiting.').action(
    changes(
      () => ({ state: 'paused' }),
      (id) => `Webhook endpoint ${id} is paused.`,
    ),
  )
  commandOnOne(webhook, 'resume', 'Send events again, also after the service disabled the endpoint.').action(
    changes(
      () => ({ state: 'active' }),
      (id) => `Webhook endpoint ${id} is active.`,
    ),
  )
  commandOnOne(webhook, 'delete', 'Delete a webhook endpoint with its deliveries.').action(
    runs('deleteWebhookEndpoint', byId, (json, id) => ({ json, message: `Deleted webhook endpoint ${id}.` })),
  )
}

function addTestCommand(webhook: Command): void {
  commandOnOne(webhook, 'test', 'Send a test event and show the response, also of a paused endpoint.').action(
    runs('testWebhookEndpoint', byId, (json) => ({
      json,
      table: fieldTable([
        ['result', json.response_status ?? json.error_code],
        ['duration_ms', json.duration_ms],
        ...headFields(json),
      ]),
      failure: json.delivered ? undefined : 'the receiver did not respond with a 2xx',
    })),
  )
}

function addSecretAndDeliveryCommands(webhook: Command): void {
  commandOnOne(
    webhook,
    'rotate-secret',
    'Create a new secret and print it. The old one signs too during the overlap.',
  )
    .option('--overlap <duration>', 'such as 30s, 12h or 30d (default: 24h)', secondsUpTo('30d'))
    .action(
      runs(
        'rotateWebhookEndpoint',
        ({ overlap }: TenantScopeOptions & { overlap?: number }, id: number) => ({
          params: { id },
          body: { overlap_seconds: overlap },
        }),
        ({ webhook_endpoint: endpoint, secret }) => ({
          json: { ...endpoint, secret },
          secret,
          message: `The secret is shown only now. ${overlapText(endpoint)}`,
        }),
      ),
    )
  commandOnOne(webhook, 'deliveries', 'List deliveries, the newest first.')
    .addOption(new Option('--state <state>', 'only in this state').choices(deliveryStates))
    .option('--limit <count>', 'maximum number', parseCount, 50)
    .action(
      lists(
        'listWebhookDeliveries',
        'deliveries',
        [
          'id',
          'event_id',
          'event_type',
          'state',
          'attempts',
          'last_attempt_at',
          'next_attempt_at',
          ['RESULT', (delivery) => delivery.response_status ?? delivery.error_code],
        ],
        ({ state }: TenantScopeOptions & { state?: DeliveryState; limit: number }, id: number) => ({
          params: { id },
          query: { state },
        }),
      ),
    )
  commandOnOne(webhook, 'delivery', 'Show a delivery with its last request and the head of the response.')
    .argument('<delivery_id>', 'id from `ugs webhook deliveries`', parseCount)
    .action((id: number, delivery_id: number, options: TenantScopeOptions, command: Command) =>
      showDelivery({ id, delivery_id }, options, command),
    )
  commandOnOne(webhook, 'redeliver', 'Send one event again, or all of a time range.')
    .option('--delivery <id>', 'id from `ugs webhook deliveries`', parseCount)
    .addOption(sinceOption())
    .addOption(untilOption())
    .action((id: number, options: RedeliverOptions, command: Command) => {
      const isOne = options.delivery !== undefined
      if (isOne === (options.since !== undefined) || (isOne && options.until !== undefined))
        throw new UsageError('name either --delivery or --since, which can be limited by --until')
      return (isOne ? redeliverOne : redeliverAll)(id, options, command)
    })
}

const showDelivery = runs(
  'getWebhookDelivery',
  (_options: TenantScopeOptions, params: { id: number; delivery_id: number }) => ({ params }),
  ({ delivery: json }) => ({
    json,
    table: fieldTable([
      ['event_id', json.event_id],
      ['event_type', json.event_type],
      ['state', json.state],
      ['attempts', json.attempts],
      ['last attempt', shortTime(json.last_attempt_at)],
      ['result', json.response_status ?? json.error_code],
      ['duration_ms', json.duration_ms],
      ...headFields(json),
    ]),
  }),
)

type Head = Pick<ResponseOf<'testWebhookEndpoint'>, 'request_headers' | 'request_body' | 'response_headers'>

function headFields({ request_headers, request_body, response_headers }: Head) {
  const fields = (prefix: string, headers: Head['response_headers']) =>
    Object.entries(headers ?? {}).map(([name, value]) => [`${prefix} ${name}`, value] as const)
  return [
    ...fields('request', request_headers),
    ['request body', request_body] as const,
    ...fields('response', response_headers),
  ]
}

const redeliverOne = runs(
  'redeliverWebhook',
  ({ delivery = 0 }: RedeliverOptions, id: number) => ({ params: { id, delivery_id: delivery } }),
  redelivered,
)

const redeliverAll = runs(
  'redeliverWebhooks',
  ({ since, until }: RedeliverOptions, id: number) => ({ params: { id }, body: { since, until } }),
  redelivered,
)

function redelivered(json: ResponseOf<'redeliverWebhooks'>) {
  const events = json.redelivered === 1 ? 'event' : 'events'
  return { json, message: `The service sends ${json.redelivered} ${events} again.` }
}

/** Returns an action that changes fields of a webhook endpoint. */
function changes(fields: (options: EndpointOptions) => object, message: (id: number) => string) {
  return runs(
    'updateWebhookEndpoint',
    (options: EndpointOptions, id: number) => ({ params: { id }, body: fields(options) }),
    ({ webhook_endpoint: json }, id) => ({ json, message: message(id) }),
  )
}

function oldSecretsUntil(endpoint: Endpoint): string[] {
  return endpoint.previous_secrets_valid_until.map((time) => shortTime(time))
}

function overlapText(endpoint: Endpoint): string {
  const ends = oldSecretsUntil(endpoint)
  return ends.length === 0 ? 'Only it signs.' : `Replaced ones sign too, until ${ends.join(' and ')}.`
}

function parseEventTypes(text: string): EventType[] {
  if (text === 'all') return []
  return text.split(',').map((name) => {
    const type = eventTypes.find((one) => one === name.trim())
    if (type === undefined) throw new InvalidArgumentError(`The types are ${eventTypes.join(', ')}.`)
    return type
  })
}
