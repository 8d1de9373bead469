import type { AuditAction } from '../domain/audit/audit-event.ts'
import type { Environment } from '../domain/environment.ts'
import type { EventType } from '../domain/event/event.ts'
import type { DeliveryState, WebhookDelivery } from '../domain/webhook/webhook-delivery.ts'
import type {
  DeliveryBacklog,
  DueDelivery,
  RecordedAttempt,
  WebhookTarget,
} from '../domain/webhook/webhook-delivery-store.ts'
import type { WebhookEndpoint, WebhookState } from '../domain/webhook/webhook-endpoint.ts'
import type {
  UpdateWebhookEndpoint,
  WebhookEndpointHealth,
} from '../domain/webhook/webhook-endpoint-store.ts'

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

export interface HealthRow {
  readonly pending: number
  readonly failing: number
  readonly oldest_event_id: string | null
}

/**
 * Returns a subquery for the columns of `HealthRow`. An index contains all that it counts.
 * @param condition selects deliveries
 */
export const selectHealth = (condition: string) => `
  SELECT pending, failing,
         (SELECT event_id FROM webhook_delivery WHERE webhook_delivery_id = oldest_id) AS oldest_event_id
  FROM (
    SELECT count(CASE WHEN state = 'pending' THEN 1 END) AS pending,
           count(CASE WHEN state = 'failing' THEN 1 END) AS failing,
           min(webhook_delivery_id) AS oldest_id
    FROM webhook_delivery WHERE state <> 'delivered' AND ${condition}
  ) AS undelivered`

/** An operator knows that a paused endpoint gets nothing. */
export const selectBacklog = selectHealth(
  "webhook_endpoint_id NOT IN (SELECT webhook_endpoint_id FROM webhook_endpoint WHERE state = 'paused')",
)

/** The column `secret_ends` of a query of endpoints: the ends of overlaps, separated by commas. */
export const selectSecretEnds = `(
  SELECT string_agg(CAST(expires_at AS text), ',') FROM webhook_secret
  WHERE webhook_secret.webhook_endpoint_id = webhook_endpoint.webhook_endpoint_id
) AS secret_ends`

export interface SecretEndsRow {
  /** Null if there is none. */
  readonly secret_ends: string | null
}

export interface WebhookSecretRow {
  readonly webhook_endpoint_id: number
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
  readonly expires_at: number | null
}

export interface WebhookDeliveryRow {
  readonly webhook_delivery_id: number
  readonly webhook_endpoint_id: number
  readonly event_id: string
  readonly event_type: EventType
  readonly team_id: number
  readonly body: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly first_attempt_at: number | null
  readonly last_attempt_at: number | null
  readonly next_attempt_at: number | null
  readonly response_status: number | null
  readonly duration_ms: number | null
  readonly error_code: string | null
}

/** Maximum number of deliveries that one transaction deletes or redelivers. */
export const maxBatchDeliveries = 1000

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

export function backlogOf({ pending, failing, oldest_event_id: oldestEventId }: HealthRow): DeliveryBacklog {
  return { undelivered: pending + failing, oldestEventId }
}

export function secretEndsOf({ secret_ends: ends }: SecretEndsRow): number[] {
  return ends === null
    ? []
    : ends
        .split(',')
        .map(Number)
        .sort((a, b) => a - b)
}

export function healthOf(row: WebhookEndpointRow & HealthRow & SecretEndsRow): WebhookEndpointHealth {
  const { last_success_at: lastSuccessAt, failing_since: failingSince, pending, failing } = row
  return {
    ...endpointOf(row),
    lastSuccessAt,
    failingSince,
    pending,
    failing,
    oldestEventId: row.oldest_event_id,
    previousSecretsValidUntil: secretEndsOf(row),
  }
}

/** Returns the endpoints with their secrets. `secrets` has the newest first. */
export function targetsOf(
  endpoints: readonly WebhookEndpointRow[],
  secrets: readonly WebhookSecretRow[],
): WebhookTarget[] {
  const secretsOf = new Map<number, WebhookTarget['secrets'][number][]>(
    endpoints.map(({ webhook_endpoint_id: id }) => [id, []]),
  )
  for (const { webhook_endpoint_id: id, ...row } of secrets)
    secretsOf.get(id)?.push({ keyId: row.token_key_id, sealed: row.token_sealed, expiresAt: row.expires_at })
  return endpoints.map((row) => ({
    ...endpointOf(row),
    isSucceeding: row.last_success_at !== null && row.failing_since === null,
    secrets: secretsOf.get(row.webhook_endpoint_id) ?? [],
  }))
}

export function deliveryOf(row: WebhookDeliveryRow): WebhookDelivery {
  return {
    id: row.webhook_delivery_id,
    endpointId: row.webhook_endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    teamId: row.team_id || null,
    state: row.state,
    attempts: row.attempts,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    responseStatus: row.response_status,
    durationMs: row.duration_ms,
    errorCode: row.error_code,
  }
}

export function dueDeliveryOf(row: WebhookDeliveryRow): DueDelivery {
  const { id, endpointId, eventId, eventType, teamId, attempts } = deliveryOf(row)
  return {
    id,
    endpointId,
    eventId,
    eventType,
    teamId,
    attempts,
    body: row.body,
    firstAttemptAt: row.first_attempt_at,
  }
}

/**
 * Returns the new values of a delivery after an attempt. After the last one, the endpoint is disabled, and the retry period begins
 * again when it becomes active.
 */
export function attemptCells({ isDelivered, nextAttemptAt, startedAt, ...attempt }: RecordedAttempt) {
  const isLast = !isDelivered && nextAttemptAt === null
  return {
    state: isDelivered ? 'delivered' : 'failing',
    isLast,
    nextAttemptAt: isLast ? startedAt : nextAttemptAt,
    startedAt,
    ...attempt,
  }
}

/** Returns the time of the last success and of the first failure after it, for each endpoint. */
export function attemptsByEndpoint(attempts: readonly RecordedAttempt[]) {
  const found = new Map<number, { succeededAt: number | null; failedAt: number | null }>()
  for (const { endpointId, isDelivered, startedAt } of attempts) {
    const before = found.get(endpointId)
    found.set(
      endpointId,
      isDelivered
        ? { succeededAt: startedAt, failedAt: null }
        : { succeededAt: before?.succeededAt ?? null, failedAt: before?.failedAt ?? startedAt },
    )
  }
  return [...found].map(([endpointId, times]) => ({ endpointId, ...times }))
}

/** Returns details of an audit event. A URL may have a secret in its path or query, so they contain its origin only. */
export function describedEndpoint({ id, name, url, eventTypes }: WebhookEndpoint): object {
  return { webhook_endpoint_id: id, name, origin: new URL(url).origin, event_types: eventTypes }
}

/** Returns the audit event of an update; null if nothing changed. */
export function describedUpdate(
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
