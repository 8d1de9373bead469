import type { Actor } from '../audit/audit-event.ts'
import type { EventPosition } from '../event/event.ts'
import type { Sealed } from '../secret-key/keyring.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { SecretKeyRetired } from '../user-group/user-group-store.ts'
import type { WebhookEndpoint, WebhookHealth } from './webhook-endpoint.ts'

/** The webhook endpoints. All methods reject with Fault `not_implemented` if the store has no order of events (Citus). */
export interface WebhookEndpointStore {
  /** Creates an endpoint, unless its workspace has `maxOfWorkspace`. It receives every event after `position`. */
  create(endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint | SecretKeyRetired | EndpointRefused>

  /** Returns the endpoints of a workspace and environment, in order of id. */
  list(scope: TenantScope): Promise<WebhookEndpointHealth[]>

  /** Returns null if there is no such endpoint. */
  find(scope: TenantScope, id: number): Promise<WebhookEndpointHealth | null>

  /** Returns null if there is no such endpoint. If it becomes active, its deliveries are attempted at once. */
  update(command: UpdateWebhookEndpoint): Promise<WebhookEndpoint | null>

  /** Deletes the endpoint with its secrets and deliveries. Returns false if there is no such endpoint. */
  delete(command: WebhookEndpointCommand): Promise<boolean>

  /**
   * Adds a secret. The previous one signs until `overlapEndsAt`, and older ones until the ends of their own overlaps. Null if there is
   * no such endpoint.
   */
  rotateSecret(
    command: RotateWebhookSecret,
  ): Promise<WebhookEndpoint | SecretKeyRetired | TooManySecrets | null>
}

/** Encrypts the secret for the id of its endpoint, with the same result each time. */
type SealSecret = (endpointId: number) => Sealed

export interface EndpointRefused {
  readonly outcome: 'too_many_endpoints' | 'name_taken'
}

/** Too many replaced secrets sign too. */
export interface TooManySecrets {
  readonly outcome: 'too_many_secrets'
  /** Time at which the overlap of one of them ends. */
  readonly until: number
}

interface NewWebhookEndpoint
  extends Pick<WebhookEndpoint, 'name' | 'url' | 'eventTypes'>, TenantScope, Actor {
  readonly now: number
  readonly sealSecret: SealSecret
  /** Maximum number of endpoints of the workspace, in both environments together. */
  readonly maxOfWorkspace: number
  /** Refuses the endpoint if another one of its environment has the name. */
  readonly needsNewName?: boolean
  /** All events are readable up to here. */
  readonly position: EventPosition
}

/** Names an endpoint and who changes it. */
export interface WebhookEndpointCommand extends TenantScope, Actor {
  readonly id: number
  readonly now: number
}

export interface UpdateWebhookEndpoint extends WebhookEndpointCommand {
  readonly change: Partial<Pick<WebhookEndpoint, 'name' | 'url' | 'eventTypes' | 'state'>>
}

export interface RotateWebhookSecret extends WebhookEndpointCommand {
  readonly sealSecret: SealSecret
  readonly overlapEndsAt: number
}

/**
 * An endpoint with its replaced secrets, its undelivered events and the result of its attempts. Times are in milliseconds since the
 * Unix epoch.
 */
export interface WebhookEndpointHealth extends WebhookEndpoint {
  readonly health: WebhookHealth
  /** Times until which replaced secrets sign too, earliest first. Some may be over. */
  readonly previousSecretsValidUntil: readonly number[]
  /** Time of the last attempt that succeeded; null if there is none. */
  readonly lastSuccessAt: number | null
  /** Time of the first failed attempt after that; null if there is none. */
  readonly failingSince: number | null
  readonly pending: number
  readonly failing: number
  /** Event id of the oldest undelivered event, which contains its time; null if there is none. */
  readonly oldestEventId: string | null
}
