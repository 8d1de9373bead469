import assert from 'node:assert/strict'
import type { HttpResponse } from '../support/http.ts'
import { assertFault, assertSuccess, type ErrorCode } from '../support/user-api.ts'
import {
  expected,
  isRefusal,
  type Group,
  type ModelRequest,
  type Refusal,
  type State,
  type Success,
} from './model.ts'

/** Maximum number of fields in an error. */
const mostFields = 100

/**
 * Asserts that the response equals the model's, and applies it to the state. After simultaneous requests, a value may have either of
 * two notations.
 * @returns the user group in the response
 */
export function judge(
  request: ModelRequest,
  response: HttpResponse,
  state: State,
  { isAtOnce = false } = {},
): Group | undefined {
  const outcome = expected(request, state)
  if (isRefusal(outcome)) {
    assertRefused(response, outcome)
    return undefined
  }
  const group = groupIn(response, outcome, state)
  assertExpected(response, outcome, group, isAtOnce)
  outcome.happened(group)
  return group
}

function assertRefused(response: HttpResponse, { codes, paths, isOneOfPaths, isAnywhere }: Refusal): void {
  const { error } = response.body as { error?: { code: ErrorCode; fields?: { path: string }[] } }
  assert.ok(error !== undefined && codes.includes(error.code), `${codes.join(' or ')}, not ${response.text}`)
  const reported = (error.fields ?? []).map(({ path }) => path)
  assertFault(response, error.code, reported)
  if (isAnywhere) return
  const possible = new Set(paths)
  const isWhole = isOneOfPaths
    ? reported.length === 1
    : new Set(reported).size === Math.min(possible.size, mostFields)
  assert.ok(
    isWhole && reported.every((path) => possible.has(path)),
    `${[...possible].join()}, not ${response.text}`,
  )
  if (error.code === 'unauthenticated') assert.equal(response.headers['www-authenticate'], 'Token')
  if (error.code === 'method_not_allowed') assert.equal(response.headers.allow, 'GET, POST, PUT')
}

/** Returns the expected user group, with the values that only the response has. */
function groupIn(response: HttpResponse, { group, isNewGroup, isNewToken }: Success, state: State): Group {
  const { token, team_id: teamId } = assertSuccess(response).user_group
  const responded = group({ token, teamId })
  if (isNewToken) {
    assert.match(
      token,
      responded.environment === 'Customer'
        ? /^ugt_customer_[0-9A-Za-z]{50}$/
        : /^ugt_testing_[0-9A-Za-z]{50}$/,
    )
    assert.ok(!state.owners.has(token), 'a token that there was')
  }
  if (isNewGroup) {
    assert.ok(Number.isSafeInteger(teamId) && teamId > 0)
    assert.ok(!state.teamIds.has(teamId), 'an id that there was')
  }
  return responded
}

function assertExpected(response: HttpResponse, outcome: Success, group: Group, isAtOnce: boolean): void {
  const { newUserGroup, hasProperties, hasEnvironment } = outcome
  const properties = group.properties?.text ?? 'null'
  assert.deepEqual(response.body, {
    success: 1,
    ...(newUserGroup !== undefined && { new_user_group: newUserGroup }),
    user_group: {
      ...{ team_id: group.teamId, token: group.token, name: group.name, provided_id: group.id },
      ...(hasProperties && { properties: JSON.parse(properties) as unknown }),
      ...(hasEnvironment && { api_environment_tag: group.environment }),
    },
  })
  // The same bytes as in the request.
  if (hasProperties && !isAtOnce)
    assert.ok(response.text.includes(`"properties":${properties}`), response.text)
}
