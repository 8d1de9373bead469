import type { Store } from './store.ts'
import { maxClockSkewSeconds, maxLifetimeMs } from './viewer-session/viewer-session.ts'

/** Times up to which rows have expired, in milliseconds since the Unix epoch. */
export interface Expiry {
  /** For idempotency keys and sign-in links: the time at which they expire. */
  readonly now: number
  /** For deleted user groups: the time of deletion. */
  readonly deletedBefore: number
  /** For console sessions: the time of last use. */
  readonly usedBefore: number
  /** For events and webhook deliveries: the time of the change. */
  readonly changedBefore: number
}

/** Deletes expired rows and returns how many. */
export async function deleteExpired(
  store: Pick<
    Store,
    'userGroups' | 'sessions' | 'viewerSessions' | 'userGroupHistory' | 'events' | 'webhookDeliveries'
  >,
  { now, deletedBefore, usedBefore, changedBefore }: Expiry,
): Promise<number> {
  return (
    (await store.userGroups.deleteExpiredIdempotencyKeys(now)) +
    (await store.sessions.deleteExpired(usedBefore, now)) +
    (await store.viewerSessions.deleteExpired(now - maxLifetimeMs - maxClockSkewSeconds * 1000)) +
    (await store.userGroupHistory.deleteExpired(deletedBefore)) +
    (await store.events.deleteOlderThan(changedBefore)) +
    (await store.webhookDeliveries.deleteOlderThan(changedBefore))
  )
}
