import assert from 'node:assert/strict'
import { sendRequest, type HttpResponse } from './http.ts'
import { oauthCodeOf } from '../../src/contract/errors.ts'
import { assertCommonHeaders, statusOf, type ErrorCode } from './user-api.ts'

export const introspectionPath = '/oauth2/introspect'
export const revocationPath = '/oauth2/revoke'

export const formType = 'application/x-www-form-urlencoded'

/** Claims of an active token. */
export interface Claims {
  readonly active: true
  readonly token_type: string
  readonly sub: string
  readonly iat: number
  readonly exp?: number
  readonly jti?: string
  readonly team_id: number
  readonly name: string
  readonly api_environment_tag: string
  readonly mapping: Record<string, string> | null
  readonly data_sources: Record<
    string,
    { id: number; provided_id: string; name: string; schema: { id: number; provided_id: string } }
  >
  readonly properties: Record<string, unknown> | null
  readonly viewer?: object
}

/** Introspects a token with an API token. */
export type Introspect = (token: string, parameters?: Record<string, string>) => Promise<HttpResponse>

export function introspector(origin: string, apiToken: string): Introspect {
  return (token, parameters = {}) =>
    sendIntrospection(origin, {
      token: apiToken,
      body: new URLSearchParams({ token, ...parameters }).toString(),
    })
}

/** Sends one request with a form. */
export function sendIntrospection(
  origin: string,
  { headers = {}, ...rest }: Parameters<typeof sendRequest>[1],
): Promise<HttpResponse> {
  return sendRequest(origin, {
    ...{ method: 'POST', path: introspectionPath },
    ...{ headers: { 'content-type': formType, ...headers } },
    ...rest,
  })
}

/** Returns an `Authorization` header after RFC 7617. */
export function basic(userName: string, password: string): string {
  return `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`
}

function assertIntrospection(response: HttpResponse): void {
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
}

/** Asserts that the response is about an active token, and returns its claims. */
export function assertActive(response: HttpResponse): Claims {
  assertIntrospection(response)
  const claims = response.body as Claims
  assert.equal(claims.active, true, response.text)
  return claims
}

/** Asserts that the response says only that the token is not active. */
export function assertInactive(response: HttpResponse): void {
  assertIntrospection(response)
  assert.equal(response.text, '{"active":false}')
}

/** Asserts the whole shape of an error of an OAuth endpoint, and that its description has each name. */
export function assertOAuthFault(
  response: HttpResponse,
  code: ErrorCode,
  names: readonly string[] = [],
): { message: string } {
  const body = response.body as { error: string; error_description: string; request_id: string }
  assert.deepEqual([response.status, body.error], [statusOf[code], oauthCodeOf(code)], response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  assert.deepEqual(Object.keys(body), ['error', 'error_description', 'request_id'])
  assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
  assert.doesNotMatch(response.text, /ug[at]_(customer|testing)_\w|\bat .*:\d+:\d+|SQLITE|node:internal/)
  assert.equal(body.request_id, response.headers['x-request-id'])
  for (const name of names) assert.ok(body.error_description.includes(`${name}: `), response.text)
  return { message: body.error_description }
}
