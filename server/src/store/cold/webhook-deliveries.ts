import { firstEventId } from '../../domain/audit/audit-event.ts'
import { retryPeriodMs } from '../../domain/webhook/retry-schedule.ts'
import { attemptsByEndpoint, decideClaim, recordedState } from '../../domain/webhook/delivery-decisions.ts'
import type { WebhookDelivery, WebhookDeliveryDetails } from '../../domain/webhook/webhook-delivery.ts'
import { healthOfAttempts } from '../../domain/webhook/webhook-endpoint.ts'
import type {
  DueDelivery,
  RecordAttempts,
  RecordedAttempt,
  Redeliver,
  WebhookDeliveryStore,
  WebhookTarget,
} from '../../domain/webhook/webhook-delivery-store.ts'
import { appendAuditEvent } from './audit-log.ts'
import { inBatches, type Batch, type Operation, type Operations } from './operation.ts'
import { raw, rowsOf, sql } from './sql.ts'
import {
  attemptColumns,
  changeQueues,
  describedEndpoint,
  endpointColumns,
  endpointOf,
  maxBatchDeliveries,
  selectUndelivered,
  type AttemptTimes,
  type WebhookEndpointRow,
} from './webhook-endpoints.ts'

interface LeaderRow {
  readonly holder: string | null
  readonly expires_at: number
  readonly position: string | null
}

type WebhookSecretRow = WebhookTarget['secrets'][number] & { readonly endpointId: number }

interface QueueRow {
  readonly webhook_endpoint_id: number
  readonly team_id: number
}

const keyColumns = raw(`webhook_delivery_id AS id, webhook_endpoint_id AS "endpointId", event_id AS "eventId",
  event_type AS "eventType", nullif(team_id, 0) AS "teamId", attempts`)
const deliveryColumns = sql`${keyColumns}, state, last_attempt_at AS "lastAttemptAt", next_attempt_at AS "nextAttemptAt",
  response_status AS "responseStatus", duration_ms AS "durationMs", error_code AS "errorCode"`

/** Maximum number of endpoints that `due` reads, each with a query of its own. The others are first in the next step. */
const maxDueEndpoints = 128

/** The deliveries of webhooks and the claim of the leader, without `redeliver`, which consists of `redeliverBatch`. */
export const webhookDeliveries: Operations<Omit<WebhookDeliveryStore, 'redeliver'>> = {
  *claim(claim) {
    const [leader] = yield* sql<LeaderRow>`
      SELECT * FROM webhook_leader WHERE EXISTS (SELECT 1 FROM webhook_endpoint)`.prepared(
      'webhook_leader_select',
    )
    if (leader === undefined) return null
    const decision = decideClaim({ holder: leader.holder, expiresAt: leader.expires_at }, claim)
    if (decision !== 'claim') return decision === 'keep' ? { position: leader.position } : null
    const { holder, now, durationMs } = claim
    const [claimed] = yield* sql<Pick<LeaderRow, 'position'>>`
      UPDATE webhook_leader SET holder = ${holder}, expires_at = ${now + durationMs}
      WHERE holder = ${holder} OR expires_at <= ${now} RETURNING position`
    return claimed ?? null
  },

  *release(holder) {
    yield* sql`UPDATE webhook_leader SET holder = NULL, expires_at = 0 WHERE holder = ${holder}`
  },

  *targets() {
    const endpoints = yield* sql<WebhookEndpointRow & AttemptTimes>`
      SELECT ${endpointColumns}, ${attemptColumns} FROM webhook_endpoint ORDER BY webhook_endpoint_id`.prepared(
      'webhook_endpoint_select_all',
    )
    const secrets = yield* sql<WebhookSecretRow>`
      SELECT webhook_endpoint_id AS "endpointId", token_key_id AS "keyId", token_sealed AS sealed, expires_at AS "expiresAt"
      FROM webhook_secret ORDER BY secret_number DESC`.prepared('webhook_secret_select_all')
    return targetsOf(endpoints, secrets)
  },

  *enqueue({ holder, from, to, now, deliveries }) {
    yield* changeQueues()
    const moved = yield* sql`UPDATE webhook_leader SET position = ${to}
      WHERE holder = ${holder} AND position IS NOT DISTINCT FROM ${from} RETURNING 1`
    if (moved.length === 0) return false
    if (deliveries.length === 0) return true
    const rows = deliveries.map((delivery, ordinal) => ({
      webhook_endpoint_id: delivery.endpointId,
      event_id: delivery.eventId,
      event_type: delivery.eventType,
      team_id: delivery.teamId ?? 0,
      body: delivery.body,
      ordinal,
    }))
    const types = {
      webhook_endpoint_id: 'bigint',
      event_id: 'uuid',
      event_type: 'text',
      team_id: 'bigint',
      body: 'text',
      ordinal: 'bigint',
    } as const
    yield* sql`
      INSERT INTO webhook_delivery (webhook_endpoint_id, workspace_id, environment, event_id, event_type, team_id, body)
      SELECT webhook_endpoint_id, workspace_id, environment, event_id, event_type, team_id, body
      FROM ${rowsOf('new', types, rows)} JOIN webhook_endpoint USING (webhook_endpoint_id) ORDER BY new.ordinal`
    yield* promote(rows, now)
    return true
  },

  *due({ now, endpoints, limit }) {
    const wanted = endpoints.map(({ id }) => ({ id }))
    const withDue = yield* sql<{ id: number }>`
      SELECT id FROM ${rowsOf('wanted', { id: 'bigint' }, wanted)}
      WHERE EXISTS (SELECT 1 FROM webhook_delivery WHERE webhook_endpoint_id = id AND next_attempt_at <= ${now})`.prepared(
      'webhook_endpoint_select_due',
    )
    const ids = new Set(withDue.map(({ id }) => id))
    const due: DueDelivery[] = []
    for (const endpoint of endpoints.filter(({ id }) => ids.has(id)).slice(0, maxDueEndpoints)) {
      if (due.length >= limit) break
      due.push(
        ...(yield* sql<DueDelivery>`
          SELECT ${keyColumns}, body, first_attempt_at AS "firstAttemptAt" FROM webhook_delivery
          WHERE webhook_endpoint_id = ${endpoint.id} AND next_attempt_at <= ${now}
          ORDER BY next_attempt_at, webhook_delivery_id
          LIMIT ${Math.min(endpoint.limit, limit - due.length)}`.prepared('webhook_delivery_select_due')),
      )
    }
    return due
  },

  *record({ holder, attempts, ...actor }) {
    yield* changeQueues()
    const leader = yield* sql`SELECT 1 FROM webhook_leader WHERE holder = ${holder}`
    if (leader.length === 0) return null
    const recorded = attempts.map((attempt) => ({ ...attempt, ...recordedState(attempt) }))
    yield* setStates(recorded)
    const health = { endpointId: 'bigint', succeededAt: 'bigint', failedAt: 'bigint' } as const
    yield* sql`UPDATE webhook_endpoint SET last_success_at = coalesce(succeededAt, last_success_at),
        failing_since = CASE WHEN succeededAt IS NULL THEN coalesce(failing_since, failedAt) ELSE failedAt END
      FROM ${rowsOf('new', health, attemptsByEndpoint(attempts))} WHERE webhook_endpoint_id = endpointId`
    const delivered = attempts.filter(({ isDelivered }) => isDelivered)
    const queues = delivered.map(({ endpointId, teamId }) => ({
      webhook_endpoint_id: endpointId,
      team_id: teamId ?? 0,
    }))
    yield* promote(queues, actor.now)
    const disabled: number[] = []
    for (const { endpointId } of recorded.filter(({ isLast }) => isLast))
      if (yield* disable(endpointId, actor)) disabled.push(endpointId)
    return disabled
  },

  *backlog() {
    // An operator knows that a paused endpoint gets nothing.
    const rows = yield* selectUndelivered(
      sql`webhook_endpoint_id NOT IN (SELECT webhook_endpoint_id FROM webhook_endpoint WHERE state = 'paused')`,
    )
    return {
      undelivered: rows.reduce((sum, { pending, failing }) => sum + pending + failing, 0),
      oldestEventId: rows[0]?.oldestEventId ?? null,
    }
  },

  *list({ workspaceId, environment, endpointId, state, beforeId, limit }) {
    // The condition is that of an index.
    const undelivered = state === null || state === 'delivered' ? '' : "AND state <> 'delivered'"
    return yield* sql<WebhookDelivery>`SELECT ${deliveryColumns} FROM webhook_delivery
      WHERE webhook_endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND environment = ${environment}
        AND webhook_delivery_id < ${beforeId ?? Number.MAX_SAFE_INTEGER}
        AND state = coalesce(${state}, state) ${raw(undelivered)}
      ORDER BY webhook_delivery_id DESC LIMIT ${limit}`
  },

  *find({ workspaceId, environment, endpointId, id }) {
    const [delivery] = yield* sql<WebhookDeliveryDetails>`
      SELECT ${deliveryColumns}, body, signature, response_headers AS "responseHeaders" FROM webhook_delivery
      WHERE webhook_delivery_id = ${id} AND webhook_endpoint_id = ${endpointId}
        AND workspace_id = ${workspaceId} AND environment = ${environment}`
    return delivery ?? null
  },

  deleteOlderThan: inBatches(
    (before: number) =>
      function* () {
        yield* changeQueues()
        const rows = yield* sql<QueueRow>`DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
          SELECT webhook_delivery_id FROM webhook_delivery
          WHERE event_id < ${firstEventId(before)} AND (state = 'delivered' OR event_id < ${firstEventId(before - retryPeriodMs)})
          ORDER BY event_id LIMIT ${maxBatchDeliveries}
        ) RETURNING webhook_endpoint_id, team_id`
        yield* promote(rows, before)
        return { count: rows.length, isDone: rows.length < maxBatchDeliveries }
      },
  ),
}

/** Redelivers a batch of the deliveries of an endpoint. Null if there is no such endpoint. */
export function* redeliverBatch({
  workspaceId,
  environment,
  endpointId,
  now,
  which,
}: Redeliver): Operation<Batch | null> {
  yield* changeQueues()
  const found = yield* sql`SELECT 1 FROM webhook_endpoint
    WHERE webhook_endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND environment = ${environment}`
  if (found.length === 0) return null
  const condition =
    'deliveryId' in which
      ? sql`webhook_delivery_id = ${which.deliveryId}`
      : sql`event_id >= ${firstEventId(which.since)} AND event_id < ${firstEventId(which.until)}
          AND last_attempt_at < ${now} AND NOT (state = 'pending' AND attempts = 0)
          ORDER BY webhook_delivery_id LIMIT ${maxBatchDeliveries}`
  const rows = yield* sql<QueueRow>`
    UPDATE webhook_delivery SET state = 'pending', attempts = 0, first_attempt_at = NULL,
      next_attempt_at = CASE WHEN next_attempt_at IS NULL THEN NULL ELSE CAST(${now} AS bigint) END
    WHERE webhook_delivery_id IN (
      SELECT webhook_delivery_id FROM webhook_delivery WHERE webhook_endpoint_id = ${endpointId} AND ${condition}
    ) RETURNING webhook_endpoint_id, team_id`
  yield* promote(rows, now)
  return { count: rows.length, isDone: 'deliveryId' in which || rows.length < maxBatchDeliveries }
}

/** Makes the first deliveries of queues due, unless they have a next attempt. */
const promote = (queues: readonly QueueRow[], now: number) => sql`
  UPDATE webhook_delivery SET next_attempt_at = ${now}
  WHERE next_attempt_at IS NULL AND webhook_delivery_id IN (
    SELECT (
      SELECT min(first.webhook_delivery_id) FROM webhook_delivery AS first
      WHERE first.webhook_endpoint_id = queue.webhook_endpoint_id AND first.team_id = queue.team_id
        AND first.state <> 'delivered'
    )
    FROM ${rowsOf('queue', { webhook_endpoint_id: 'bigint', team_id: 'bigint' }, queues)}
  )`

const setStates = (attempts: readonly (RecordedAttempt & ReturnType<typeof recordedState>)[]) => sql`
  UPDATE webhook_delivery SET state = new.state, attempts = new.attempts,
    first_attempt_at = coalesce(first_attempt_at, new.startedAt), last_attempt_at = new.startedAt,
    next_attempt_at = new.nextAttemptAt, response_status = new.responseStatus,
    duration_ms = new.durationMs, error_code = new.errorCode, signature = new.signature,
    response_headers = new.responseHeaders
  FROM ${rowsOf(
    'new',
    {
      id: 'bigint',
      state: 'text',
      attempts: 'bigint',
      startedAt: 'bigint',
      nextAttemptAt: 'bigint',
      responseStatus: 'bigint',
      durationMs: 'bigint',
      errorCode: 'text',
      signature: 'text',
      responseHeaders: 'text',
    },
    attempts,
  )}
  WHERE webhook_delivery_id = new.id`

/** Disables an endpoint if it is active, and returns whether it was. */
function* disable(
  endpointId: number,
  actor: Pick<RecordAttempts, 'author' | 'requestId' | 'now'>,
): Operation<boolean> {
  const [row] = yield* sql<WebhookEndpointRow>`
    UPDATE webhook_endpoint SET state = 'disabled', updated_at = ${actor.now}
    WHERE webhook_endpoint_id = ${endpointId} AND state = 'active' RETURNING ${endpointColumns}`
  if (row === undefined) return false
  const endpoint = endpointOf(row)
  const { workspaceId, environment } = endpoint
  const change = { workspaceId, environment, ...actor }
  yield* appendAuditEvent('webhook_endpoint.disabled', change, describedEndpoint(endpoint))
  return true
}

/** Returns the endpoints with their secrets. `secrets` has the newest first. */
function targetsOf(
  endpoints: readonly (WebhookEndpointRow & AttemptTimes)[],
  secrets: readonly WebhookSecretRow[],
): WebhookTarget[] {
  const secretsOf = new Map<number, WebhookTarget['secrets'][number][]>(endpoints.map(({ id }) => [id, []]))
  for (const { endpointId, ...secret } of secrets) secretsOf.get(endpointId)?.push(secret)
  return endpoints.map(({ lastSuccessAt, failingSince, ...row }) => ({
    ...endpointOf(row),
    isSucceeding: healthOfAttempts({ lastSuccessAt, failingSince }) === 'ok',
    secrets: secretsOf.get(row.id) ?? [],
  }))
}
