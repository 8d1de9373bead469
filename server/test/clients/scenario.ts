import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startService } from '../support/service.ts'
import { userGroupIn, type UserResponse } from '../support/user-api.ts'
import { call } from '../support/http.ts'

export interface ClientCall {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Record<string, unknown>
}

export interface ClientResponse {
  readonly status: number
  readonly body: unknown
}

/** Sends one request in the usual way of the client. */
export type Client = (call: ClientCall) => Promise<ClientResponse> | ClientResponse

const id = 'customer-42'
const name = 'Exämple customer 顧客 🙂'
const mapping = { '40': '213' }
const properties = { region: 'EU', note: 'naïve "quoted" ☂', nested: { list: [1, 0.5, null, true] } }

/** The requests, in order. `{token}` is replaced by the user group's current token. */
const calls = [
  { method: 'GET', body: { user_group_id: id, name, mapping, properties } },
  { method: 'GET', body: { user_group_id: id } },
  { method: 'GET', override: true, body: { user_group_id: id, name, mapping, properties } },
  { method: 'PUT', body: { user_group_id: id, name: 'Renamed', properties: { plan: 'gold' } } },
  { method: 'PUT', override: true, body: { user_group_id: id, name, properties: null } },
  { method: 'POST', body: { current_token: '{token}' } },
  { method: 'GET', body: { user_group_id: id } },
] as const

/** The expected responses. Tokens are numbered by first appearance. */
function expectedAnswers(teamId: number): ClientResponse[] {
  const group = { team_id: teamId, token: 'token 1', name, provided_id: id }
  const tag = { api_environment_tag: 'Testing' }
  const bodies = [
    { success: 1, new_user_group: true, user_group: { ...group, properties } },
    { success: 1, new_user_group: false, user_group: { ...group, properties } },
    { success: 1, new_user_group: false, user_group: { ...group, properties } },
    {
      success: 1,
      new_user_group: false,
      user_group: { ...group, name: 'Renamed', properties: { plan: 'gold' }, ...tag },
    },
    { success: 1, new_user_group: false, user_group: { ...group, properties: null, ...tag } },
    { success: 1, user_group: { ...group, token: 'token 2', ...tag } },
    { success: 1, new_user_group: false, user_group: { ...group, token: 'token 2', properties: null } },
  ]
  return bodies.map((body) => ({ status: 200, body }))
}

/** Sends every request of the scenario with a client to a new service, and compares all responses. */
export async function assertClientWorks(t: TestContext, client: Client): Promise<void> {
  const service = await startService(t)
  const tokens: string[] = []
  const responses: ClientResponse[] = []
  for (const { method, body, ...rest } of calls) {
    const { status, body: answer } = await client({
      method: 'override' in rest ? 'POST' : method,
      url: `${service.origin}/api/user`,
      headers: {
        Authorization: `Token ${service.tokens.Testing}`,
        'Content-Type': 'application/json',
        ...('override' in rest && { 'X-HTTP-Method-Override': method }),
      },
      body: 'current_token' in body ? { current_token: tokens.at(-1) } : body,
    })
    assert.equal(status, 200, JSON.stringify(answer))
    const { user_group } = answer as UserResponse
    assert.match(user_group.token, /^ugt_testing_[0-9A-Za-z]{50}$/)
    if (!tokens.includes(user_group.token)) tokens.push(user_group.token)
    const token = `token ${tokens.indexOf(user_group.token) + 1}`
    responses.push({ status, body: { ...(answer as UserResponse), user_group: { ...user_group, token } } })
  }
  // Another client gets the same user group.
  const seen = userGroupIn(
    await call(service.origin, { token: service.tokens.Testing, body: { user_group_id: id } }),
  )
  assert.deepEqual(responses, expectedAnswers(seen.team_id))
  assert.equal(seen.token, tokens.at(-1))
}
