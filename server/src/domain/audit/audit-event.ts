import type { Environment } from '../environment.ts'
import { withoutTokens } from '../fault.ts'
import type { JsonText } from '../json/json-text.ts'
import { randomBytes } from '../util/random.ts'

/**
 * The author of a change: an API token, by its id, a person in the console, by their id at the identity provider, an operator at the
 * command line, by the system user's name, or the service itself.
 */
export type Author = `api_token:${number}` | `person:${string}` | `cli:${string}` | 'service'

/** The author of a change and the request that made it. */
export interface Actor {
  readonly author: Author
  /** The id of the HTTP request, with its client as of `requestIdWithClient`; null for the command line. */
  readonly requestId: string | null
}

/** Maximum length of a User-Agent that is kept, in characters. */
const maxUserAgentLength = 255

/** Returns the id of a request for the audit log: followed by the address of its client and its User-Agent, with spaces between them. */
export function requestIdWithClient(id: string, address: string, userAgent = ''): string {
  return `${id} ${address} ${withoutTokens(userAgent.slice(0, 2 * maxUserAgentLength)).slice(0, maxUserAgentLength)}`.trimEnd()
}

/** Returns the parts of a request id; null for those that it lacks. */
export function readRequestId({ requestId }: Pick<Actor, 'requestId'>) {
  const [, id = null, clientAddress = null, userAgent = null] =
    /^(\S+)(?: (\S+)(?: (.+))?)?$/s.exec(requestId ?? '') ?? []
  return { requestId: id, clientAddress, userAgent }
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
  'user_group.erased',
  'user_group.sessions_ended',
  'user_group.viewed_as',
  'api_token.created',
  'api_token.rotated',
  'api_token.limited',
  'api_token.revoked',
  'isolation_finding.accepted',
  'isolation_finding.reopened',
  'signing_key.created',
  'signing_key.rotated',
  'signing_key.retired',
  'workspace.created',
  'schema.created',
  'schema.updated',
  'schema.deleted',
  'data_source.created',
  'data_source.updated',
  'data_source.deleted',
  'webhook_endpoint.created',
  'webhook_endpoint.updated',
  'webhook_endpoint.secret_rotated',
  'webhook_endpoint.disabled',
  'webhook_endpoint.deleted',
  'job.created',
  'job.canceled',
  'console_session.created',
  'console_session.ended',
  'sign_in_link.created',
  'usage.erased',
  'audit_log.exported',
  'audit_log.pruned',
] as const

/** The kind of change. */
export type AuditAction = (typeof auditActions)[number]

/** The record of one change, written in the same transaction. It never contains a secret. */
export interface AuditEvent extends Actor {
  /** A version 7 UUID (RFC 9562) with the time of the change, so that ids sort by time. */
  readonly eventId: string
  readonly workspaceId: number
  readonly environment: Environment
  readonly action: AuditAction
  /** The changed user group; null for a change of anything else. */
  readonly userGroup: { readonly teamId: number; readonly providedId: string } | null
  /** A JSON object that depends on the action, for example the changed fields or the id of a created API token. */
  readonly details: JsonText | null
}

/** Last sequence number by millisecond, for the latest milliseconds. */
const sequences = new Map<number, number>()
/** Maximum size of `sequences`. More than one, because concurrent changes get their ids out of order. */
const maxSequences = 16

/** Creates an event id for `now`. Ids of the same process and millisecond are in order, up to 4,096 of them. */
export function newEventId(now: number): string {
  const sequence = (sequences.get(now) ?? -1) + 1
  sequences.set(now, sequence % 4096)
  if (sequences.size > maxSequences) sequences.delete(sequences.keys().next().value as number)
  const random = randomBytes(8)
  random[0] = ((random[0] as number) & 0x3f) | 0x80
  const hex = random.toString('hex')
  const time = hexOf(now, 12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hexOf(sequence % 4096, 3)}-${hex.slice(0, 4)}-${hex.slice(4)}`
}

/** Returns the time of an event, in milliseconds since the Unix epoch. */
export function timeOfEvent(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16)
}

export function isEventId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)
}

/** Returns the lowest possible id of an event at `time`. */
export function firstEventId(time: number): string {
  const hex = hexOf(Math.min(Math.max(time, 0), 2 ** 48 - 1), 12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function hexOf(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
