const hourMs = 60 * 60 * 1000

/** Time from the first attempt after which a failing delivery disables its endpoint, in milliseconds. */
export const retryPeriodMs = 72 * hourMs

const firstPauseMs = 5000
const maxPauseMs = 8 * hourMs
const factor = 3

/**
 * Returns the time of the next attempt after a failure; null if the retry period is over. The pause grows from 5 seconds to 8 hours,
 * of which up to half is left out at random, and is as long as the receiver asked for. The last attempt is at the end of the period.
 * @param random from 0 to 1
 */
export function nextAttemptAt(
  { attempts, firstAttemptAt, now, retryAfterMs = 0 }: FailedAttempts,
  random: number,
): number | null {
  const end = firstAttemptAt + retryPeriodMs
  if (now >= end) return null
  const pause = Math.min(firstPauseMs * factor ** (attempts - 1), maxPauseMs)
  return Math.min(now + Math.max(Math.round(pause * (1 - random / 2)), retryAfterMs), end)
}

interface FailedAttempts {
  /** Number of attempts, at least 1. */
  readonly attempts: number
  readonly firstAttemptAt: number
  readonly now: number
  /** Wait that the receiver asked for (`Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number | undefined
}
