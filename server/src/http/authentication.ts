import { isUsable, type ApiToken } from '../domain/api-token/api-token.ts'
import { Cache } from '../domain/util/cache.ts'
import type { Clock } from '../domain/util/clock.ts'
import { Fault, WrongCredentials } from '../domain/fault.ts'
import type { ApiTokenStore } from '../domain/api-token/api-token-store.ts'
import { hashToken, isWellFormedApiToken } from '../domain/token/token.ts'
import type { LastUsedRecorder } from '../domain/api-token/last-used-tracker.ts'

export interface AuthenticationDependencies {
  readonly store: { readonly apiTokens: Pick<ApiTokenStore, 'find'> }
  readonly clock: Clock
  readonly lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  /** Time that a looked-up API token is trusted, in milliseconds. A token that another process revoked may work for that long. */
  readonly cacheMs: number
  /** Ids of the API tokens that this process revoked. They stop at once, although they may be cached. */
  readonly revokedIds: ReadonlySet<number>
}

/** Maximum number of cached API tokens, more than a service has. */
const cacheSize = 5_000
/** Maximum length of a cached `Authorization` header, in characters. */
const maxHeaderLength = 512

const realm = 'realm="User Group Service"'

/** Extracts the API token from the credentials of each scheme. */
const readers = {
  Token: (credentials: string) => credentials,
  /** RFC 6750. */
  Bearer: (credentials: string) => credentials,
  /** RFC 7617: any user name, and the API token as the password. OAuth clients encode both (RFC 6749, section 2.3.1). */
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

/** Authenticates requests by their API token (specification 5, contract "Who may call"). */
export class Authentication {
  readonly #schemes: readonly AuthenticationScheme[]
  readonly #dependencies: AuthenticationDependencies
  /** API tokens of the store by the `Authorization` header. */
  readonly #cache = new Cache<{ readonly apiToken: ApiToken; readonly until: number }>(cacheSize)

  constructor(schemes: readonly AuthenticationScheme[], dependencies: AuthenticationDependencies) {
    this.#schemes = schemes
    this.#dependencies = dependencies
  }

  /** Value of `WWW-Authenticate` (RFC 9110, section 11.6.1). */
  get challenge(): string {
    return this.challengeWith('')
  }

  /** @param ofBearer further parameters of `Bearer` (RFC 6750, section 3) */
  challengeWith(ofBearer: string): string {
    const parameters = { Token: '', Bearer: ` ${realm}${ofBearer}`, Basic: ` ${realm}` }
    return this.#schemes.map((scheme) => scheme + parameters[scheme]).join(', ')
  }

  /**
   * Returns the API token, synchronously if it is cached.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  authenticate(authorization = ''): ApiToken | Promise<ApiToken> {
    const { clock } = this.#dependencies
    const cached = this.#cache.get(authorization)
    return cached !== undefined && clock.monotonic() < cached.until
      ? this.#usable(cached.apiToken, authorization)
      : this.#lookUp(authorization)
  }

  /** Makes the next request with this `Authorization` header ask the store, because its API token may have been revoked. */
  distrust(authorization: string): void {
    this.#cache.delete(authorization)
  }

  /**
   * Returns the API token that a client sent as its secret in a form, without a scheme.
   * @throws Fault `unauthenticated`, `unavailable`
   */
  authenticateSecret(secret: string): ApiToken | Promise<ApiToken> {
    return this.authenticate(secret === '' ? '' : `Token ${secret.replaceAll(/\s/g, '?')}`)
  }

  async #lookUp(authorization: string): Promise<ApiToken> {
    const { store, clock, cacheMs } = this.#dependencies
    const token = this.secretIn(authorization)
    if (token === undefined || !isWellFormedApiToken(token)) throw this.unauthenticated(authorization)
    // Set before the lookup, so that a token that is revoked meanwhile is not trusted for longer.
    const until = clock.monotonic() + cacheMs
    const apiToken = await store.apiTokens.find(hashToken(token))
    if (apiToken === null) throw this.unauthenticated(authorization)
    if (authorization.length <= maxHeaderLength) this.#cache.set(authorization, { apiToken, until })
    return this.#usable(apiToken, authorization)
  }

  /** Returns what a header carries as API token, which may be wrong; undefined if it has another form. */
  secretIn(authorization: string): string | undefined {
    const [, name = '', credentials = ''] = /^([a-z]+) +(\S+)$/i.exec(authorization) ?? []
    const scheme = this.#schemes.find((known) => known.toLowerCase() === name.toLowerCase())
    return scheme && readers[scheme](credentials)
  }

  #usable(apiToken: ApiToken, authorization: string): ApiToken {
    const { clock, revokedIds, lastUsedTracker } = this.#dependencies
    if (revokedIds.has(apiToken.id) || !isUsable(apiToken, clock.now()))
      throw this.unauthenticated(authorization)
    lastUsedTracker.note(apiToken)
    return apiToken
  }

  /** Returns the same fault for all wrong credentials, so that strangers cannot find out which tokens exist. */
  unauthenticated(authorization = ''): Fault {
    const [last, ...others] = [...this.#schemes].reverse().map((scheme) => `"${scheme}"`)
    const schemes = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
    const message = `Authorization: must be ${schemes} and a valid API token`
    // Some clients send credentials only after a 401.
    return authorization === '' ? new Fault('unauthenticated', message) : new WrongCredentials(message)
  }
}
