import type { IncomingMessage } from 'node:http'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import { maxTokenBytes } from '../../domain/viewer-session/viewer-session.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import { validationFailed, type FaultCode } from '../../domain/fault.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { authorize } from '../authorization.ts'
import { scopesFor, type OAuthOperation } from '../operations.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import type { RequestContext } from '../request-context.ts'

const formType = 'application/x-www-form-urlencoded'
/** Maximum size of a body that is read before its client is authenticated, in bytes. */
const maxAnonymousBytes = 16 * 1024
/** Length up to which a parameter is read. No valid one is as long. */
const maxParameterLength = maxTokenBytes + 1000
const parameterNames = ['token', 'resource', 'token_type_hint', 'client_id', 'client_secret']
/** Matches the parameters with these names, percent-encoded or not. URLSearchParams takes long for a million others. */
const parameters = new RegExp(
  `(?<![^&])(?:${parameterNames.map(patternOf).join('|')})(?:=[^&]*)?(?![^&])`,
  'g',
)

export interface OAuthClientsDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number
}

/**
 * Authenticates the clients of the OAuth endpoints. The API token is in `Authorization`, or it is `client_secret` in the form
 * (`client_secret_post`; RFC 6749, section 2.3.1).
 */
export class OAuthClients {
  readonly #authentication: Authentication
  readonly #rateLimiter: RateLimiter
  readonly #bodyLimit: number

  constructor({ authentication, rateLimiter, bodyLimit }: OAuthClientsDependencies) {
    this.#authentication = new Authentication(['Token', 'Bearer', 'Basic'], authentication)
    this.#rateLimiter = rateLimiter
    this.#bodyLimit = bodyLimit
  }

  /** Returns the value of `WWW-Authenticate`. A request without credentials gets no error code (RFC 6750, section 3.1). */
  challenge(operation: OAuthOperation, code: FaultCode, { headers }: IncomingMessage): string | undefined {
    if (code === 'forbidden') {
      const scope = scopesFor(operation).join(' ')
      return this.#authentication.challengeWith(`, error="insufficient_scope", scope="${scope}"`)
    }
    if (code !== 'unauthenticated') return undefined
    return this.#authentication.challengeWith(
      headers.authorization === undefined ? '' : ', error="invalid_token"',
    )
  }

  /** Checks the client and its scope, reads the form, and calls `work`. @throws the errors of `work`, and Faults */
  async handle(
    context: RequestContext,
    operation: OAuthOperation,
    work: (apiToken: ApiToken, body: Buffer) => Promise<string>,
  ): Promise<string> {
    const { raw } = context
    const { authorization } = raw.headers
    if (authorization === undefined) return this.#handleSecretInForm(context, operation, work)
    const apiToken = await context.permit.during(() => this.#authentication.authenticate(authorization))
    authorize(context, context, { principal: apiToken, operation }, this.#rateLimiter)
    checkBodyHeaders(raw, formType, this.#bodyLimit)
    return withBody(context, this.#bodyLimit, (body) =>
      work(apiToken, mayHaveSecret(body) ? this.#withoutSecret(body, authorization) : body),
    )
  }

  /**
   * Returns the form without its secret, which some gateways send in addition to `Authorization`.
   * @throws Fault `validation_failed` if it is another one (RFC 6749, section 2.3, allows one way to authenticate)
   */
  #withoutSecret(body: Buffer, authorization: string): Buffer {
    const form = readForm(body)
    const secret = form.get('client_secret') ?? ''
    if (secret !== '' && secret !== this.#authentication.secretIn(authorization)) {
      const message = 'must be the API token in Authorization if both are sent'
      throw validationFailed([{ path: '/client_secret', message }])
    }
    return withoutSecret(form)
  }

  async #handleSecretInForm(
    context: RequestContext,
    operation: OAuthOperation,
    work: (apiToken: ApiToken, body: Buffer) => Promise<string>,
  ): Promise<string> {
    try {
      checkBodyHeaders(context.raw, formType, maxAnonymousBytes)
    } catch {
      throw this.#authentication.unauthenticated()
    }
    return withBody(context, maxAnonymousBytes, async (body) => {
      const form = readForm(body)
      const apiToken = await this.#authentication.authenticateSecret(form.get('client_secret') ?? '')
      authorize(context, context, { principal: apiToken, operation }, this.#rateLimiter)
      return work(apiToken, withoutSecret(form))
    })
  }
}

/**
 * Returns the parameters `token` and `resource`, which is null if absent. Empty parameters count as absent, and unknown ones are ignored (RFC 6749, section 3.2).
 * @throws Fault `validation_failed`
 */
export function readIntrospectionForm(body: Buffer): {
  readonly token: string
  readonly resource: string | null
} {
  const form = readForm(body)
  const token = form.get('token')
  if (!token) throw validationFailed([{ path: '/token', message: 'is required' }])
  const resource = form.get('resource')
  return { token, resource: resource === '' ? null : resource }
}

/** Returns whether a form may have the parameter, which every introspection asks: a name may be percent-encoded, a token is not. */
function mayHaveSecret(body: Buffer): boolean {
  return body.includes('client_secret') || body.includes('%')
}

/** Responses are cached by body: none may depend on the secret, or keep it in memory. */
function withoutSecret(form: URLSearchParams): Buffer {
  form.delete('client_secret')
  return Buffer.from(form.toString())
}

/**
 * Returns the parameters that the service knows.
 * @throws Fault `validation_failed` if one occurs twice
 */
function readForm(body: Buffer): URLSearchParams {
  const form = new URLSearchParams()
  for (const [parameter] of body.toString('latin1').matchAll(parameters)) {
    for (const [name, value] of new URLSearchParams(parameter.slice(0, maxParameterLength))) {
      if (form.has(name)) throw validationFailed([{ path: `/${name}`, message: 'is given more than once' }])
      form.append(name, value)
    }
  }
  return form
}

function patternOf(name: string): string {
  return Array.from(name, (character) => {
    const digits = character.charCodeAt(0).toString(16)
    return `(?:${character}|%${digits}|%${digits.toUpperCase()})`
  }).join('')
}
