import type { DeliveryState } from './webhook-delivery.ts'
import type { DeliveryClaim, RecordedAttempt } from './webhook-delivery-store.ts'

export interface Leader {
  /** The process that delivers; null if there is none. */
  readonly holder: string | null
  readonly expiresAt: number
}

/** Decides whether a process can become or stay the leader. `keep`: its claim is not old; each write costs a flush to disk. */
export function decideClaim(
  leader: Leader,
  { holder, now, durationMs }: DeliveryClaim,
): 'claim' | 'keep' | 'refuse' {
  const isOwn = leader.holder === holder
  if (!isOwn && leader.expiresAt > now) return 'refuse'
  return isOwn && leader.expiresAt >= now + durationMs / 2 ? 'keep' : 'claim'
}

/**
 * Returns the state of a delivery after an attempt. After the last one, the endpoint is disabled, and the retry period begins
 * again when it becomes active.
 */
export function recordedState({ isDelivered, nextAttemptAt, startedAt }: RecordedAttempt) {
  const isLast = !isDelivered && nextAttemptAt === null
  const state: DeliveryState = isDelivered ? 'delivered' : 'failing'
  return { state, isLast, nextAttemptAt: isLast ? startedAt : nextAttemptAt }
}

/** Returns the time of the last success and of the first failure after it, for each endpoint. */
export function attemptsByEndpoint(attempts: readonly RecordedAttempt[]) {
  const found = new Map<number, { succeededAt: number | null; failedAt: number | null }>()
  for (const { endpointId, isDelivered, startedAt } of attempts) {
    const before = found.get(endpointId)
    found.set(
      endpointId,
      isDelivered
        ? { succeededAt: startedAt, failedAt: null }
        : { succeededAt: before?.succeededAt ?? null, failedAt: before?.failedAt ?? startedAt },
    )
  }
  return [...found].map(([endpointId, times]) => ({ endpointId, ...times }))
}
