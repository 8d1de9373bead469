import type { Database, Statement } from 'better-sqlite3'
import type { Environment } from '../../domain/environment.ts'
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
import type { AuditLog } from './audit-log.ts'
import type { Synchronous } from './port.ts'

type EndpointRow = WebhookEndpointRow & SecretEndsRow

type AddSecret = Pick<RotateWebhookSecret, 'sealSecret' | 'now'> & { readonly overlapEndsAt?: number }

/** The webhook endpoints and their secrets. */
export class WebhookEndpoints implements Synchronous<WebhookEndpointStore> {
  readonly #audit: AuditLog
  readonly #insert: Statement<unknown[], WebhookEndpointRow>
  readonly #setFirstPosition: Statement<[string]>
  readonly #count: Statement<[number], number>
  readonly #selectAll: Statement<[number, Environment], EndpointRow>
  readonly #select: Statement<[number, Environment, number], EndpointRow>
  readonly #selectHealth: Statement<[number], HealthRow>
  readonly #update: Statement<unknown[], WebhookEndpointRow>
  readonly #beginRetrying: Statement<[number, number]>
  readonly #delete: Statement<[number]>
  readonly #clearPosition: Statement<[]>
  readonly #isRetired: Statement<[string]>
  readonly #insertSecret: Statement
  readonly #deleteOldSecrets: Statement<[number, number]>
  readonly #setExpiry: Statement<[number, number]>

  constructor(database: Database, audit: AuditLog) {
    this.#audit = audit
    this.#insert = database.prepare(
      `INSERT INTO webhook_endpoint (workspace_id, environment, name, url, event_types, state, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, 'active', ?, ?) RETURNING *`,
    )
    this.#setFirstPosition = database.prepare('UPDATE webhook_leader SET position = coalesce(position, ?)')
    this.#count = database
      .prepare<[number], number>('SELECT count(*) FROM webhook_endpoint WHERE workspace_id = ?')
      .pluck()
    const select = `SELECT *, ${selectSecretEnds} FROM webhook_endpoint WHERE workspace_id = ? AND environment = ?`
    this.#selectAll = database.prepare(`${select} ORDER BY webhook_endpoint_id`)
    this.#select = database.prepare(`${select} AND webhook_endpoint_id = ?`)
    this.#selectHealth = database.prepare(selectHealth('webhook_endpoint_id = ?'))
    this.#update = database.prepare(
      `UPDATE webhook_endpoint SET name = ?, url = ?, event_types = ?, state = ?, updated_at = ?
       WHERE webhook_endpoint_id = ? RETURNING *`,
    )
    this.#beginRetrying = database.prepare(
      `UPDATE webhook_delivery SET next_attempt_at = ?, first_attempt_at = NULL
       WHERE webhook_endpoint_id = ? AND next_attempt_at IS NOT NULL`,
    )
    this.#delete = database.prepare('DELETE FROM webhook_endpoint WHERE webhook_endpoint_id = ?')
    this.#clearPosition = database.prepare(
      'UPDATE webhook_leader SET position = NULL WHERE NOT EXISTS (SELECT 1 FROM webhook_endpoint)',
    )
    this.#isRetired = database.prepare('SELECT 1 FROM retired_secret_key WHERE key_id = ?')
    this.#insertSecret = database.prepare(
      `INSERT INTO webhook_secret (webhook_endpoint_id, secret_number, workspace_id, environment, token_key_id, token_sealed)
       SELECT ?, coalesce(max(secret_number), 0) + 1, ?, ?, ?, ? FROM webhook_secret WHERE webhook_endpoint_id = ?`,
    )
    this.#deleteOldSecrets = database.prepare(
      'DELETE FROM webhook_secret WHERE webhook_endpoint_id = ? AND expires_at <= ?',
    )
    this.#setExpiry = database.prepare(
      'UPDATE webhook_secret SET expires_at = ? WHERE webhook_endpoint_id = ? AND expires_at IS NULL',
    )
  }

  create({
    sealSecret,
    position,
    maxOfWorkspace,
    ...endpoint
  }: NewWebhookEndpoint): WebhookEndpoint | SecretKeyRetired | TooManyEndpoints {
    const { workspaceId, environment, name, url, eventTypes, now } = endpoint
    if ((this.#count.get(workspaceId) as number) >= maxOfWorkspace) return { outcome: 'too_many_endpoints' }
    const row = this.#insert.get(workspaceId, environment, name, url, JSON.stringify(eventTypes), now, now)
    const created = endpointOf(row as WebhookEndpointRow)
    const refusal = this.#addSecret(created, { sealSecret, now })
    if (refusal !== null) {
      this.#delete.run(created.id)
      return refusal
    }
    this.#setFirstPosition.run(position)
    this.#audit.append('webhook_endpoint.created', endpoint, { details: describedEndpoint(created) })
    return created
  }

  list({ workspaceId, environment }: TenantScope): WebhookEndpointHealth[] {
    return this.#selectAll.all(workspaceId, environment).map((row) => this.#withHealth(row))
  }

  find({ workspaceId, environment }: TenantScope, id: number): WebhookEndpointHealth | null {
    const row = this.#select.get(workspaceId, environment, id)
    return row === undefined ? null : this.#withHealth(row)
  }

  update(command: UpdateWebhookEndpoint): WebhookEndpoint | null {
    const before = this.#find(command)
    if (before === null) return null
    const event = describedUpdate(before, command)
    if (event === null) return before
    const { name, url, eventTypes, state, id } = { ...before, ...command.change }
    const cells = [name, url, JSON.stringify(eventTypes), state, command.now, id]
    const row = this.#update.get(...cells) as WebhookEndpointRow
    if (state === 'active' && before.state !== 'active') this.#beginRetrying.run(command.now, id)
    this.#audit.append(event.action, command, { details: event.details })
    return endpointOf(row)
  }

  delete(command: WebhookEndpointCommand): boolean {
    const endpoint = this.#find(command)
    if (endpoint === null) return false
    this.#delete.run(endpoint.id)
    this.#clearPosition.run()
    this.#audit.append('webhook_endpoint.deleted', command, { details: describedEndpoint(endpoint) })
    return true
  }

  rotateSecret(command: RotateWebhookSecret): WebhookEndpoint | SecretKeyRetired | TooManySecrets | null {
    const row = this.#select.get(command.workspaceId, command.environment, command.id)
    if (row === undefined) return null
    const endpoint = endpointOf(row)
    const until = nextOverlapAt(secretEndsOf(row), command)
    if (until !== null) return { outcome: 'too_many_secrets', until }
    const refusal = this.#addSecret(endpoint, command)
    if (refusal !== null) return refusal
    const details = {
      ...describedEndpoint(endpoint),
      valid_until: new Date(command.overlapEndsAt).toISOString(),
    }
    this.#audit.append('webhook_endpoint.secret_rotated', command, { details })
    return endpoint
  }

  #find({ workspaceId, environment, id }: WebhookEndpointCommand): WebhookEndpoint | null {
    const row = this.#select.get(workspaceId, environment, id)
    return row === undefined ? null : endpointOf(row)
  }

  #withHealth(row: EndpointRow): WebhookEndpointHealth {
    return healthOf({ ...row, ...(this.#selectHealth.get(row.webhook_endpoint_id) as HealthRow) })
  }

  #addSecret(
    { id, workspaceId, environment }: WebhookEndpoint,
    { sealSecret, now, overlapEndsAt = now }: AddSecret,
  ): SecretKeyRetired | null {
    const { keyId, sealed } = sealSecret(id)
    if (this.#isRetired.get(keyId) !== undefined) return { outcome: 'secret_key_retired', keyId }
    this.#setExpiry.run(overlapEndsAt, id)
    this.#deleteOldSecrets.run(id, now)
    this.#insertSecret.run(id, workspaceId, environment, keyId, sealed, id)
    return null
  }
}
