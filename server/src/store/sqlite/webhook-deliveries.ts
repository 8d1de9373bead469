import type { Database, Statement } from 'better-sqlite3'
import { firstEventId } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import { retryPeriodMs } from '../../domain/webhook/retry-schedule.ts'
import type { DeliveryState, WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts'
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
import type { AuditLog } from './audit-log.ts'
import type { Synchronous } from './port.ts'

interface LeaderRow {
  readonly holder: string | null
  readonly expires_at: number
  readonly position: string | null
}

interface Batch {
  readonly count: number
  readonly isDone: boolean
}

/** The deliveries of webhooks and the claim of the leader. */
export class WebhookDeliveries implements Synchronous<
  Omit<WebhookDeliveryStore, 'redeliver' | 'deleteOlderThan'>
> {
  readonly #audit: AuditLog
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(database: Database, audit: AuditLog) {
    this.#audit = audit
    this.#statements = prepareStatements(database)
  }

  claim({ holder, now, durationMs }: DeliveryClaim): { position: string | null } | null {
    const leader = this.#statements.selectLeader.get()
    if (leader === undefined) return null
    const isOwn = leader.holder === holder
    if (!isOwn && leader.expires_at > now) return null
    // Each write costs a flush to disk.
    if (!isOwn || leader.expires_at < now + durationMs / 2)
      this.#statements.setLeader.run(holder, now + durationMs)
    return { position: leader.position }
  }

  release(holder: string): void {
    this.#statements.releaseLeader.run(holder)
  }

  targets(): WebhookTarget[] {
    const { selectEndpoints, selectSecrets } = this.#statements
    return targetsOf(selectEndpoints.all(), selectSecrets.all())
  }

  enqueue({ holder, from, to, now, deliveries }: EnqueueDeliveries): boolean {
    if (this.#statements.setPosition.run(to, holder, from).changes === 0) return false
    for (const { endpointId, eventId, eventType, teamId, body } of deliveries) {
      this.#statements.insert.run(eventId, eventType, teamId ?? 0, body, endpointId)
      this.#promote(endpointId, teamId, now)
    }
    return true
  }

  due({ now, endpoints, limit }: FindDue): DueDelivery[] {
    const { selectDue } = this.#statements
    const due: DueDelivery[] = []
    for (const endpoint of endpoints) {
      if (due.length >= limit) break
      const rows = selectDue.all(endpoint.id, now, Math.min(endpoint.limit, limit - due.length))
      due.push(...rows.map(dueDeliveryOf))
    }
    return due
  }

  record({ holder, attempts, ...actor }: RecordAttempts): number[] | null {
    const { isLeader, update, setHealth, disable } = this.#statements
    if (isLeader.get(holder) === undefined) return null
    for (const { endpointId, succeededAt, failedAt } of attemptsByEndpoint(attempts))
      setHealth.run({ endpointId, succeededAt, failedAt })
    const disabled: number[] = []
    for (const attempt of attempts) {
      const { id, endpointId, teamId, isLast, ...cells } = attemptCells(attempt)
      update.run(
        cells.state,
        cells.attempts,
        cells.startedAt,
        cells.startedAt,
        cells.nextAttemptAt,
        cells.responseStatus,
        cells.durationMs,
        cells.errorCode,
        id,
      )
      if (attempt.isDelivered) this.#promote(endpointId, teamId, actor.now)
      const row = isLast ? disable.get(actor.now, endpointId) : undefined
      if (row === undefined) continue
      const endpoint = endpointOf(row)
      const { workspaceId, environment } = endpoint
      const details = describedEndpoint(endpoint)
      this.#audit.append('webhook_endpoint.disabled', { workspaceId, environment, ...actor }, { details })
      disabled.push(endpointId)
    }
    return disabled
  }

  backlog(): DeliveryBacklog {
    return backlogOf(this.#statements.selectBacklog.get() as HealthRow)
  }

  list({ workspaceId, environment, endpointId, state, beforeId, limit }: ListDeliveries): WebhookDelivery[] {
    const { selectPage, selectUndelivered } = this.#statements
    const statement = state === null || state === 'delivered' ? selectPage : selectUndelivered
    const start = beforeId ?? Number.MAX_SAFE_INTEGER
    return statement.all(endpointId, workspaceId, environment, start, state, limit).map(deliveryOf)
  }

  /** Redelivers a batch. Null if there is no such endpoint. */
  redeliverBatch({ workspaceId, environment, endpointId, now, which }: Redeliver): Batch | null {
    const { hasEndpoint, selectOne, selectRange, reset } = this.#statements
    if (hasEndpoint.get(endpointId, workspaceId, environment) === undefined) return null
    const rows =
      'deliveryId' in which
        ? selectOne.all(endpointId, which.deliveryId)
        : selectRange.all(
            endpointId,
            firstEventId(which.since),
            firstEventId(which.until),
            now,
            maxBatchDeliveries,
          )
    for (const { webhook_delivery_id: id } of rows) reset.run(now, id)
    for (const teamId of new Set(rows.map(({ team_id }) => team_id))) this.#promote(endpointId, teamId, now)
    return { count: rows.length, isDone: 'deliveryId' in which || rows.length < maxBatchDeliveries }
  }

  deleteOfEndpoint(endpointId: number): Batch {
    const { changes } = this.#statements.deleteOfEndpoint.run(endpointId, maxBatchDeliveries)
    return { count: changes, isDone: changes < maxBatchDeliveries }
  }

  deleteBatch(before: number): Batch {
    const { deleteOld, promoteAll } = this.#statements
    const { changes } = deleteOld.run(
      firstEventId(before),
      firstEventId(before - retryPeriodMs),
      maxBatchDeliveries,
    )
    const isDone = changes < maxBatchDeliveries
    // The first of a queue may have been deleted.
    if (isDone) promoteAll.run(before)
    return { count: changes, isDone }
  }

  /** Makes the first delivery of a queue due, unless it has a next attempt. */
  #promote(endpointId: number, teamId: number | null, now: number): void {
    this.#statements.promote.run(now, endpointId, teamId ?? 0)
  }
}

type PageParameters = [number, number, Environment, number, DeliveryState | null, number]

const page = `SELECT * FROM webhook_delivery
  WHERE webhook_endpoint_id = ? AND workspace_id = ? AND environment = ? AND webhook_delivery_id < ?
    AND state = coalesce(?, state)`
const pageOrder = 'ORDER BY webhook_delivery_id DESC LIMIT ?'

function prepareStatements(database: Database) {
  const prepare: Prepare = (sql) => database.prepare(sql)
  return { ...leaderStatements(prepare), ...attemptStatements(prepare), ...managementStatements(prepare) }
}

type Prepare = <Parameters extends unknown[], Row = unknown>(sql: string) => Statement<Parameters, Row>

/** Statements that claim the row of the leader and write deliveries for new events. */
function leaderStatements(prepare: Prepare) {
  return {
    selectLeader: prepare<[], LeaderRow>(
      'SELECT * FROM webhook_leader WHERE EXISTS (SELECT 1 FROM webhook_endpoint)',
    ),
    setLeader: prepare<[string, number]>('UPDATE webhook_leader SET holder = ?, expires_at = ?'),
    releaseLeader: prepare<[string]>(
      'UPDATE webhook_leader SET holder = NULL, expires_at = 0 WHERE holder = ?',
    ),
    isLeader: prepare<[string]>('SELECT 1 FROM webhook_leader WHERE holder = ?'),
    setPosition: prepare<[string, string, string | null]>(
      'UPDATE webhook_leader SET position = ? WHERE holder = ? AND position IS ?',
    ),
    selectEndpoints: prepare<[], WebhookEndpointRow>(
      'SELECT * FROM webhook_endpoint ORDER BY webhook_endpoint_id',
    ),
    selectSecrets: prepare<[], WebhookSecretRow>('SELECT * FROM webhook_secret ORDER BY secret_number DESC'),
    insert: prepare<[string, string, number, string, number]>(
      `INSERT INTO webhook_delivery (webhook_endpoint_id, workspace_id, environment, event_id, event_type, team_id, body)
       SELECT webhook_endpoint_id, workspace_id, environment, ?, ?, ?, ? FROM webhook_endpoint WHERE webhook_endpoint_id = ?`,
    ),
    promote: prepare<[number, number, number]>(
      `UPDATE webhook_delivery SET next_attempt_at = coalesce(next_attempt_at, ?) WHERE webhook_delivery_id = (
         SELECT webhook_delivery_id FROM webhook_delivery
         WHERE webhook_endpoint_id = ? AND team_id = ? AND state <> 'delivered' ORDER BY webhook_delivery_id LIMIT 1
       )`,
    ),
    promoteAll: prepare<[number]>(
      `UPDATE webhook_delivery SET next_attempt_at = ? WHERE next_attempt_at IS NULL AND webhook_delivery_id IN (
         SELECT min(webhook_delivery_id) FROM webhook_delivery WHERE state <> 'delivered'
         GROUP BY webhook_endpoint_id, team_id
       )`,
    ),
  }
}

/** Statements that select due deliveries and record their attempts. */
function attemptStatements(prepare: Prepare) {
  return {
    selectDue: prepare<[number, number, number], WebhookDeliveryRow>(
      `SELECT * FROM webhook_delivery WHERE webhook_endpoint_id = ? AND next_attempt_at <= ?
       ORDER BY next_attempt_at, webhook_delivery_id LIMIT ?`,
    ),
    update: prepare(
      `UPDATE webhook_delivery SET state = ?, attempts = ?, first_attempt_at = coalesce(first_attempt_at, ?),
         last_attempt_at = ?, next_attempt_at = ?, response_status = ?, duration_ms = ?, error_code = ?
       WHERE webhook_delivery_id = ?`,
    ),
    setHealth: prepare<[{ endpointId: number; succeededAt: number | null; failedAt: number | null }]>(
      `UPDATE webhook_endpoint SET last_success_at = coalesce(@succeededAt, last_success_at),
         failing_since = CASE WHEN @succeededAt IS NULL THEN coalesce(failing_since, @failedAt) ELSE @failedAt END
       WHERE webhook_endpoint_id = @endpointId`,
    ),
    disable: prepare<[number, number], WebhookEndpointRow>(
      `UPDATE webhook_endpoint SET state = 'disabled', updated_at = ?
       WHERE webhook_endpoint_id = ? AND state = 'active' RETURNING *`,
    ),
    selectBacklog: prepare<[], HealthRow>(selectBacklog),
  }
}

/** Statements that list, redeliver and delete deliveries. */
function managementStatements(prepare: Prepare) {
  return {
    hasEndpoint: prepare<[number, number, Environment]>(
      'SELECT 1 FROM webhook_endpoint WHERE webhook_endpoint_id = ? AND workspace_id = ? AND environment = ?',
    ),
    selectPage: prepare<PageParameters, WebhookDeliveryRow>(`${page} ${pageOrder}`),
    // The condition is that of an index.
    selectUndelivered: prepare<PageParameters, WebhookDeliveryRow>(
      `${page} AND state <> 'delivered' ${pageOrder}`,
    ),
    selectOne: prepare<[number, number], WebhookDeliveryRow>(
      'SELECT * FROM webhook_delivery WHERE webhook_endpoint_id = ? AND webhook_delivery_id = ?',
    ),
    selectRange: prepare<[number, string, string, number, number], WebhookDeliveryRow>(
      `SELECT * FROM webhook_delivery WHERE webhook_endpoint_id = ? AND event_id >= ? AND event_id < ?
         AND last_attempt_at < ? AND NOT (state = 'pending' AND attempts = 0)
       ORDER BY webhook_delivery_id LIMIT ?`,
    ),
    reset: prepare<[number, number]>(
      `UPDATE webhook_delivery SET state = 'pending', attempts = 0, first_attempt_at = NULL, next_attempt_at = CASE
         WHEN next_attempt_at IS NULL THEN NULL ELSE ? END
       WHERE webhook_delivery_id = ?`,
    ),
    deleteOfEndpoint: prepare<[number, number]>(
      `DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
         SELECT webhook_delivery_id FROM webhook_delivery WHERE webhook_endpoint_id = ? LIMIT ?
       )`,
    ),
    deleteOld: prepare<[string, string, number]>(
      `DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
         SELECT webhook_delivery_id FROM webhook_delivery
         WHERE event_id < ? AND (state = 'delivered' OR event_id < ?) ORDER BY event_id LIMIT ?
       )`,
    ),
  }
}
