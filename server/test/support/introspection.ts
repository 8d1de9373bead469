import assert from 'node:assert/strict'
import { call, type Answer } from './http.ts'
import { assertCommonHeaders } from './user-api.ts'

export const introspectionPath = '/oauth2/introspect'

export const formType = 'application/x-www-form-urlencoded'

/** The claims of a token that is active, as they are answered. */
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

/** Asks whose token this is, as the holder of an API token. */
export type Introspect = (token: string, parameters?: Record<string, string>) => Promise<Answer>

export function introspector(origin: string, apiToken: string): Introspect {
  return (token, parameters = {}) =>
    introspectionCall(origin, {
      token: apiToken,
      body: new URLSearchParams({ token, ...parameters }).toString(),
    })
}

/** One call with a form. */
export function introspectionCall(
  origin: string,
  { headers = {}, ...rest }: Parameters<typeof call>[1],
): Promise<Answer> {
  return call(origin, {
    ...{ method: 'POST', path: introspectionPath },
    ...{ headers: { 'content-type': formType, ...headers } },
    ...rest,
  })
}

/** `Authorization` as RFC 7617 has it. */
export function basic(userName: string, password: string): string {
  return `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`
}

function assertAnswer(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json')
  assertCommonHeaders(answer)
}

/** That the answer is about an active token; returns what it says. */
export function assertActive(answer: Answer): Claims {
  assertAnswer(answer)
  const claims = answer.body as Claims
  assert.equal(claims.active, true, answer.text)
  return claims
}

/** That the answer tells nothing of the token but that it is not active. */
export function assertInactive(answer: Answer): void {
  assertAnswer(answer)
  assert.equal(answer.text, '{"active":false}')
}
