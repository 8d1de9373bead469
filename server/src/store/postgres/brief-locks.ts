import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'

/** Maximum wait for a lock on a table, in milliseconds. Requests queue behind it, and fail after `UGS_LOCK_TIMEOUT_MS`. */
const lockTimeoutMs = 500
const retryAfterMs = 500

const lockNotAvailable = '55P03'
/** A migration limits the time for several locks by the statement timeout. */
const statementTimedOut = '57014'
const deadlockDetected = '40P01'

/**
 * Runs `work`, which alters tables in use, as one transaction without time limit. If a table is locked for too long, reports that, lets
 * the requests pass that wait for it, and retries.
 */
export async function withBriefLocks(
  primary: PrimaryPool,
  work: (query: Query) => Promise<void>,
  onLocked?: () => void,
): Promise<void> {
  for (;;) {
    try {
      await primary.transaction(async (query) => {
        await query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
        await work(query)
      }, 'none')
      return
    } catch (error) {
      if (![deadlockDetected, lockNotAvailable, statementTimedOut].some((state) => isOfState(error, state)))
        throw error
      onLocked?.()
    }
    await sleep(retryAfterMs)
  }
}

function isOfState(error: unknown, state: string): boolean {
  return error instanceof PostgresFailure && error.code === state
}
