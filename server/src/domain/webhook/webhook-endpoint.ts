import type { Event, EventType } from '../event/event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { randomBytes } from '../util/random.ts'

/** `paused` by an administrator, `disabled` by the service because deliveries failed for too long. Deliveries then wait. */
export const webhookStates = ['active', 'paused', 'disabled'] as const

type WebhookState = (typeof webhookStates)[number]

/** A URL that receives the events of a workspace and environment. */
export interface WebhookEndpoint extends TenantScope {
  readonly id: number
  readonly name: string
  readonly url: string
  /** Empty for all types. */
  readonly eventTypes: readonly EventType[]
  readonly state: WebhookState
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** By the last attempt: `failing` also while the endpoint is paused or disabled, `unknown` before the first attempt. */
export const webhookHealths = ['ok', 'failing', 'unknown'] as const

export type WebhookHealth = (typeof webhookHealths)[number]

export function healthOfAttempts({
  lastSuccessAt,
  failingSince,
}: {
  /** Time of the last attempt that succeeded; null if there is none. */
  readonly lastSuccessAt: number | null
  /** Time of the first failed attempt after that; null if there is none. */
  readonly failingSince: number | null
}): WebhookHealth {
  if (failingSince !== null) return 'failing'
  return lastSuccessAt === null ? 'unknown' : 'ok'
}

/** Time for which the old secret signs too after a rotation, in milliseconds. */
export const defaultSecretOverlapMs = 24 * 60 * 60 * 1000
export const maxSecretOverlapMs = 30 * defaultSecretOverlapMs

/** Maximum number of replaced secrets whose overlap has not ended. */
const maxPreviousSecrets = 4

/**
 * Returns the time from which another secret can get an overlap; null if it can now. A rotation never ends the overlap of an earlier
 * one, so that a secret can be replaced at once after a planned rotation.
 * @param ends ends of the overlaps so far
 */
export function nextOverlapAt(ends: readonly number[], { now, overlapEndsAt }: OverlapTimes): number | null {
  if (overlapEndsAt <= now) return null
  const open = ends.filter((end) => end > now).toSorted((a, b) => a - b)
  return open.length < maxPreviousSecrets ? null : (open[open.length - maxPreviousSecrets] as number)
}

interface OverlapTimes {
  readonly now: number
  readonly overlapEndsAt: number
}

export const secretPrefix = 'whsec_'

/** Generates a secret of Standard Webhooks 1.0: 32 random bytes in base64, with a prefix. */
export function generateWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64')
}

/** Returns the associated data of a secret's encryption, which binds the encrypted secret to its endpoint. */
export function secretContext({ workspaceId, environment }: TenantScope, endpointId: number): string {
  return `webhook_secret/${workspaceId}/${environment}/${endpointId}`
}

/** Returns true if the endpoint receives the event. */
export function receives(
  { workspaceId, environment, eventTypes }: Pick<WebhookEndpoint, 'eventTypes' | keyof TenantScope>,
  event: Event,
): boolean {
  return (
    workspaceId === event.workspaceId &&
    environment === event.environment &&
    (eventTypes.length === 0 || eventTypes.includes(event.type))
  )
}
