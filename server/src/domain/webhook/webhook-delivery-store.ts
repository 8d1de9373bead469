import type { Actor } from '../audit/audit-event.ts'
import type { EventPosition, EventType } from '../event/event.ts'
import type { Sealed } from '../secret-key/keyring.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { DeliveryState, WebhookDelivery, WebhookDeliveryDetails } from './webhook-delivery.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

/**
 * The deliveries of webhooks. One process at a time, the leader, holds a claim: it writes deliveries for new events, and attempts
 * them. The undelivered deliveries of an endpoint and user group form a queue, of which only the first has a next attempt.
 */
export interface WebhookDeliveryStore {
  /**
   * Makes a process the leader, or extends its claim. Returns null while another process has one, if there is no endpoint, and if the
   * store has no order of events (Citus).
   */
  claim(claim: DeliveryClaim): Promise<{ readonly position: EventPosition | null } | null>

  /** Ends the claim of a process. */
  release(holder: string): Promise<void>

  /** Returns all endpoints of all workspaces with their secrets. */
  targets(): Promise<WebhookTarget[]>

  /**
   * Writes deliveries and moves the position from `from` to `to`, in one transaction. Returns false and changes nothing if the process
   * is not the leader, or the position is another one. Skips endpoints that have been deleted.
   */
  enqueue(command: EnqueueDeliveries): Promise<boolean>

  /** Returns deliveries whose attempt is due, in the order of the endpoints, and the longest due of each one first. */
  due(query: FindDue): Promise<DueDelivery[]>

  /**
   * Records attempts, and lets the next delivery of the user group follow a success. Disables the endpoint of a delivery that has no
   * next attempt. Returns the ids of endpoints that it disabled; null if the process is not the leader.
   */
  record(command: RecordAttempts): Promise<number[] | null>

  /** Returns the number of undelivered events and the id of the oldest one, without those of paused endpoints. */
  backlog(): Promise<DeliveryBacklog>

  /** Returns deliveries of an endpoint, newest first. */
  list(query: ListDeliveries): Promise<WebhookDelivery[]>

  /** Returns a delivery of an endpoint; null if there is no such one. */
  find(query: FindDelivery): Promise<WebhookDeliveryDetails | null>

  /** Attempts deliveries again, also those that were made, and returns how many. Null if there is no such endpoint. */
  redeliver(command: Redeliver): Promise<number | null>

  /** Deletes deliveries of events that are older than `before`, undelivered ones `retryPeriodMs` later, and returns how many. */
  deleteOlderThan(before: number): Promise<number>
}

interface DeliveryBacklog {
  readonly undelivered: number
  readonly oldestEventId: string | null
}

export interface DeliveryClaim {
  /** A name that no other process has. */
  readonly holder: string
  readonly now: number
  readonly durationMs: number
}

export interface WebhookTarget extends WebhookEndpoint {
  /** True if the last attempt succeeded. */
  readonly isSucceeding: boolean
  /** The newest first. */
  readonly secrets: readonly (Sealed & { readonly expiresAt: number | null })[]
}

export interface NewDelivery {
  readonly endpointId: number
  readonly eventId: string
  readonly eventType: EventType
  readonly teamId: number | null
  readonly body: string
}

export interface EnqueueDeliveries {
  readonly holder: string
  readonly from: EventPosition | null
  readonly to: EventPosition
  readonly now: number
  readonly deliveries: readonly NewDelivery[]
}

export interface FindDue {
  readonly now: number
  /** Each with the maximum number of its deliveries. */
  readonly endpoints: readonly { readonly id: number; readonly limit: number }[]
  /** Maximum number of deliveries. */
  readonly limit: number
}

export interface DueDelivery extends NewDelivery {
  readonly id: number
  readonly attempts: number
  readonly firstAttemptAt: number | null
}

export interface RecordAttempts extends Actor {
  readonly holder: string
  readonly now: number
  readonly attempts: readonly RecordedAttempt[]
}

export interface RecordedAttempt extends Pick<
  WebhookDeliveryDetails,
  'id' | 'endpointId' | 'teamId' | 'responseStatus' | 'errorCode' | 'signature' | 'responseHeaders'
> {
  /** Number of attempts, this one included. */
  readonly attempts: number
  readonly startedAt: number
  readonly durationMs: number
  readonly isDelivered: boolean
  /** Null if the delivery was made, or if the retry period is over. */
  readonly nextAttemptAt: number | null
}

interface ListDeliveries extends TenantScope {
  readonly endpointId: number
  readonly state: DeliveryState | null
  /** Returns only lower ids; null starts with the newest. */
  readonly beforeId: number | null
  readonly limit: number
}

interface FindDelivery extends TenantScope {
  readonly endpointId: number
  readonly id: number
}

export interface Redeliver extends TenantScope {
  readonly endpointId: number
  readonly now: number
  /** The id of a delivery, or all events at or after `since` and before `until`. */
  readonly which: { readonly deliveryId: number } | { readonly since: number; readonly until: number }
}
