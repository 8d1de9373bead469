import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { steady } from '../../../src/domain/util/clock.ts'
import { adminApi } from '../../support/admin-api.ts'
import { startApp } from '../../support/app.ts'
import { sessionPath, signIn } from '../../support/console.ts'
import { sendRequest } from '../../support/http.ts'
import { assertFault, tokenIn, userApi } from '../../support/user-api.ts'

const minute = 60_000
const hour = 60 * minute

const time = { now: Date.parse('2030-01-01T12:00:00Z'), monotonic: 0 }
/** Advances the clock with real time. */
const pass = (ms: number) => {
  time.now += ms
  time.monotonic += ms
}
/** Sets the clock back by an hour until the test ends. */
const setBack = (t: TestContext) => {
  time.now -= hour
  t.after(() => {
    time.now += hour
  })
}
const clock = steady({ now: () => time.now, monotonic: () => time.monotonic })
const { origin, store, createApiToken } = await startApp({ after }, clock)
const admin = adminApi(origin, await createApiToken())
const api = userApi(origin, await createApiToken(undefined, ['write']))
const introspecting = await createApiToken(undefined, ['introspect'])

let created = 0
const create = async () => {
  const id = `group-${created++}`
  return { id, token: tokenIn(await api.get({ user_group_id: id, name: 'Name' })) }
}
const rotate = (token: string, grace: number, key?: string) =>
  api.post(
    { current_token: token, grace_period_seconds: grace },
    key === undefined ? {} : { 'idempotency-key': key },
  )
const isActive = async (token: string) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = `token=${token}`
  const response = await sendRequest(origin, {
    method: 'POST',
    path: '/oauth2/introspect',
    token: introspecting,
    headers,
    body,
  })
  assert.equal(response.status, 200, response.text)
  return (response.body as { active: boolean }).active
}
const isValid = async (apiToken: string) =>
  (await userApi(origin, apiToken).get({ user_group_id: 'group-0' })).status === 200

describe('the clock is set back by an hour', () => {
  test('a grace period that has ended stays over, and another one ends in time', async (t) => {
    const [over, running] = [await create(), await create()]
    await rotate(over.token, 60)
    pass(2 * minute)
    await rotate(running.token, 600)
    setBack(t)
    assert.deepEqual([await isActive(over.token), await isActive(running.token)], [false, true])
    pass(10 * minute - 1)
    assert.equal(await isActive(running.token), true)
    pass(1)
    assert.equal(await isActive(running.token), false)
  })

  test('a retry with an idempotency key gets the first response for 24 hours', async (t) => {
    const { token } = await create()
    const first = tokenIn(await rotate(token, 0, 'key'))
    setBack(t)
    pass(24 * hour - 1)
    assert.equal(tokenIn(await rotate(token, 0, 'key')), first)
    pass(1)
    assertFault(await rotate(token, 0, 'key'), 'token_superseded')
  })

  test('an expired API token stays expired, and another one expires in time', async (t) => {
    const over = await createApiToken(clock.now() + minute, ['read'])
    pass(2 * minute)
    const running = await createApiToken(clock.now() + 10 * minute, ['read'])
    assert.equal(await isValid(over), false)
    setBack(t)
    assert.deepEqual([await isValid(over), await isValid(running)], [false, true])
    pass(10 * minute)
    assert.equal(await isValid(running), false)
  })

  test('an expired console session stays expired, and another one expires in time', async (t) => {
    const apiToken = await createApiToken()
    const status = async (cookie: string) =>
      (await sendRequest(origin, { path: sessionPath, headers: { cookie } })).status
    const over = await signIn(origin, apiToken)
    pass(30 * minute)
    const running = await signIn(origin, apiToken)
    assert.equal(await status(over.cookie), 401)
    setBack(t)
    assert.equal(await status(over.cookie), 401)
    pass(30 * minute - 1)
    assert.equal(await status(running.cookie), 200)
    pass(30 * minute)
    assert.equal(await status(running.cookie), 401)
  })

  test('later changes have later times, in user groups and in the audit log', async (t) => {
    const before = await create()
    pass(1)
    setBack(t)
    const later = await create()
    const find = async (id: string) =>
      (await store.userGroups.find({ workspaceId: 1, environment: 'Customer', providedId: id }))?.createdAt ??
      0
    assert.equal((await find(later.id)) - (await find(before.id)), 1)
    const { audit_events } = (await admin.listAuditEvents({ query: { limit: 2 } })).body as {
      audit_events: { user_group: { provided_id: string } }[]
    }
    assert.deepEqual(
      audit_events.map((event) => event.user_group.provided_id),
      [later.id, before.id],
    )
  })
})

test('the clock is set forward by a day and back: tokens that had expired work again, and expire in time', async () => {
  const { token } = await create()
  await rotate(token, 600)
  const apiToken = await createApiToken(clock.now() + hour, ['read'])
  time.now += 24 * hour
  assert.deepEqual([await isActive(token), await isValid(apiToken)], [false, false])
  pass(minute)
  time.now -= 24 * hour
  assert.deepEqual([await isActive(token), await isValid(apiToken)], [true, true])
  pass(9 * minute)
  assert.deepEqual([await isActive(token), await isValid(apiToken)], [false, true])
  pass(50 * minute)
  assert.equal(await isValid(apiToken), false)
})
