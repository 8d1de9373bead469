import { firstEventId } from '../../domain/audit/audit-event.ts'
import { retryPeriodMs } from '../../domain/webhook/retry-schedule.ts'
import type { WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts'
import type {
  DeliveryBacklog,
  DeliveryClaim,
  DueDelivery,
  EnqueueDeliveries,
  FindDue,
  ListDeliveries,
  RecordAttempts,
  Redeliver,
  WebhookDeliveryStore,
  WebhookTarget,
} from '../../domain/webhook/webhook-delivery-store.ts'
import {
  attemptCells,
  attemptsByEndpoint,
  backlogOf,
  maxBatchDeliveries,
  deliveryOf,
  describedEndpoint,
  dueDeliveryOf,
  endpointOf,
  selectBacklog,
  targetsOf,
  type HealthRow,
  type WebhookDeliveryRow,
  type WebhookEndpointRow,
  type WebhookSecretRow,
} from '../webhook-row.ts'
import { appendAuditEvent } from '../cold/audit-log.ts'
import { runWithin } from './cold-runner.ts'
import { refuseOnCitus, type Distribution } from './citus/distribution.ts'
import { prepared, type PrimaryPool, type Query, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'
import { lockQueues } from './webhook-endpoints.ts'

interface LeaderRow {
  readonly holder: string | null
  readonly expires_at: number
  readonly position: string | null
}

const selectLeader: Statement<LeaderRow> = prepared(
  'webhook_leader_select',
  'SELECT * FROM webhook_leader WHERE EXISTS (SELECT 1 FROM webhook_endpoint)',
)

const selectEndpoints: Statement<WebhookEndpointRow> = prepared(
  'webhook_endpoint_select_all',
  'SELECT * FROM webhook_endpoint ORDER BY webhook_endpoint_id',
)

const selectSecrets: Statement<WebhookSecretRow> = prepared(
  'webhook_secret_select_all',
  'SELECT * FROM webhook_secret ORDER BY secret_number DESC',
)

/** A nested loop keeps the order of the endpoints and ends at the limit. With ORDER BY, it would read all of them. */
const selectDue: Statement<WebhookDeliveryRow> = prepared(
  'webhook_delivery_select_due',
  `SELECT delivery.* FROM unnest($1::bigint[], $2::bigint[]) AS wanted (endpoint_id, maximum) CROSS JOIN LATERAL (
     SELECT * FROM webhook_delivery WHERE webhook_endpoint_id = wanted.endpoint_id AND next_attempt_at <= $3
     ORDER BY next_attempt_at, webhook_delivery_id LIMIT wanted.maximum
   ) AS delivery
   LIMIT $4`,
)

/** Makes the first deliveries of queues due, unless they have a next attempt. */
const promote = `
  UPDATE webhook_delivery SET next_attempt_at = $1
  FROM (SELECT DISTINCT * FROM unnest($2::bigint[], $3::bigint[]) AS wanted (endpoint_id, team)) AS queue
  WHERE next_attempt_at IS NULL AND webhook_delivery_id = (
    SELECT min(first.webhook_delivery_id) FROM webhook_delivery AS first
    WHERE first.webhook_endpoint_id = queue.endpoint_id AND first.team_id = queue.team AND first.state <> 'delivered'
  )`

/** The deliveries of webhooks and the claim of the leader. */
export class WebhookDeliveries implements WebhookDeliveryStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(primary: PrimaryPool, retry: Retry, distribution: Distribution) {
    this.#primary = primary
    this.#retry = retry
    this.#distribution = distribution
  }

  async claim({ holder, now, durationMs }: DeliveryClaim): Promise<{ position: string | null } | null> {
    if (this.#distribution.isDistributed) return null
    const [leader] = await this.#retry.query(selectLeader)
    if (leader === undefined) return null
    const isOwn = leader.holder === holder
    if (!isOwn && leader.expires_at > now) return null
    if (isOwn && leader.expires_at >= now + durationMs / 2) return { position: leader.position }
    const [claimed] = await this.#retry.change<{ position: string | null }>(
      'UPDATE webhook_leader SET holder = $1, expires_at = $2 WHERE holder = $1 OR expires_at <= $3 RETURNING position',
      [holder, now + durationMs, now],
    )
    return claimed ?? null
  }

  async release(holder: string): Promise<void> {
    await this.#retry.change('UPDATE webhook_leader SET holder = NULL, expires_at = 0 WHERE holder = $1', [
      holder,
    ])
  }

  async targets(): Promise<WebhookTarget[]> {
    const endpoints = await this.#retry.query(selectEndpoints)
    return targetsOf(endpoints, await this.#retry.query(selectSecrets))
  }

  enqueue({ holder, from, to, now, deliveries }: EnqueueDeliveries): Promise<boolean> {
    return this.#change(async (query) => {
      const [moved] = await query(
        `UPDATE webhook_leader SET position = $1 WHERE holder = $2 AND position IS NOT DISTINCT FROM $3 RETURNING 1`,
        [to, holder, from],
      )
      if (moved === undefined) return false
      if (deliveries.length === 0) return true
      const endpointIds = deliveries.map(({ endpointId }) => endpointId)
      const teamIds = deliveries.map(({ teamId }) => teamId ?? 0)
      await query(
        `INSERT INTO webhook_delivery (webhook_endpoint_id, workspace_id, environment, event_id, event_type, team_id, body)
         SELECT webhook_endpoint_id, workspace_id, environment, event_id, event_type, team_id, body
         FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::bigint[], $5::text[]) WITH ORDINALITY
           AS new (webhook_endpoint_id, event_id, event_type, team_id, body, position)
         JOIN webhook_endpoint USING (webhook_endpoint_id) ORDER BY new.position`,
        [
          endpointIds,
          deliveries.map(({ eventId }) => eventId),
          deliveries.map((one) => one.eventType),
          teamIds,
          deliveries.map(({ body }) => body),
        ],
      )
      await query(promote, [now, endpointIds, teamIds])
      return true
    })
  }

  async due({ now, endpoints, limit }: FindDue): Promise<DueDelivery[]> {
    const rows = await this.#retry.query(selectDue, [
      endpoints.map(({ id }) => id),
      endpoints.map((endpoint) => endpoint.limit),
      now,
      limit,
    ])
    return rows.map(dueDeliveryOf)
  }

  record({ holder, attempts, ...actor }: RecordAttempts): Promise<number[] | null> {
    const cells = attempts.map(attemptCells)
    const delivered = attempts.filter(({ isDelivered }) => isDelivered)
    const endpoints = attemptsByEndpoint(attempts)
    return this.#change(async (query) => {
      const [leader] = await query('SELECT 1 FROM webhook_leader WHERE holder = $1', [holder])
      if (leader === undefined) return null
      await query(
        `UPDATE webhook_delivery SET state = new.state, attempts = new.attempts,
           first_attempt_at = coalesce(first_attempt_at, new.started_at), last_attempt_at = new.started_at,
           next_attempt_at = new.next_attempt_at, response_status = new.response_status,
           duration_ms = new.duration_ms, error_code = new.error_code
         FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])
           AS new (id, state, attempts, started_at, next_attempt_at, response_status, duration_ms, error_code)
         WHERE webhook_delivery_id = new.id`,
        [
          cells.map(({ id }) => id),
          cells.map(({ state }) => state),
          cells.map((one) => one.attempts),
          cells.map(({ startedAt }) => startedAt),
          cells.map((one) => one.nextAttemptAt),
          cells.map((one) => one.responseStatus),
          cells.map(({ durationMs }) => durationMs),
          cells.map(({ errorCode }) => errorCode),
        ],
      )
      await query(setHealth, [
        endpoints.map((one) => one.endpointId),
        endpoints.map(({ succeededAt }) => succeededAt),
        endpoints.map(({ failedAt }) => failedAt),
      ])
      await query(promote, [
        actor.now,
        delivered.map(({ endpointId }) => endpointId),
        delivered.map(({ teamId }) => teamId ?? 0),
      ])
      const failed = cells.filter(({ isLast }) => isLast).map(({ endpointId }) => endpointId)
      return failed.length === 0 ? [] : disable(query, failed, actor)
    })
  }

  async backlog(): Promise<DeliveryBacklog> {
    const [row] = await this.#retry.query<HealthRow>(selectBacklog)
    return backlogOf(row as HealthRow)
  }

  async list(page: ListDeliveries): Promise<WebhookDelivery[]> {
    refuseOnCitus(this.#distribution, 'Webhooks need')
    const { workspaceId, environment, endpointId, state, beforeId, limit } = page
    // The condition is that of an index.
    const undelivered = state === null || state === 'delivered' ? '' : "AND state <> 'delivered'"
    const rows = await this.#retry.query<WebhookDeliveryRow>(
      `SELECT * FROM webhook_delivery
       WHERE webhook_endpoint_id = $1 AND workspace_id = $2 AND environment = $3 AND webhook_delivery_id < $4
         AND state = coalesce($5, state) ${undelivered}
       ORDER BY webhook_delivery_id DESC LIMIT $6`,
      [endpointId, workspaceId, environment, beforeId ?? Number.MAX_SAFE_INTEGER, state, limit],
    )
    return rows.map(deliveryOf)
  }

  async redeliver(command: Redeliver): Promise<number | null> {
    refuseOnCitus(this.#distribution, 'Webhooks need')
    for (let total = 0; ;) {
      const count = await this.#change((query) => redeliverBatch(query, command))
      if (count === null) return null
      total += count
      if (count < maxBatchDeliveries || 'deliveryId' in command.which) return total
    }
  }

  async deleteOlderThan(before: number): Promise<number> {
    let total = 0
    for (let isDone = false; !isDone;) {
      const { length } = await this.#retry.change(
        `DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
           SELECT webhook_delivery_id FROM webhook_delivery
           WHERE event_id < $1 AND (state = 'delivered' OR event_id < $2) ORDER BY event_id LIMIT $3
         ) RETURNING 1`,
        [firstEventId(before), firstEventId(before - retryPeriodMs), maxBatchDeliveries],
      )
      total += length
      isDone = length < maxBatchDeliveries
    }
    // The first of a queue may have been deleted.
    if (total > 0) await this.#change((query) => query(promoteAll, [before]))
    return total
  }

  /** Runs a transaction that changes queues. */
  #change<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#retry.run((attempt) =>
      attempt.transaction(this.#primary, async (query) => {
        await query(lockQueues)
        return work(query)
      }),
    )
  }
}

const setHealth = `
  UPDATE webhook_endpoint SET last_success_at = coalesce(succeeded_at, last_success_at),
    failing_since = CASE WHEN succeeded_at IS NULL THEN coalesce(failing_since, failed_at) ELSE failed_at END
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS new (id, succeeded_at, failed_at)
  WHERE webhook_endpoint_id = id`

const promoteAll = `
  UPDATE webhook_delivery SET next_attempt_at = $1 WHERE next_attempt_at IS NULL AND webhook_delivery_id IN (
    SELECT min(webhook_delivery_id) FROM webhook_delivery WHERE state <> 'delivered'
    GROUP BY webhook_endpoint_id, team_id
  )`

async function disable(
  query: Query,
  endpointIds: readonly number[],
  actor: Pick<RecordAttempts, 'author' | 'requestId' | 'now'>,
): Promise<number[]> {
  const rows = await query<WebhookEndpointRow>(
    `UPDATE webhook_endpoint SET state = 'disabled', updated_at = $2
     WHERE webhook_endpoint_id = ANY ($1) AND state = 'active' RETURNING *`,
    [endpointIds, actor.now],
  )
  for (const endpoint of rows.map(endpointOf)) {
    const { workspaceId, environment } = endpoint
    const change = { workspaceId, environment, ...actor }
    await runWithin(query, appendAuditEvent('webhook_endpoint.disabled', change, describedEndpoint(endpoint)))
  }
  return rows.map(({ webhook_endpoint_id: id }) => id)
}

async function redeliverBatch(
  query: Query,
  { workspaceId, environment, endpointId, now, which }: Redeliver,
): Promise<number | null> {
  const [endpoint] = await query(
    'SELECT 1 FROM webhook_endpoint WHERE webhook_endpoint_id = $1 AND workspace_id = $2 AND environment = $3',
    [endpointId, workspaceId, environment],
  )
  if (endpoint === undefined) return null
  const [condition, ...values] =
    'deliveryId' in which
      ? ['webhook_delivery_id = $3', which.deliveryId]
      : [
          `event_id >= $3 AND event_id < $4 AND last_attempt_at < $2 AND NOT (state = 'pending' AND attempts = 0)
           ORDER BY webhook_delivery_id LIMIT $5`,
          firstEventId(which.since),
          firstEventId(which.until),
          maxBatchDeliveries,
        ]
  const rows = await query<{ team_id: number }>(
    `UPDATE webhook_delivery SET state = 'pending', attempts = 0, first_attempt_at = NULL,
       next_attempt_at = CASE WHEN next_attempt_at IS NULL THEN NULL ELSE $2::bigint END
     WHERE webhook_delivery_id IN (
       SELECT webhook_delivery_id FROM webhook_delivery WHERE webhook_endpoint_id = $1 AND ${condition}
     ) RETURNING team_id`,
    [endpointId, now, ...values],
  )
  await query(promote, [now, rows.map(() => endpointId), rows.map(({ team_id }) => team_id)])
  return rows.length
}
