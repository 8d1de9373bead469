import type { AuditAction } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'

/** Types of events: the audit actions that can change what a token means, and the creation of a user group. */
export const eventTypes = [
  'user_group.created',
  'user_group.updated',
  'user_group.token_rotated',
  'user_group.grace_period_ended',
  'user_group.suspended',
  'user_group.resumed',
  'user_group.deleted',
  'user_group.restored',
  'user_group.sessions_ended',
  'schema.created',
  'schema.updated',
  'schema.deleted',
  'data_source.created',
  'data_source.updated',
  'data_source.deleted',
  'api_token.revoked',
  'signing_key.retired',
] as const satisfies readonly AuditAction[]

export type EventType = (typeof eventTypes)[number]

export function isEventType(action: AuditAction): action is EventType {
  return (eventTypes as readonly AuditAction[]).includes(action)
}

/** A change, written in the same transaction. It contains no token and no properties. */
export interface Event extends TenantScope {
  /** The id of the audit event, a version 7 UUID (RFC 9562) with the time of the change. */
  readonly eventId: string
  readonly type: EventType
  /** The user group; null for a change that concerns the whole environment. */
  readonly userGroup: { readonly teamId: number; readonly providedId: string } | null
  /** The revision of the user group after the change; null if there is no user group. */
  readonly revision: number | null
  /** SHA-256 of the only token whose meaning changed; null if all tokens of the user group or environment are concerned. */
  readonly tokenHash: Uint8Array | null
}

/**
 * A place in the order of all events of a store: the id of the store, a hyphen, and numbers that increase. Positions of one store are
 * ordered by their numbers, from left to right. Clients may compare them, but not compute them.
 */
export type EventPosition = string

/** Returns whether a text has the form of a position. */
export function isEventPosition(text: string): boolean {
  return /^[\da-z]{8}-\d{1,20}(\.\d{1,20}){0,2}$/.test(text)
}

/** Compares two positions of one store. Returns a negative number if `a` is earlier. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  const [first, second] = [a, b].map((position) => position.slice(9).split('.').map(BigInt))
  for (const [i, number] of (first ?? []).entries()) {
    const other = second?.[i] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  return 0
}
