import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startService } from '../../support/service.ts'
import { forged, unknownToken } from '../../support/tokens.ts'
import {
  assertFault,
  assertSuccess,
  tokenIn,
  userApi,
  userGroupIn,
  withoutRequestId,
} from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

async function newGroup(id: string) {
  return userGroupIn(await api.get({ user_group_id: id, name: `name of ${id}`, properties: { a: 1 } }))
}

const currentToken = async (id: string) => tokenIn(await api.get({ user_group_id: id }))

test('POST replaces the token and leaves the rest of the user group unchanged', async () => {
  const { properties, ...before } = await newGroup('rotate')
  const body = assertSuccess(await api.post({ current_token: before.token }))
  const { token } = body.user_group
  assert.deepEqual(body, { success: 1, user_group: { ...before, token, api_environment_tag: 'Testing' } })
  assert.match(token, /^ugt_testing_[0-9A-Za-z]{38,}$/)
  assert.notEqual(token, before.token)
  assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'rotate' })), { ...before, token, properties })
})

test('the environment tag comes from the API token', async () => {
  const customers = userApi(service.origin, service.tokens.Customer)
  const token = tokenIn(await customers.get({ user_group_id: 'tagged', name: 'Name' }))
  const group = userGroupIn(await customers.post({ current_token: token }))
  assert.equal(group.api_environment_tag, 'Customer')
  assert.match(group.token, /^ugt_customer_/)
})

test('a superseded token cannot rotate, however old it is', async () => {
  const tokens = [(await newGroup('chain')).token]
  for (let i = 0; i < 4; i++) {
    tokens.push(tokenIn(await api.post({ current_token: tokens.at(-1) })))
  }
  assert.equal(new Set(tokens).size, 5)
  for (const old of tokens.slice(0, -1)) {
    assertFault(await api.post({ current_token: old }), 'token_superseded')
    assertFault(await api.post({ current_token: old, grace_period_seconds: 3600 }), 'token_superseded')
  }
  assert.equal(await currentToken('chain'), tokens.at(-1))
})

test('a superseded token cannot rotate within its grace period', async () => {
  const { token } = await newGroup('grace')
  const rotated = tokenIn(await api.post({ current_token: token, grace_period_seconds: 604_800 }))
  assertFault(await api.post({ current_token: token }), 'token_superseded')
  assert.equal(await currentToken('grace'), rotated)
})

for (const seconds of [0, 1, 3600, 604_800]) {
  test(`a grace period of ${seconds} seconds is accepted`, async () => {
    const { token } = await newGroup(`grace-${seconds}`)
    const { user_group } = assertSuccess(
      await api.post({ current_token: token, grace_period_seconds: seconds }),
    )
    const keys = ['api_environment_tag', 'name', 'provided_id', 'team_id', 'token']
    assert.deepEqual(Object.keys(user_group).sort(), keys)
  })
}

for (const seconds of [-1, 604_801, 1.5, 1e15, '60', '', true, false, null, [], [60], {}]) {
  test(`a grace period of ${JSON.stringify(seconds)} is refused and rotates nothing`, async () => {
    const { token } = await newGroup('grace-refused')
    const response = await api.post({ current_token: token, grace_period_seconds: seconds })
    assertFault(response, 'validation_failed', ['/grace_period_seconds'])
    assert.equal(await currentToken('grace-refused'), token)
  })
}

test('unknown and malformed tokens get the same 404', async () => {
  const { token } = await newGroup('not-found')
  await service.ugs('user-group', 'delete', 'not-found', '--environment', 'Testing')
  const unknown = await api.post({ current_token: token })
  assertFault(unknown, 'token_not_found')
  const lastReplaced = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
  const others = [
    '',
    'x',
    ' ',
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    `${token}\n`,
    lastReplaced(token),
    token.toUpperCase(),
    token.replace('testing', 'customer'),
    'ugt_testing_',
    unknownToken('Testing'),
    forged(token),
    'x'.repeat(100_000),
    '\u0000',
    '😀',
    service.tokens.Testing,
  ]
  for (const other of others) {
    const response = await api.post({ current_token: other })
    assertFault(response, 'token_not_found')
    assert.equal(withoutRequestId(response), withoutRequestId(unknown))
  }
})

for (const [title, body] of Object.entries({
  'a missing current_token': {},
  'a current_token that is a number': { current_token: 1 },
  'a current_token that is null': { current_token: null },
  'a current_token in an array': { current_token: ['ugt_testing_x'] },
})) {
  test(`${title} is a validation error`, async () => {
    assertFault(await api.post(body), 'validation_failed', ['/current_token'])
  })
}

test('an unknown field is refused and named, and nothing rotates', async () => {
  const { token } = await newGroup('unknown-field')
  const response = await api.post({ current_token: token, user_group_id: 'unknown-field', name: 'Name' })
  assertFault(response, 'validation_failed', ['/user_group_id', '/name'])
  assert.equal(await currentToken('unknown-field'), token)
})
