import type { Sealed } from '../../domain/secret-key/keyring.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { SecretKeyRetired } from '../../domain/user-group/user-group-store.ts'
import { nextOverlapAt, type WebhookEndpoint } from '../../domain/webhook/webhook-endpoint.ts'
import type {
  NewWebhookEndpoint,
  RotateWebhookSecret,
  TooManyEndpoints,
  TooManySecrets,
  UpdateWebhookEndpoint,
  WebhookEndpointCommand,
  WebhookEndpointHealth,
  WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint-store.ts'
import {
  maxBatchDeliveries,
  describedEndpoint,
  describedUpdate,
  endpointOf,
  healthOf,
  secretEndsOf,
  selectHealth,
  selectSecretEnds,
  type HealthRow,
  type SecretEndsRow,
  type WebhookEndpointRow,
} from '../webhook-row.ts'
import { appendAuditEvent } from '../cold/audit-log.ts'
import { runWithin } from './cold-runner.ts'
import { refuseOnCitus, type Distribution } from './citus/distribution.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'

/** Locks the queues of deliveries until the end of the transaction. */
export const lockQueues = 'SELECT 1 FROM webhook_leader FOR UPDATE'

/** The webhook endpoints and their secrets. */
export class WebhookEndpoints implements WebhookEndpointStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(primary: PrimaryPool, retry: Retry, distribution: Distribution) {
    this.#primary = primary
    this.#retry = retry
    this.#distribution = distribution
  }

  async create(endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint | SecretKeyRetired | TooManyEndpoints> {
    let sealed: Uint8Array | undefined
    const sealSecret = (id: number) => {
      const secret = endpoint.sealSecret(id)
      sealed = secret.sealed
      return secret
    }
    return this.#change(async (attempt) => {
      if (attempt.isAmbiguous && sealed !== undefined) {
        // The encrypted secret identifies the endpoint of the earlier attempt.
        const [created] = await this.#primary.query<WebhookEndpointRow>(
          `SELECT webhook_endpoint.* FROM webhook_endpoint JOIN webhook_secret USING (webhook_endpoint_id)
           WHERE token_sealed = $1`,
          [sealed],
        )
        if (created !== undefined) return endpointOf(created)
      }
      return this.#transaction(attempt, (query) => insertEndpoint(query, { ...endpoint, sealSecret }))
    })
  }

  async list({ workspaceId, environment }: TenantScope): Promise<WebhookEndpointHealth[]> {
    refuseOnCitus(this.#distribution, 'Webhooks need')
    const rows = await this.#retry.query<WebhookEndpointRow & HealthRow & SecretEndsRow>(
      `${selectEndpoints} ORDER BY webhook_endpoint_id`,
      [workspaceId, environment],
    )
    return rows.map(healthOf)
  }

  async find({ workspaceId, environment }: TenantScope, id: number): Promise<WebhookEndpointHealth | null> {
    refuseOnCitus(this.#distribution, 'Webhooks need')
    const [row] = await this.#retry.query<WebhookEndpointRow & HealthRow & SecretEndsRow>(
      `${selectEndpoints} AND webhook_endpoint_id = $3`,
      [workspaceId, environment, id],
    )
    return row === undefined ? null : healthOf(row)
  }

  async update(command: UpdateWebhookEndpoint): Promise<WebhookEndpoint | null> {
    return this.#change((attempt) =>
      this.#transaction(attempt, async (query) => {
        const before = await findEndpoint(query, command)
        const event = before && describedUpdate(before, command)
        if (event === null) return before
        const { name, url, eventTypes, state, id } = { ...(before as WebhookEndpoint), ...command.change }
        const [row] = await query<WebhookEndpointRow>(
          `UPDATE webhook_endpoint SET name = $2, url = $3, event_types = $4, state = $5, updated_at = $6
           WHERE webhook_endpoint_id = $1 RETURNING *`,
          [id, name, url, JSON.stringify(eventTypes), state, command.now],
        )
        if (state === 'active' && before?.state !== 'active')
          await query(
            `UPDATE webhook_delivery SET next_attempt_at = $2, first_attempt_at = NULL
             WHERE webhook_endpoint_id = $1 AND next_attempt_at IS NOT NULL`,
            [id, command.now],
          )
        await runWithin(query, appendAuditEvent(event.action, command, event.details))
        return endpointOf(row as WebhookEndpointRow)
      }),
    )
  }

  async delete(command: WebhookEndpointCommand): Promise<boolean> {
    const isDeleted = await this.#change(async (attempt) => {
      const deleted = await this.#transaction(attempt, async (query) => {
        const endpoint = await findEndpoint(query, command)
        if (endpoint === null) return false
        await query('DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = $1', [endpoint.id])
        await query(
          'UPDATE webhook_leader SET position = NULL WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoint)',
        )
        await runWithin(
          query,
          appendAuditEvent('webhook_endpoint.deleted', command, describedEndpoint(endpoint)),
        )
        return true
      })
      return deleted || attempt.isAmbiguous
    })
    if (isDeleted) await this.#deleteDeliveries(command.id)
    return isDeleted
  }

  rotateSecret(
    command: RotateWebhookSecret,
  ): Promise<WebhookEndpoint | SecretKeyRetired | TooManySecrets | null> {
    const { now, overlapEndsAt, sealSecret, id } = command
    // One secret for all attempts.
    const secret = sealSecret(id)
    return this.#change((attempt) =>
      this.#transaction(attempt, async (query) => {
        const endpoint = await findEndpoint(query, command)
        if (endpoint === null) return null
        if (attempt.isAmbiguous) {
          const [rotated] = await query('SELECT 1 FROM webhook_secret WHERE token_sealed = $1', [
            secret.sealed,
          ])
          if (rotated !== undefined) return endpoint
        }
        const [ends] = await query<SecretEndsRow>(
          `SELECT ${selectSecretEnds} FROM webhook_endpoint WHERE webhook_endpoint_id = $1`,
          [id],
        )
        const until = nextOverlapAt(secretEndsOf(ends as SecretEndsRow), command)
        if (until !== null) return { outcome: 'too_many_secrets', until }
        const refusal = await insertSecret(query, endpoint, { ...secret, now, overlapEndsAt })
        if (refusal !== null) return refusal
        const details = { ...describedEndpoint(endpoint), valid_until: new Date(overlapEndsAt).toISOString() }
        await runWithin(query, appendAuditEvent('webhook_endpoint.secret_rotated', command, details))
        return endpoint
      }),
    )
  }

  #change<T>(work: (attempt: Attempt) => Promise<T>): Promise<T> {
    refuseOnCitus(this.#distribution, 'Webhooks need')
    return this.#retry.run(work)
  }

  #transaction<T>(attempt: Attempt, work: (query: Query) => Promise<T>): Promise<T> {
    return attempt.transaction(this.#primary, async (query) => {
      await query(lockQueues)
      return work(query)
    })
  }

  /** Deletes the deliveries of a deleted endpoint. After an interruption, they expire. */
  async #deleteDeliveries(endpointId: number): Promise<void> {
    for (;;) {
      const deleted = await this.#retry.change(
        `DELETE FROM webhook_delivery WHERE webhook_delivery_id IN (
           SELECT webhook_delivery_id FROM webhook_delivery WHERE webhook_endpoint_id = $1 LIMIT $2
         ) RETURNING 1`,
        [endpointId, maxBatchDeliveries],
      )
      if (deleted.length < maxBatchDeliveries) return
    }
  }
}

const selectEndpoints = `
  SELECT webhook_endpoint.*, pending, failing, oldest_event_id, ${selectSecretEnds}
  FROM webhook_endpoint CROSS JOIN LATERAL (
    ${selectHealth('webhook_delivery.webhook_endpoint_id = webhook_endpoint.webhook_endpoint_id')}
  ) AS health
  WHERE workspace_id = $1 AND environment = $2`

async function findEndpoint(
  query: Query,
  { workspaceId, environment, id }: WebhookEndpointCommand,
): Promise<WebhookEndpoint | null> {
  const [row] = await query<WebhookEndpointRow>(
    'SELECT * FROM webhook_endpoint WHERE workspace_id = $1 AND environment = $2 AND webhook_endpoint_id = $3',
    [workspaceId, environment, id],
  )
  return row === undefined ? null : endpointOf(row)
}

async function insertEndpoint(
  query: Query,
  { sealSecret, position, maxOfWorkspace, ...endpoint }: NewWebhookEndpoint,
): Promise<WebhookEndpoint | SecretKeyRetired | TooManyEndpoints> {
  const { workspaceId, environment, name, url, eventTypes, now } = endpoint
  const [found] = await query<{ count: number }>(
    'SELECT count(*) AS count FROM webhook_endpoint WHERE workspace_id = $1',
    [workspaceId],
  )
  if ((found as { count: number }).count >= maxOfWorkspace) return { outcome: 'too_many_endpoints' }
  const [row] = await query<WebhookEndpointRow>(
    `INSERT INTO webhook_endpoint (workspace_id, environment, name, url, event_types, state, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, 'active', $6, $6) RETURNING *`,
    [workspaceId, environment, name, url, JSON.stringify(eventTypes), now],
  )
  const created = endpointOf(row as WebhookEndpointRow)
  const refusal = await insertSecret(query, created, {
    ...sealSecret(created.id),
    now,
    overlapEndsAt: now,
  })
  if (refusal !== null) {
    await query('DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = $1', [created.id])
    return refusal
  }
  await query('UPDATE webhook_leader SET position = coalesce(position, $1)', [position])
  await runWithin(query, appendAuditEvent('webhook_endpoint.created', endpoint, describedEndpoint(created)))
  return created
}

/** Inserts a secret. The statement locks the table before it looks for the retired key (SecretKeys.retire). */
async function insertSecret(
  query: Query,
  { id, workspaceId, environment }: WebhookEndpoint,
  { keyId, sealed, now, overlapEndsAt }: Sealed & { readonly now: number; readonly overlapEndsAt: number },
): Promise<SecretKeyRetired | null> {
  const [inserted] = await query<{ secret_number: number }>(
    `INSERT INTO webhook_secret (webhook_endpoint_id, secret_number, workspace_id, environment, token_key_id, token_sealed)
     SELECT $1, coalesce(max(secret_number), 0) + 1, $2, $3, $4, $5 FROM webhook_secret WHERE webhook_endpoint_id = $1
     HAVING NOT EXISTS (SELECT 1 FROM retired_secret_key WHERE key_id = $4)
     RETURNING secret_number`,
    [id, workspaceId, environment, keyId, sealed],
  )
  if (inserted === undefined) return { outcome: 'secret_key_retired', keyId }
  await query(
    `UPDATE webhook_secret SET expires_at = $3
     WHERE webhook_endpoint_id = $1 AND secret_number < $2 AND expires_at IS NULL`,
    [id, inserted.secret_number, overlapEndsAt],
  )
  await query('DELETE FROM webhook_secret WHERE webhook_endpoint_id = $1 AND expires_at <= $2', [id, now])
  return null
}
