import { isUsable, type ApiToken } from '../domain/api-token.ts'
import type { Clock } from '../domain/clock.ts'
import { Fault } from '../domain/fault.ts'
import type { Store } from '../domain/store.ts'
import { hashToken, isWellFormedToken } from '../domain/token.ts'

export interface AuthenticationParts {
  readonly store: Pick<Store, 'findApiToken'>
  readonly clock: Clock
  /** For how long, in milliseconds, a looked-up API token is trusted, and so may outlive its revocation. */
  readonly cacheMs: number
}

/** More API tokens than any service has; beyond it the cache starts over rather than grow. */
const cacheSize = 10_000

/** Finds out which API token a request carries (specification 5, contract "Who may call"). */
export class Authentication {
  readonly #parts: AuthenticationParts
  readonly #cache = new Map<string, { readonly apiToken: ApiToken; readonly until: number }>()

  constructor(parts: AuthenticationParts) {
    this.#parts = parts
  }

  /**
   * Answers at once where the API token was looked up lately.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  authenticate(authorization: string | undefined): ApiToken | Promise<ApiToken> {
    const token = /^token +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined || !isWellFormedToken('api', token)) throw unauthenticated()
    const hash = hashToken(token)
    const key = hash.toString('latin1')
    const now = this.#parts.clock.now()
    const known = this.#cache.get(key)
    // A clock that was set back does not make the trust last longer.
    if (known !== undefined && now < known.until && now >= known.until - this.#parts.cacheMs) {
      return usable(known.apiToken, now)
    }
    return this.#lookUp(hash, key)
  }

  async #lookUp(hash: Buffer, key: string): Promise<ApiToken> {
    const apiToken = await this.#parts.store.findApiToken(hash)
    if (apiToken === null) throw unauthenticated()
    const now = this.#parts.clock.now()
    if (this.#cache.size >= cacheSize) this.#cache.clear()
    this.#cache.set(key, { apiToken, until: now + this.#parts.cacheMs })
    return usable(apiToken, now)
  }
}

function usable(apiToken: ApiToken, now: number): ApiToken {
  if (!isUsable(apiToken, now)) throw unauthenticated()
  return apiToken
}

/** One answer for all causes: it tells a stranger nothing of which tokens exist. */
function unauthenticated(): Fault {
  return new Fault('unauthenticated', 'Authorization: must be "Token" and a valid API token')
}
