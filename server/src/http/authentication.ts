import { isUsable, type ApiToken } from '../domain/api-token/api-token.ts'
import { Cache } from '../domain/util/cache.ts'
import type { Clock } from '../domain/util/clock.ts'
import { Fault } from '../domain/fault.ts'
import type { ApiTokenStore } from '../domain/api-token/api-token-store.ts'
import { hashToken, isWellFormedToken } from '../domain/token/token.ts'
import type { LastUsedRecorder } from '../domain/api-token/last-used-tracker.ts'

export interface AuthenticationDependencies {
  readonly store: { readonly apiTokens: Pick<ApiTokenStore, 'find'> }
  readonly clock: Clock
  readonly lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  /** For how long, in milliseconds, a looked-up API token is trusted, and so may outlive its revocation. */
  readonly cacheMs: number
}

/** More API tokens than any service has. */
const cacheSize = 5_000
/** Far longer than any API token with its user name; what is longer is looked up each time. */
const maxKeptMs = 512

/** How a request may carry its API token. */
const readers = {
  Token: (credentials: string) => credentials,
  /** RFC 6750. */
  Bearer: (credentials: string) => credentials,
  /** RFC 7617: any user name, and the API token as the password, which OAuth clients encode (RFC 6749, section 2.3.1). */
  Basic: (credentials: string) =>
    decoded(/^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString('latin1'))?.[1] ?? ''),
}

export type AuthenticationScheme = keyof typeof readers

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Finds out which API token a request carries (specification 5, contract "Who may call"). */
export class Authentication {
  readonly #schemes: readonly AuthenticationScheme[]
  readonly #parts: AuthenticationDependencies
  /** By the header as it was sent. Only what names an API token of the store is kept. */
  readonly #cache = new Cache<{ readonly apiToken: ApiToken; readonly until: number }>(cacheSize)

  constructor(schemes: readonly AuthenticationScheme[], parts: AuthenticationDependencies) {
    this.#schemes = schemes
    this.#parts = parts
  }

  /** What `WWW-Authenticate` says of it (RFC 9110, section 11.6.1). */
  get challenge(): string {
    return this.#schemes
      .map((scheme) => (scheme === 'Token' ? scheme : `${scheme} realm="User Group Service"`))
      .join(', ')
  }

  /**
   * Answers at once where the API token was looked up lately.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  authenticate(authorization = ''): ApiToken | Promise<ApiToken> {
    const { clock } = this.#parts
    const known = this.#cache.get(authorization)
    return known !== undefined && clock.monotonic() < known.until
      ? this.#usable(known.apiToken, clock.now())
      : this.#lookUp(authorization)
  }

  async #lookUp(authorization: string): Promise<ApiToken> {
    const { store, clock, cacheMs } = this.#parts
    const token = this.#tokenOf(authorization)
    if (token === undefined || !isWellFormedToken('api', token)) throw this.#unauthenticated()
    // What is revoked while it is looked up is not trusted for longer.
    const until = clock.monotonic() + cacheMs
    const apiToken = await store.apiTokens.find(hashToken(token))
    if (apiToken === null) throw this.#unauthenticated()
    if (authorization.length <= maxKeptMs) this.#cache.set(authorization, { apiToken, until })
    return this.#usable(apiToken, clock.now())
  }

  #tokenOf(authorization: string): string | undefined {
    const [, name = '', credentials = ''] = /^([a-z]+) +(\S+)$/i.exec(authorization) ?? []
    const scheme = this.#schemes.find((known) => known.toLowerCase() === name.toLowerCase())
    return scheme && readers[scheme](credentials)
  }

  #usable(apiToken: ApiToken, now: number): ApiToken {
    if (!isUsable(apiToken, now)) throw this.#unauthenticated()
    this.#parts.lastUsedTracker.note(apiToken)
    return apiToken
  }

  /** One answer for all causes: it tells a stranger nothing of which tokens exist. */
  #unauthenticated(): Fault {
    const [last, ...others] = [...this.#schemes].reverse().map((scheme) => `"${scheme}"`)
    const schemes = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
    return new Fault('unauthenticated', `Authorization: must be ${schemes} and a valid API token`)
  }
}
