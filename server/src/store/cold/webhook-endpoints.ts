import type { AuditAction } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { EventType } from '../../domain/event/event.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { SecretKeyRetired } from '../../domain/user-group/user-group-store.ts'
import {
  healthOfAttempts,
  nextOverlapAt,
  type WebhookEndpoint,
  type WebhookState,
} from '../../domain/webhook/webhook-endpoint.ts'
import type {
  RotateWebhookSecret,
  UpdateWebhookEndpoint,
  WebhookEndpointHealth,
  WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint-store.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Attempted, type Batch, type Operation, type Operations } from './operation.ts'
import { postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

export interface WebhookEndpointRow {
  readonly webhook_endpoint_id: number
  readonly workspace_id: number
  readonly environment: Environment
  readonly name: string
  readonly url: string
  readonly event_types: string
  readonly state: WebhookState
  readonly created_at: number
  readonly updated_at: number
  readonly last_success_at: number | null
  readonly failing_since: number | null
}

/** `secret_ends`: the ends of overlaps, separated by commas; null if there is none. */
type FoundRow = WebhookEndpointRow & { readonly secret_ends: string | null }

interface UndeliveredRow {
  readonly webhook_endpoint_id: number
  readonly pending: number
  readonly failing: number
  readonly oldest_event_id: string | null
}

/** Maximum number of deliveries that one transaction deletes or redelivers. */
export const maxBatchDeliveries = 1000

/** Webhook endpoints and their secrets. */
export const webhookEndpoints: Operations<WebhookEndpointStore> = {
  *create({ sealSecret, position, maxOfWorkspace, needsNewName, ...endpoint }) {
    const { isAmbiguous } = yield* changeQueues()
    const { workspaceId, environment, name, url, eventTypes, now } = endpoint
    if (isAmbiguous) {
      const created = yield* sql<WebhookEndpointRow & { readonly token_sealed: Uint8Array }>`
        SELECT webhook_endpoint.*, token_sealed FROM webhook_endpoint JOIN webhook_secret USING (webhook_endpoint_id)
        WHERE webhook_endpoint.workspace_id = ${workspaceId} AND webhook_endpoint.environment = ${environment}
          AND created_at = ${now}`
      const own = created.find(
        (row) => Buffer.compare(row.token_sealed, sealSecret(row.webhook_endpoint_id).sealed) === 0,
      )
      if (own !== undefined) return endpointOf(own)
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
      RETURNING *`
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
    return yield* healthOf(yield* selectEndpoints(scope))
  },

  *find(scope, id) {
    return (yield* healthOf(yield* selectEndpoints(scope, id)))[0] ?? null
  },

  *update(command) {
    yield* changeQueues()
    const [row] = yield* selectEndpoints(command, command.id)
    if (row === undefined) return null
    const before = endpointOf(row)
    const event = describedUpdate(before, command)
    if (event === null) return before
    const { name, url, eventTypes, state, id } = { ...before, ...command.change }
    const [updated] = yield* sql<WebhookEndpointRow>`
      UPDATE webhook_endpoint
      SET name = ${name}, url = ${url}, event_types = ${JSON.stringify(eventTypes)}, state = ${state}, updated_at = ${command.now}
      WHERE webhook_endpoint_id = ${id} RETURNING *`
    if (state === 'active' && before.state !== 'active')
      yield* sql`UPDATE webhook_delivery SET next_attempt_at = ${command.now}, first_attempt_at = NULL
        WHERE webhook_endpoint_id = ${id} AND next_attempt_at IS NOT NULL`
    yield* appendAuditEvent(event.action, command, event.details)
    return endpointOf(updated as WebhookEndpointRow)
  },

  /** Leaves the deliveries to `deleteOfEndpoint`. */
  *delete(command) {
    const { isAmbiguous } = yield* changeQueues()
    const [row] = yield* selectEndpoints(command, command.id)
    if (row === undefined) return isAmbiguous
    yield* sql`DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = ${command.id}`
    yield* sql`UPDATE webhook_leader SET position = NULL WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoint)`
    yield* appendAuditEvent('webhook_endpoint.deleted', command, describedEndpoint(endpointOf(row)))
    return true
  },

  *rotateSecret(command) {
    const { isAmbiguous } = yield* changeQueues()
    const [row] = yield* selectEndpoints(command, command.id)
    if (row === undefined) return null
    const endpoint = endpointOf(row)
    if (isAmbiguous) {
      const { sealed } = command.sealSecret(endpoint.id)
      const rotated = yield* sql`
        SELECT 1 FROM webhook_secret WHERE webhook_endpoint_id = ${endpoint.id} AND token_sealed = ${sealed}`
      if (rotated.length > 0) return endpoint
    }
    const until = nextOverlapAt(endsOf(row), command)
    if (until !== null) return { outcome: 'too_many_secrets', until }
    const refusal = yield* addSecret(endpoint, command)
    if (refusal !== null) return refusal
    const details = {
      ...describedEndpoint(endpoint),
      valid_until: new Date(command.overlapEndsAt).toISOString(),
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

/** Selects endpoints, or one, in order of id. */
const selectEndpoints = ({ workspaceId, environment }: TenantScope, id?: number) => sql<FoundRow>`
  SELECT *, (
    SELECT string_agg(CAST(expires_at AS text), ',') FROM webhook_secret
    WHERE webhook_secret.webhook_endpoint_id = webhook_endpoint.webhook_endpoint_id
  ) AS secret_ends
  FROM webhook_endpoint
  WHERE workspace_id = ${workspaceId} AND environment = ${environment}
    ${id === undefined ? raw('') : sql`AND webhook_endpoint_id = ${id}`}
  ORDER BY webhook_endpoint_id`

/** Counts undelivered events for each endpoint that has any, the one with the oldest first. An index contains all that it counts. */
export const selectUndelivered = (condition: Sql) => sql<UndeliveredRow>`
  SELECT webhook_endpoint_id, pending, failing,
         (SELECT event_id FROM webhook_delivery WHERE webhook_delivery_id = oldest_id) AS oldest_event_id
  FROM (
    SELECT webhook_endpoint_id, count(CASE WHEN state = 'pending' THEN 1 END) AS pending,
           count(CASE WHEN state = 'failing' THEN 1 END) AS failing, min(webhook_delivery_id) AS oldest_id
    FROM webhook_delivery WHERE state <> 'delivered' AND ${condition} GROUP BY webhook_endpoint_id
  ) AS undelivered
  ORDER BY oldest_id`

function* healthOf(rows: readonly FoundRow[]): Operation<WebhookEndpointHealth[]> {
  const wanted = sql`webhook_endpoint_id IN (
    SELECT webhook_endpoint_id FROM ${rowsOf('wanted', { webhook_endpoint_id: 'bigint' }, rows)})`
  const found = rows.length === 0 ? [] : yield* selectUndelivered(wanted)
  const undelivered = new Map(found.map((row) => [row.webhook_endpoint_id, row]))
  return rows.map((row) => {
    const {
      pending = 0,
      failing = 0,
      oldest_event_id = null,
    } = undelivered.get(row.webhook_endpoint_id) ?? {}
    const attempts = { lastSuccessAt: row.last_success_at, failingSince: row.failing_since }
    return {
      ...endpointOf(row),
      ...attempts,
      health: healthOfAttempts(attempts),
      pending,
      failing,
      oldestEventId: oldest_event_id,
      previousSecretsValidUntil: endsOf(row),
    }
  })
}

function endsOf({ secret_ends: ends }: FoundRow): number[] {
  return ends === null
    ? []
    : ends
        .split(',')
        .map(Number)
        .sort((a, b) => a - b)
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

export function endpointOf(row: WebhookEndpointRow): WebhookEndpoint {
  return {
    id: row.webhook_endpoint_id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    name: row.name,
    url: row.url,
    eventTypes: JSON.parse(row.event_types) as EventType[],
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
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
