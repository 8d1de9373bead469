import type { Environment } from '../environment.ts'
import type { JsonText } from '../json/json-text.ts'
import { randomBytes } from '../util/random.ts'

/** Whose call it was: an API token's, by its id, or an operator's, by the name of the system's user. */
export type Author = `api_token:${number}` | `cli:${string}`

/** Who asks for a change. */
export interface Actor {
  readonly author: Author
  /** Of the HTTP request; null where there was none. */
  readonly requestId: string | null
}

export const auditActions = [
  'user_group.created',
  'user_group.updated',
  'user_group.token_rotated',
  'user_group.grace_period_ended',
  'user_group.suspended',
  'user_group.resumed',
  'user_group.deleted',
  'user_group.restored',
  'api_token.created',
  'api_token.rotated',
  'api_token.limited',
  'api_token.revoked',
  'workspace.created',
  'schema.created',
  'schema.deleted',
  'data_source.created',
  'data_source.deleted',
  'console_session.created',
  'audit_log.pruned',
] as const

/** What was changed, and how. */
export type AuditAction = (typeof auditActions)[number]

/** One change, as it is kept in the transaction that made it. It never holds a secret. */
export interface AuditEvent extends Actor {
  /** A UUID of version 7 (RFC 9562): its time is when the change was made, so that ids are in the order of time. */
  readonly eventId: string
  readonly workspaceId: number
  readonly environment: Environment
  readonly action: AuditAction
  /** Whose it was, where it was a user group's. */
  readonly userGroup: { readonly teamId: number; readonly providedId: string } | null
  /** An object, by the action: the fields that were changed, the id of what was made, and the like. */
  readonly details: JsonText | null
}

/** How many events this process has told of, by the millisecond, for the latest of those. */
const sequences = new Map<number, number>()
/** Of changes that are under way at once, the times are not in order. */
const sequencesKept = 16

/** An id for an event at `now`, after all that this process has made for the same millisecond, up to 4,096 of them. */
export function newEventId(now: number): string {
  const sequence = (sequences.get(now) ?? -1) + 1
  sequences.set(now, sequence % 4096)
  if (sequences.size > sequencesKept) sequences.delete(sequences.keys().next().value as number)
  const random = randomBytes(8)
  random[0] = ((random[0] as number) & 0x3f) | 0x80
  const hex = random.toString('hex')
  const time = hexOf(now, 12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hexOf(sequence % 4096, 3)}-${hex.slice(0, 4)}-${hex.slice(4)}`
}

/** Milliseconds since the Unix epoch. */
export function timeOfEvent(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16)
}

export function isEventId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)
}

/** What is before all ids of events at `time` or later, and after all others. */
export function firstEventId(time: number): string {
  const hex = hexOf(Math.min(Math.max(time, 0), 2 ** 48 - 1), 12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function hexOf(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
