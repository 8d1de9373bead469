import type { Store } from './store.ts'
import type { Month } from './usage/calendar.ts'
import { maxClockSkewSeconds, maxLifetimeMs } from './viewer-session/viewer-session.ts'

/** Times up to which rows have expired, in milliseconds since the Unix epoch. */
export interface Expiry {
  /** For idempotency keys and sign-in links: the time at which they expire. */
  readonly now: number
  /** For deleted user groups and finished jobs: the time of deletion, and of the end. */
  readonly deletedBefore: number
  /** For console sessions: the time of last use. */
  readonly usedBefore: number
  /** For events and webhook deliveries: the time of the change. */
  readonly changedBefore: number
  /** For usage: the month after the last expired one. */
  readonly usageBefore: Month
}

/** Deletes expired rows and returns how many. */
export async function deleteExpired(
  store: Pick<
    Store,
    | 'consoleSessions'
    | 'viewerSessions'
    | 'userGroupHistory'
    | 'usage'
    | 'jobs'
    | 'events'
    | 'webhookDeliveries'
  >,
  { now, deletedBefore, usedBefore, changedBefore, usageBefore }: Expiry,
): Promise<number> {
  return (
    (await store.userGroupHistory.deleteExpiredIdempotencyKeys(now)) +
    (await store.consoleSessions.deleteExpired(usedBefore, now)) +
    (await store.viewerSessions.deleteExpired(now - maxLifetimeMs - maxClockSkewSeconds * 1000)) +
    (await store.userGroupHistory.deleteExpired(deletedBefore)) +
    (await store.usage.deleteExpired(usageBefore)) +
    (await store.jobs.deleteFinished(deletedBefore)) +
    (await store.events.deleteOlderThan(changedBefore)) +
    (await store.webhookDeliveries.deleteOlderThan(changedBefore))
  )
}
