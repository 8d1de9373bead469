import { InvalidArgumentError, type Command } from 'commander'
import { jsonValue } from '../contract/json/json-writer.ts'
import { readConfig } from '../config/settings.ts'
import { eventTypes, type EventType } from '../domain/event/event.ts'
import { timeOfEvent } from '../domain/audit/audit-event.ts'
import type { Caller } from '../domain/user-group/user-group-service.ts'
import type { Redeliver } from '../domain/webhook/webhook-delivery-store.ts'
import { deliveryStates, type DeliveryState } from '../domain/webhook/webhook-delivery.ts'
import { defaultSecretOverlapMs, maxSecretOverlapMs } from '../domain/webhook/webhook-endpoint.ts'
import type { WebhookEndpointHealth } from '../domain/webhook/webhook-endpoint-store.ts'
import type { EndpointWithSecret, WebhookManagement } from '../domain/webhook/webhook-management.ts'
import { shownDelivery, shownEndpoint } from '../http/admin/webhook-endpoints/responses.ts'
import { openWebhookManagement } from '../runtime/configured-store.ts'
import { UsageError } from './errors.ts'
import {
  parseCount,
  parseDuration,
  parseName,
  sinceOption,
  tenantScopeCommand,
  untilOption,
} from './options.ts'
import { formatTime, printJson, printLine, printMessage, printTable } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

interface EndpointOptions extends TenantScopeOptions {
  name?: string
  url?: string
  types?: EventType[]
}

interface ListDeliveriesOptions extends TenantScopeOptions {
  state?: DeliveryState
  limit: number
}

interface RedeliverOptions extends TenantScopeOptions {
  delivery?: number
  since?: number
  until?: number
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('Manage webhook endpoints, which receive events.')
  const ofOne = (name: string, description: string) =>
    tenantScopeCommand(webhook, name, description).argument('<id>', 'id from `ugs webhook list`', parseCount)

  tenantScopeCommand(
    webhook,
    'create',
    'Create a webhook endpoint. Prints its secret, which is shown only once.',
  )
    .requiredOption('--name <name>', 'name', parseName)
    .requiredOption('--url <url>', 'https URL that receives the events')
    .option('--types <types>', 'comma-separated types of events (default: all)', parseEventTypes)
    .action(create)
  tenantScopeCommand(webhook, 'list', 'List the webhook endpoints of an environment.').action(list)
  ofOne('update', 'Change a webhook endpoint.')
    .option('--name <name>', 'name', parseName)
    .option('--url <url>', 'https URL that receives the events')
    .option('--types <types>', 'comma-separated types of events; all for all', parseEventTypes)
    .action(update)
  ofOne('pause', 'Keep events waiting.').action((id: number, options: TenantScopeOptions) =>
    setState(id, 'paused', options),
  )
  ofOne('resume', 'Send events again, also after the service disabled the endpoint.').action(
    (id: number, options: TenantScopeOptions) => setState(id, 'active', options),
  )
  ofOne('rotate-secret', 'Create a new secret and print it. The old one signs too during the overlap.')
    .option('--overlap <duration>', 'such as 30s, 12h or 30d (default: 24h)', parseOverlap)
    .action(rotateSecret)
  ofOne('delete', 'Delete a webhook endpoint with its deliveries.').action(remove)
  ofOne('deliveries', 'List deliveries, the newest first.')
    .option('--state <state>', deliveryStates.join(', '), parseState)
    .option('--limit <count>', 'maximum number', parseCount, 50)
    .action(listDeliveries)
  ofOne('redeliver', 'Send one event again, or all of a time range.')
    .option('--delivery <id>', 'id from `ugs webhook deliveries`', parseCount)
    .addOption(sinceOption())
    .addOption(untilOption())
    .action(redeliver)
}

function parseEventTypes(text: string): EventType[] {
  if (text === 'all') return []
  return text.split(',').map((name) => {
    const type = eventTypes.find((one) => one === name.trim())
    if (type === undefined) throw new InvalidArgumentError(`The types are ${eventTypes.join(', ')}.`)
    return type
  })
}

function parseState(text: string): DeliveryState {
  const state = deliveryStates.find((one) => one === text)
  if (state === undefined) throw new InvalidArgumentError(`It must be one of ${deliveryStates.join(', ')}.`)
  return state
}

function parseOverlap(text: string): number {
  const overlapMs = parseDuration(text)
  if (overlapMs > maxSecretOverlapMs) throw new InvalidArgumentError('It must be at most 30d.')
  return overlapMs
}

function withWebhooks<T>(
  options: TenantScopeOptions,
  work: (webhooks: WebhookManagement, caller: Caller) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env)
  return withStore(async (store) =>
    work(await openWebhookManagement(config, store), await callerOf(store, options)),
  )
}

// Loaded only for `--json`: the schemas take a tenth of the CPU of a command.
const schemas = () => import('../http/admin/webhook-endpoints/schemas.ts')

async function fieldsOf(endpoint: WebhookEndpointHealth): Promise<object> {
  return jsonValue((await schemas()).WebhookEndpoint, shownEndpoint(endpoint))
}

async function create({ name = '', url = '', types = [], ...options }: EndpointOptions): Promise<void> {
  const created = await withWebhooks(options, (webhooks, caller) =>
    webhooks.create(caller, { name, url, eventTypes: types }),
  )
  await printSecret(
    created,
    options,
    `Created webhook endpoint ${created.endpoint.id}. Its secret is shown only now.`,
  )
}

async function rotateSecret(id: number, options: TenantScopeOptions & { overlap?: number }): Promise<void> {
  const overlapMs = options.overlap ?? defaultSecretOverlapMs
  const rotated = await withWebhooks(options, (webhooks, caller) =>
    webhooks.rotateSecret(caller, id, overlapMs),
  )
  const ends = rotated.endpoint.previousSecretsValidUntil.map(formatTime)
  const rest = ends.length === 0 ? 'Only it signs.' : `Replaced ones sign too, until ${ends.join(' and ')}.`
  await printSecret(rotated, options, `The secret is shown only now. ${rest}`)
}

async function printSecret(
  { endpoint, secret }: EndpointWithSecret,
  { json }: TenantScopeOptions,
  note: string,
): Promise<void> {
  if (json) printJson({ ...(await fieldsOf(endpoint)), secret })
  else {
    printLine(secret)
    printMessage(note)
  }
}

async function list(options: TenantScopeOptions): Promise<void> {
  const endpoints = await withWebhooks(options, (webhooks, caller) => webhooks.list(caller))
  if (options.json) printJson(await Promise.all(endpoints.map(fieldsOf)))
  else
    printTable(
      ['ID', 'NAME', 'STATE', 'PENDING', 'FAILING', 'OLDEST', 'OLD_SECRETS_UNTIL', 'URL'],
      endpoints.map(
        ({ id, name, state, pending, failing, oldestEventId, previousSecretsValidUntil, url }) => [
          ...[id, name, state, pending, failing],
          ...[oldestEventId === null ? null : formatTime(timeOfEvent(oldestEventId))],
          ...[previousSecretsValidUntil.map(formatTime).join(', ') || null, url],
        ],
      ),
    )
}

async function update(id: number, { name, url, types, ...options }: EndpointOptions): Promise<void> {
  const change = {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(types !== undefined && { eventTypes: types }),
  }
  const endpoint = await withWebhooks(options, (webhooks, caller) => webhooks.update(caller, id, change))
  if (options.json) printJson(await fieldsOf(endpoint))
  else printMessage(`Updated webhook endpoint ${id}.`)
}

async function setState(id: number, state: 'active' | 'paused', options: TenantScopeOptions): Promise<void> {
  const endpoint = await withWebhooks(options, (webhooks, caller) => webhooks.update(caller, id, { state }))
  if (options.json) printJson(await fieldsOf(endpoint))
  else printMessage(`Webhook endpoint ${id} is ${state}.`)
}

async function remove(id: number, options: TenantScopeOptions): Promise<void> {
  await withWebhooks(options, (webhooks, caller) => webhooks.delete(caller, id))
  if (options.json) printJson({ id, deleted: true })
  else printMessage(`Deleted webhook endpoint ${id}.`)
}

async function listDeliveries(
  id: number,
  { state, limit, ...options }: ListDeliveriesOptions,
): Promise<void> {
  const deliveries = await withWebhooks(options, (webhooks, caller) =>
    webhooks.listDeliveries(caller, id, { state: state ?? null, beforeId: null, limit }),
  )
  if (options.json) {
    const { WebhookDelivery } = await schemas()
    printJson(deliveries.map((one) => jsonValue(WebhookDelivery, shownDelivery(one))))
  } else
    printTable(
      ['ID', 'EVENT', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST', 'NEXT', 'RESULT'],
      deliveries.map((one) => [
        ...[one.id, one.eventId, one.eventType, one.state, one.attempts],
        ...[formatTime(one.lastAttemptAt), formatTime(one.nextAttemptAt)],
        one.responseStatus ?? one.errorCode,
      ]),
    )
}

async function redeliver(
  id: number,
  { delivery, since, until, ...options }: RedeliverOptions,
): Promise<void> {
  let which: Redeliver['which']
  if (delivery === undefined && since !== undefined) which = { since, until: until ?? Infinity }
  else if (delivery !== undefined && since === undefined && until === undefined)
    which = { deliveryId: delivery }
  else throw new UsageError('name either --delivery or --since, which can be limited by --until')
  const count = await withWebhooks(options, (webhooks, caller) => webhooks.redeliver(caller, id, which))
  if (options.json) printJson({ redelivered: count })
  else printMessage(`The service sends ${count} ${count === 1 ? 'event' : 'events'} again.`)
}
