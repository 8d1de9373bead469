import type { ApiToken } from '../domain/api-token/api-token.ts'
import { LastUsedTracker } from '../domain/api-token/last-used-tracker.ts'
import { type RateLimit } from '../domain/api-token/rate-limit.ts'
import { RateLimiter } from '../domain/api-token/rate-limiter.ts'
import type { Store } from '../domain/store.ts'
import type { IntrospectedUserGroup } from '../domain/user-group/introspection-store.ts'
import { systemClock } from '../domain/util/clock.ts'
import type { Warn } from './warnings.ts'

/** Collects the uses of API tokens and user group tokens in memory, and writes them to the store. */
export class UsageRecording {
  readonly introspections: LastUsedTracker<IntrospectedUserGroup>
  readonly lastUsedTracker: LastUsedTracker<Pick<ApiToken, 'id'>>
  readonly rateLimiter: RateLimiter
  readonly #store: Store
  readonly #warn: Warn

  constructor(store: Store, rateLimit: RateLimit | null, warn: Warn) {
    this.#store = store
    this.#warn = warn
    this.introspections = new LastUsedTracker({
      clock: systemClock,
      idOf: ({ teamId }) => teamId,
      record: (uses) =>
        store.introspections.record(uses.map(({ of, usedAt }) => ({ ...of, introspectedAt: usedAt }))),
      onLoss: warn('The times of introspections could not be written'),
    })
    this.lastUsedTracker = new LastUsedTracker({
      clock: systemClock,
      idOf: ({ id }) => id,
      record: (uses) => store.apiTokens.recordUses(uses.map(({ of, usedAt }) => ({ id: of.id, usedAt }))),
      onLoss: warn('The times of last use of API tokens could not be written'),
    })
    this.rateLimiter = new RateLimiter(rateLimit, systemClock)
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
