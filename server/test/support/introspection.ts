import assert from 'node:assert/strict'
import { sendRequest, type HttpResponse } from './http.ts'
import { assertCommonHeaders } from './user-api.ts'

export const introspectionPath = '/oauth2/introspect'

export const formType = 'application/x-www-form-urlencoded'

/** Claims of an active token. */
export interface Claims {
  readonly active: true
  readonly token_type: string
  readonly sub: string
  readonly iat: number
  readonly exp?: number
  readonly team_id: number
  readonly name: string
  readonly api_environment_tag: string
  readonly mapping: Record<string, string> | null
  readonly data_sources: Record<string, { id: number; provided_id: string; name: string }>
  readonly properties: Record<string, unknown> | null
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
