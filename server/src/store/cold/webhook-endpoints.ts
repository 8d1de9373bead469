import type { AuditAction } from '../../domain/audit/audit-event.ts'
import type { EventType } from '../../domain/event/event.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { SecretKeyRetired } from '../../domain/user-group/user-group-store.ts'
import {
  healthOfAttempts,
  nextOverlapAt,
  type WebhookEndpoint,
} from '../../domain/webhook/webhook-endpoint.ts'
import type {
  RotateWebhookSecret,
  UpdateWebhookEndpoint,
  WebhookEndpointCommand,
  WebhookEndpointHealth,
  WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint-store.ts'
import { appendAuditEvent, timeText } from './audit-log.ts'
import { transaction, type Attempted, type Batch, type Operation, type Operations } from './operation.ts'
import { postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

/** An endpoint as it is stored: its event types are a JSON text. */
export interface WebhookEndpointRow extends Omit<WebhookEndpoint, 'eventTypes'> {
  readonly eventTypes: string
}

export const endpointColumns =
  raw(`webhook_endpoint_id AS id, workspace_id AS "workspaceId", environment, name, url, event_types AS "eventTypes", state,
  created_at AS "createdAt", updated_at AS "updatedAt"`)

export type AttemptTimes = Pick<WebhookEndpointHealth, 'lastSuccessAt' | 'failingSince'>

export const attemptColumns = raw('last_success_at AS "lastSuccessAt", failing_since AS "failingSince"')

/** `secretEnds`: the ends of overlaps, separated by commas; null if there is none. */
type HealthRow = WebhookEndpointRow & AttemptTimes & { readonly secretEnds: string | null }

interface UndeliveredRow extends Pick<WebhookEndpointHealth, 'pending' | 'failing' | 'oldestEventId'> {
  readonly endpointId: number
}

/** Maximum number of deliveries that one transaction deletes or redelivers. */
export const maxBatchDeliveries = 1000

/** Webhook endpoints and their secrets. */
export const webhookEndpoints: Operations<WebhookEndpointStore> = {
  *create({ sealSecret, position, maxOfWorkspace, needsNewName, ...endpoint }) {
    const { isAmbiguous } = yield* changeQueues()
    const { workspaceId, environment, name, url, eventTypes, now } = endpoint
    if (isAmbiguous) {
      const created = yield* sql<WebhookEndpointRow>`
        SELECT ${endpointColumns} FROM webhook_endpoint
        WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND created_at = ${now}`
      for (const row of created) if (yield* hasSecret(row.id, sealSecret)) return endpointOf(row)
    }
    if (needsNewName === true) {
      const others = yield* sql`SELECT 1 FROM webhook_endpoint
        WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND name = ${name} LIMIT 1`
      if (others.length > 0) return { outcome: 'name_taken' }
    }
    const [found] = yield* sql<{ count: number }>`
      SELECT count(*) AS count FROM webhook_endpoint WHERE workspace_id = ${workspaceId}`
    if ((found as { count: number }).count >= maxOfWorkspace) return { outcome: 'too_many_endpoints' }
    const [row] = yield* sql<WebhookEndpointRow>`
      INSERT INTO webhook_endpoint (workspace_id, environment, name, url, event_types, state, created_at, updated_at)
      VALUES (${workspaceId}, ${environment}, ${name}, ${url}, ${JSON.stringify(eventTypes)}, 'active', ${now}, ${now})
      RETURNING ${endpointColumns}`
    const created = endpointOf(row as WebhookEndpointRow)
    const refusal = yield* addSecret(created, { sealSecret, now, overlapEndsAt: now })
    if (refusal !== null) {
      yield* sql`DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = ${created.id}`
      return refusal
    }
    yield* sql`UPDATE webhook_leader SET position = coalesce(position, ${position})`
    yield* appendAuditEvent('webhook_endpoint.created', endpoint, describedEndpoint(created))
    return created
  },

  *list(scope) {
    return yield* healthOf(yield* selectHealth(scope))
  },

  *find(scope, id) {
    return (yield* healthOf(yield* selectHealth(scope, id)))[0] ?? null
  },

  *update(command) {
    yield* changeQueues()
    const [row] = yield* selectEndpoint(command)
    if (row === undefined) return null
    const before = endpointOf(row)
    const event = describedUpdate(before, command)
    if (event === null) return before
    const { name, url, eventTypes, state, id } = { ...before, ...command.change }
    const [updated] = yield* sql<WebhookEndpointRow>`
      UPDATE webhook_endpoint
      SET name = ${name}, url = ${url}, event_types = ${JSON.stringify(eventTypes)}, state = ${state}, updated_at = ${command.now}
      WHERE webhook_endpoint_id = ${id} RETURNING ${endpointColumns}`
    if (state === 'active' && before.state !== 'active')
      yield* sql`UPDATE webhook_delivery SET next_attempt_at = ${command.now}, first_attempt_at = NULL
        WHERE webhook_endpoint_id = ${id} AND next_attempt_at IS NOT NULL`
    yield* appendAuditEvent(event.action, command, event.details)
    return endpointOf(updated as WebhookEndpointRow)
  },

  /** Leaves the deliveries to `deleteOfEndpoint`. */
  *delete(command) {
    const { isAmbiguous } = yield* changeQueues()
    const [row] = yield* selectEndpoint(command)
    if (row === undefined) return isAmbiguous
    yield* sql`DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = ${command.id}`
    yield* sql`UPDATE webhook_leader SET position = NULL WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoint)`
    yield* appendAuditEvent('webhook_endpoint.deleted', command, describedEndpoint(endpointOf(row)))
    return true
  },

  *rotateSecret(command) {
    const { isAmbiguous } = yield* changeQueues()
    const [row] = yield* selectEndpoint(command)
    if (row === undefined) return null
    const endpoint = endpointOf(row)
    if (isAmbiguous && (yield* hasSecret(endpoint.id, command.sealSecret))) return endpoint
    const secrets = yield* sql<{ expires_at: number }>`
      SELECT expires_at FROM webhook_secret WHERE webhook_endpoint_id = ${endpoint.id} AND expires_at IS NOT NULL`
    const ends = secrets.map((secret) => secret.expires_at)
    const until = nextOverlapAt(ends, command)
    if (until !== null) return { outcome: 'too_many_secrets', until }
    const refusal = yield* addSecret(endpoint, command)
    if (refusal !== null) return refusal
    const details = {
      ...describedEndpoint(endpoint),
      valid_until: timeText(command.overlapEndsAt),
    }
    yield* appendAuditEvent('webhook_endpoint.secret_rotated', command, details)
    return endpoint
  },
}

/** Begins a change of endpoints or deliveries. PostgreSQL runs one at a time. */
export function* changeQueues(): Operation<Attempted> {
  const attempted = yield* transaction()
  yield* postgres`SELECT 1 FROM webhook_leader FOR UPDATE`
  return attempted
}

/** Deletes a batch of the deliveries of a deleted endpoint. */
export function* deleteOfEndpoint(endpointId: number): Operation<Batch> {
  const { length } = yield* sql`DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
      SELECT webhook_delivery_id FROM webhook_delivery WHERE webhook_endpoint_id = ${endpointId} LIMIT ${maxBatchDeliveries}
    ) RETURNING 1`
  return { count: length, isDone: length < maxBatchDeliveries }
}

/** Returns whether an earlier attempt has written the secret. */
function* hasSecret(id: number, sealSecret: RotateWebhookSecret['sealSecret']): Operation<boolean> {
  const found = yield* sql`
    SELECT 1 FROM webhook_secret WHERE webhook_endpoint_id = ${id} AND token_sealed = ${sealSecret(id).sealed}`
  return found.length > 0
}

const selectEndpoint = ({ workspaceId, environment, id }: WebhookEndpointCommand) => sql<WebhookEndpointRow>`
  SELECT ${endpointColumns} FROM webhook_endpoint
  WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND webhook_endpoint_id = ${id}`

/** Selects endpoints, or one, in order of id. */
const selectHealth = ({ workspaceId, environment }: TenantScope, id?: number) => sql<HealthRow>`
  SELECT ${endpointColumns}, ${attemptColumns}, (
    SELECT string_agg(CAST(expires_at AS text), ',') FROM webhook_secret
    WHERE webhook_secret.webhook_endpoint_id = webhook_endpoint.webhook_endpoint_id
  ) AS "secretEnds"
  FROM webhook_endpoint
  WHERE workspace_id = ${workspaceId} AND environment = ${environment}
    ${id === undefined ? raw('') : sql`AND webhook_endpoint_id = ${id}`}
  ORDER BY webhook_endpoint_id`

/** Counts undelivered events for each endpoint that has any, the one with the oldest first. An index contains all that it counts. */
export const selectUndelivered = (condition: Sql) => sql<UndeliveredRow>`
  SELECT webhook_endpoint_id AS "endpointId", pending, failing,
         (SELECT event_id FROM webhook_delivery WHERE webhook_delivery_id = oldest_id) AS "oldestEventId"
  FROM (
    SELECT webhook_endpoint_id, count(CASE WHEN state = 'pending' THEN 1 END) AS pending,
           count(CASE WHEN state = 'failing' THEN 1 END) AS failing, min(webhook_delivery_id) AS oldest_id
    FROM webhook_delivery WHERE state <> 'delivered' AND ${condition} GROUP BY webhook_endpoint_id
  ) AS undelivered
  ORDER BY oldest_id`

function* healthOf(rows: readonly HealthRow[]): Operation<WebhookEndpointHealth[]> {
  const wanted = sql`webhook_endpoint_id IN (SELECT id FROM ${rowsOf('wanted', { id: 'bigint' }, rows)})`
  const found = rows.length === 0 ? [] : yield* selectUndelivered(wanted)
  const undelivered = new Map(found.map(({ endpointId, ...counts }) => [endpointId, counts]))
  return rows.map(({ secretEnds, ...row }) => ({
    ...endpointOf(row),
    health: healthOfAttempts(row),
    ...(undelivered.get(row.id) ?? { pending: 0, failing: 0, oldestEventId: null }),
    previousSecretsValidUntil: (secretEnds?.split(',') ?? []).map(Number).sort((a, b) => a - b),
  }))
}

/** The first statement locks the table before it looks for the retired key (`SecretKeyRetirement`). */
function* addSecret(
  { id, workspaceId, environment }: WebhookEndpoint,
  { sealSecret, now, overlapEndsAt }: Pick<RotateWebhookSecret, 'sealSecret' | 'now' | 'overlapEndsAt'>,
): Operation<SecretKeyRetired | null> {
  const { keyId, sealed } = sealSecret(id)
  const [inserted] = yield* sql<{ secret_number: number }>`
    INSERT INTO webhook_secret (webhook_endpoint_id, secret_number, workspace_id, environment, token_key_id, token_sealed)
    SELECT ${id}, coalesce(max(secret_number), 0) + 1, ${workspaceId}, ${environment}, ${keyId}, ${sealed}
    FROM webhook_secret WHERE webhook_endpoint_id = ${id}
    HAVING NOT EXISTS (SELECT 1 FROM retired_secret_key WHERE key_id = ${keyId})
    RETURNING secret_number`
  if (inserted === undefined) return { outcome: 'secret_key_retired', keyId }
  yield* sql`UPDATE webhook_secret SET expires_at = ${overlapEndsAt}
    WHERE webhook_endpoint_id = ${id} AND secret_number < ${inserted.secret_number} AND expires_at IS NULL`
  yield* sql`DELETE FROM webhook_secret WHERE webhook_endpoint_id = ${id} AND expires_at <= ${now}`
  return null
}

export function endpointOf<Row extends WebhookEndpointRow>(row: Row) {
  return { ...row, eventTypes: JSON.parse(row.eventTypes) as EventType[] }
}

/** Returns details of an audit event. A URL may have a secret in its path or query, so they contain its origin only. */
export function describedEndpoint({ id, name, url, eventTypes }: WebhookEndpoint): object {
  return { webhook_endpoint_id: id, name, origin: new URL(url).origin, event_types: eventTypes }
}

/** Returns the audit event of an update; null if nothing changed. */
function describedUpdate(
  before: WebhookEndpoint,
  { change }: UpdateWebhookEndpoint,
): { action: AuditAction; details: object } | null {
  const changed = Object.entries(change)
    .filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof WebhookEndpoint]),
    )
    .map(([name]) => (name === 'eventTypes' ? 'event_types' : name))
  if (changed.length === 0) return null
  const state = change.state !== undefined && { state: change.state }
  const details = { ...describedEndpoint({ ...before, ...change }), ...state, changed_fields: changed }
  return { action: 'webhook_endpoint.updated', details }
}
