import type { ApiToken } from '../domain/api-token/api-token.ts'
import { LastUsedTracker } from '../domain/api-token/last-used-tracker.ts'
import { type RateLimit } from '../domain/api-token/rate-limit.ts'
import { RateLimiter } from '../domain/api-token/rate-limiter.ts'
import type { Store } from '../domain/store.ts'
import { dayOf } from '../domain/usage/calendar.ts'
import type { Look, UsageMode } from '../domain/usage/look.ts'
import { MarkRecorder } from '../domain/usage/mark-recorder.ts'
import type { Clock } from '../domain/util/clock.ts'
import type { Warn } from './warnings.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly usageMode: UsageMode
  readonly rateLimit: RateLimit | null
  readonly warn: Warn
}

/** Collects introspections and the uses of API tokens in memory, and writes them to the store. */
export class UsageRecording {
  readonly usageMode: UsageMode
  readonly introspections: LastUsedTracker<Look>
  readonly marks: MarkRecorder
  readonly lastUsedTracker: LastUsedTracker<Pick<ApiToken, 'id'>>
  readonly rateLimiter: RateLimiter
  readonly #store: Store
  readonly #warn: Warn

  constructor({ store, clock, usageMode, rateLimit, warn }: Parts) {
    this.usageMode = usageMode
    this.#store = store
    this.#warn = warn
    this.marks = new MarkRecorder(store)
    this.introspections = new LastUsedTracker({
      clock,
      idOf: ({ id }) => id,
      record: async (uses) => {
        await store.introspections.record(uses.map(({ of, usedAt }) => ({ ...of, introspectedAt: usedAt })))
        if (usageMode !== 'off')
          await this.marks.record(
            uses.map(({ of, usedAt }) => ({ look: of, day: dayOf(usedAt), seenAt: usedAt })),
          )
      },
      onFailure: warn('Introspections could not be written'),
    })
    this.lastUsedTracker = new LastUsedTracker({
      clock,
      idOf: ({ id }) => id,
      record: (uses) => store.apiTokens.recordUses(uses.map(({ of, usedAt }) => ({ id: of.id, usedAt }))),
      onFailure: warn('The times of last use of API tokens could not be written'),
    })
    this.rateLimiter = new RateLimiter(rateLimit, clock)
  }

  async writeLastUses(): Promise<void> {
    await Promise.all([this.introspections.write(), this.lastUsedTracker.write()])
  }

  /** Exchanges usage reports with the other processes, so that they share the rate limits. */
  async shareRateLimits(): Promise<void> {
    await this.rateLimiter
      .share((usageReports) => this.#store.apiTokens.reportUsage(usageReports))
      .catch(this.#warn('Rate limits could not be shared with other processes'))
  }
}
