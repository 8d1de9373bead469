import * as client from 'openid-client'
import { maxPersonTextLength } from '../../domain/principal.ts'
import { valuesIn, type RoleSettings } from '../../domain/person/roles.ts'

/** The OpenID Connect settings. */
export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client. */
  readonly clientSecret: string | null
  readonly roles: RoleSettings
}

/** Secrets of a sign-in until its callback. Only the browser keeps them. */
export interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** A person as the ID token describes them. */
export interface Identified {
  readonly sub: string
  readonly name: string
  readonly email: string | null
  /** Values of the roles claim. */
  readonly values: readonly string[]
}

const timeoutSeconds = 5

/** A sign-in that failed, with a title and a text for its page. */
export class SignInProblem extends Error {
  override readonly name = 'SignInProblem'
  readonly status: 400 | 403 | 503
  readonly title: string

  constructor(status: 400 | 403 | 503, title: string, message: string) {
    super(message)
    this.status = status
    this.title = title
  }
}

/** The identity provider, a server of OpenID Connect. */
export class IdentityProvider {
  readonly #settings: ProviderSettings
  #configuration: Promise<client.Configuration> | null = null

  constructor(settings: ProviderSettings) {
    this.#settings = settings
  }

  /** Returns the URL of the sign-in page of the provider. @throws SignInProblem */
  async signInUrl(redirectUri: string, { state, nonce, verifier }: PendingSignIn): Promise<string> {
    const configuration = await this.#discovered()
    const parameters = {
      redirect_uri: redirectUri,
      scope: this.#settings.roles.scope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    }
    try {
      return client.buildAuthorizationUrl(configuration, parameters).href
    } catch {
      throw misconfigured(
        'UGS_OIDC_ISSUER: the page /.well-known/openid-configuration of the provider has no valid "authorization_endpoint".',
      )
    }
  }

  /**
   * Exchanges the code of a callback for an ID token, and verifies signature, `iss`, `aud`, `azp`, `exp`, `nonce` and `state`.
   * @throws SignInProblem
   */
  async identify(callback: URL, { state, nonce, verifier }: PendingSignIn): Promise<Identified> {
    const configuration = await this.#discovered()
    try {
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      return this.#describe(tokens.claims() as client.IDToken)
    } catch (error) {
      if (error instanceof SignInProblem) throw error
      throw problemOf(error)
    }
  }

  async #discovered(): Promise<client.Configuration> {
    this.#configuration ??= this.#discover()
    try {
      return await this.#configuration
    } catch (error) {
      this.#configuration = null
      throw isOutage(error)
        ? unreachable()
        : misconfigured(
            `UGS_OIDC_ISSUER: ${this.#settings.issuer} does not describe itself as this issuer. Copy "issuer" from the page /.well-known/openid-configuration of the provider.`,
          )
    }
  }

  #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings
    // The option is marked as deprecated to draw attention. The settings allow http only on the same machine.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
    return client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret),
      { timeout: timeoutSeconds, execute: [...insecure, client.enableNonRepudiationChecks] },
    )
  }

  #describe(claims: client.IDToken): Identified {
    const { claim } = this.#settings.roles
    const values = valuesIn(claims, claim)
    if (values === null) {
      const isLeftOut = Object.keys((claims._claim_names as object | undefined) ?? {}).includes(claim)
      throw new SignInProblem(
        403,
        'The identity provider sent no roles',
        isLeftOut
          ? `The provider left out the claim "${claim}", because you are in too many groups. Assign roles of the application instead, and name their claim in UGS_OIDC_ROLES.`
          : `The ID token has no claim "${claim}" with a text or a list of texts, which UGS_OIDC_ROLES names. It has: ${Object.keys(claims).join(', ')}. Add the claim to the ID token at the provider, or name another one.`,
      )
    }
    if (shownText(claims.sub) !== claims.sub)
      throw new SignInProblem(
        403,
        'The identity provider sent no usable id',
        `The claim "sub" of the ID token must have 1 to ${maxPersonTextLength} characters, none of them a control character.`,
      )
    // Some providers send texts.
    const isVerified = ![false, 'false'].includes(claims.email_verified as boolean | string)
    const email = isVerified ? shownText(claims.email) : undefined
    const name = shownText(claims.name) ?? shownText(claims.preferred_username) ?? email ?? claims.sub
    return { sub: claims.sub, name, email: email ?? null, values }
  }
}

/** Returns a text without what the store or a page cannot show, and not too long; undefined if there is none. */
function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, maxPersonTextLength)
    .toWellFormed()
  return text.trim() === '' ? undefined : text
}

function misconfigured(message: string): SignInProblem {
  return new SignInProblem(503, 'The identity provider is not configured correctly', message)
}

function refusedClient(): SignInProblem {
  return misconfigured(
    'The provider refuses the client. Check UGS_OIDC_CLIENT_ID and UGS_OIDC_CLIENT_SECRET_FILE.',
  )
}

function unreachable(): SignInProblem {
  return new SignInProblem(
    503,
    'The identity provider does not respond',
    'Try again in a minute. Running sessions continue. An administrator can sign in with `ugs open` on the machine of the service.',
  )
}

/** Returns true if the provider could not be reached or failed itself. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (code === 'OAUTH_TIMEOUT' || error.name === 'TimeoutError' || error instanceof TypeError) return true
  const response = error.cause
  if (response instanceof Response) return response.status >= 500
  return response instanceof Error && isOutage(response)
}

function problemOf(error: unknown): SignInProblem {
  if (error instanceof client.AuthorizationResponseError)
    return new SignInProblem(
      403,
      'The identity provider refused the sign-in',
      `It says: ${error.error}.${hintOf(error)}`,
    )
  if (error instanceof client.ResponseBodyError) {
    const isClient = error.error === 'invalid_client' || error.error === 'unauthorized_client'
    const message = `The provider says: ${error.error}.${hintOf(error)} Sign in again.`
    return isClient ? refusedClient() : new SignInProblem(400, 'The sign-in is not valid', message)
  }
  if (isOutage(error)) return unreachable()
  const causes = causesOf(error)
  const response = causes.find((cause) => cause instanceof Response)
  if (response !== undefined) return problemOfResponse(response)
  const mistake = causes.map(mistakeIn).find((text) => text !== null)
  if (mistake !== undefined) return misconfigured(mistake)
  const wrong = causes.map(({ claim }) => claim).find((claim) => typeof claim === 'string')
  const claim = wrong === undefined ? '' : ` The claim "${wrong}" of the ID token is wrong.`
  return new SignInProblem(
    400,
    'The sign-in is not valid',
    `The response of the provider does not belong to this sign-in, or its ID token does not pass the checks.${claim} Sign in again.`,
  )
}

/** Returns the setting that an error code of the provider is about, as the end of a message. */
function hintOf({ error }: { readonly error: string }): string {
  if (error === 'invalid_scope') return ' Check "scope" in UGS_OIDC_ROLES.'
  if (error === 'unauthorized_client') return ' Check UGS_OIDC_CLIENT_ID.'
  if (error === 'redirect_uri_mismatch') return ' Check UGS_PUBLIC_URL and the redirect URI at the provider.'
  return ''
}

/** Returns the problem of an unexpected response to the request for the ID token or the keys of the provider. */
function problemOfResponse({ status }: Response): SignInProblem {
  if (status === 401 || status === 403) return refusedClient()
  if (status === 429) return unreachable()
  return misconfigured(
    `UGS_OIDC_ISSUER: a page that the provider names in /.well-known/openid-configuration has no JSON, or the status ${status}. Check "token_endpoint" and "jwks_uri" there.`,
  )
}

type Cause = Partial<Record<'body' | 'cause' | 'claim' | 'code' | 'header', unknown>>

/** Returns an error and its causes. */
function causesOf(error: unknown): Cause[] {
  if (typeof error !== 'object' || error === null) return []
  return [error, ...causesOf((error as Cause).cause)]
}

/** Returns the mistake of the provider's settings that a cause shows, or null. */
function mistakeIn({ body, code, header }: Cause): string | null {
  if (code === 'OAUTH_KEY_SELECTION_FAILED')
    return 'The keys at the "jwks_uri" of UGS_OIDC_ISSUER have none for the ID token.'
  if (typeof header === 'object' && header !== null && 'alg' in header && typeof header.alg === 'string')
    return `The ID token is signed with "${header.alg}". Let the provider sign the ID tokens of UGS_OIDC_CLIENT_ID with RS256.`
  if (typeof body === 'object' && body !== null && !('id_token' in body))
    return 'The provider sent no ID token. Check "scope" in UGS_OIDC_ROLES, and that UGS_OIDC_CLIENT_ID is a client of OpenID Connect.'
  return null
}
