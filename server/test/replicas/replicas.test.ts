import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { startReplicas, type Replica } from '../support/replicas.ts'
import { failureIn, runUgs } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'
import { secretKeyText } from '../support/secret-key.ts'

const { all, environment } = await startReplicas({ after }, 3)
const [first, second] = all

/** Sends concurrent requests to all replicas in turn. */
const concurrently = (count: number, work: (replica: Replica, i: number) => Promise<HttpResponse>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(all[i % all.length] ?? first, i)))

const rounds = [0, 1, 2, 3]

for (const round of rounds) {
  test(`64 concurrent first GETs create one user group and return its token (round ${round})`, async () => {
    const body = { user_group_id: `created ${round}`, name: 'Name' }
    const bodies = (await concurrently(64, ({ api }) => api.get(body))).map(assertSuccess)
    assert.equal(bodies.filter(({ new_user_group }) => new_user_group).length, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.team_id)).size, 1)
    for (const { api } of all) assert.equal(tokenIn(await api.get(body)), bodies[0]?.user_group.token)
  })

  test(`one of 32 concurrent rotations of a token succeeds (round ${round})`, async () => {
    const body = { user_group_id: `rotated ${round}`, name: 'Name' }
    const old = tokenIn(await first.api.get(body))
    const responses = await concurrently(32, ({ api }) => api.post({ current_token: old }))
    const [rotated, ...more] = responses.filter(({ status }) => status === 200)
    assert.ok(rotated)
    assert.deepEqual(more, [])
    for (const response of responses) if (response !== rotated) assertFault(response, 'token_superseded')
    for (const { api } of all) assert.equal(tokenIn(await api.get(body)), tokenIn(rotated))
  })

  test(`32 concurrent rotations with one idempotency key are one rotation (round ${round})`, async () => {
    const body = { user_group_id: `key ${round}`, name: 'Name' }
    const old = tokenIn(await first.api.get(body))
    const rotate = ({ api }: Replica) =>
      api.post({ current_token: old }, { 'idempotency-key': `key-${round}` })
    const responses = await concurrently(32, rotate)
    const succeeded = responses.filter(({ status }) => status === 200)
    assert.notEqual(succeeded.length, 0)
    assert.equal(new Set(succeeded.map(({ text }) => text)).size, 1)
    for (const response of responses) {
      if (!succeeded.includes(response)) assertFault(response, 'idempotency_key_in_use')
    }
    const rotated = succeeded.map(tokenIn)[0]
    assert.notEqual(rotated, old)
    for (const replica of all) {
      assert.equal(tokenIn(await replica.api.get(body)), rotated)
      assert.equal((await rotate(replica)).text, succeeded[0]?.text)
    }
  })

  test(`one idempotency key with different bodies allows one rotation (round ${round})`, async () => {
    const id = `bodies ${round}`
    const old = tokenIn(await first.api.get({ user_group_id: id, name: 'Name' }))
    const responses = await concurrently(24, ({ api }, i) =>
      api.post(
        { current_token: old, grace_period_seconds: i % all.length },
        { 'idempotency-key': `bodies-${round}` },
      ),
    )
    const tokens = new Set(responses.filter(({ status }) => status === 200).map(tokenIn))
    for (const response of responses) {
      if (response.status === 409) assertFault(response, 'idempotency_key_in_use')
      else if (response.status !== 200) assertFault(response, 'idempotency_key_reused')
    }
    assert.deepEqual([...tokens], [tokenIn(await second.api.get({ user_group_id: id }))])
  })

  test(`changes at once over all replicas leave one whole (round ${round})`, async () => {
    const id = `changed ${round}`
    assertSuccess(await first.api.get({ user_group_id: id, name: 'Name' }))
    const responses = await concurrently(24, ({ api }, i) =>
      api.put({ user_group_id: id, name: `name ${i}`, properties: { of: i } }),
    )
    responses.forEach((response, i) => {
      const { name, properties } = assertSuccess(response).user_group
      assert.deepEqual([name, properties], [`name ${i}`, { of: i }])
    })
    const shown = await Promise.all(
      all.map(async ({ api }) => assertSuccess(await api.get({ user_group_id: id })).user_group),
    )
    const { of } = shown[0]?.properties as { of: number }
    for (const { name, properties } of shown) assert.deepEqual([name, properties], [`name ${of}`, { of }])
  })
}

test('all replicas see an acknowledged change in the next request', async () => {
  const body = { user_group_id: 'next request', name: 'Name' }
  let token = tokenIn(await first.api.get(body))
  for (const [i, replica] of [...all, ...all].entries()) {
    const others = all.filter((other) => other !== replica)
    const old = token
    token = tokenIn(await replica.api.post({ current_token: old }))
    for (const { api } of others) {
      assertFault(await api.post({ current_token: old }), 'token_superseded')
      assert.equal(tokenIn(await api.get(body)), token)
    }
    assertSuccess(await replica.api.put({ user_group_id: 'next request', name: `Name ${i}` }))
    body.name = `Name ${i}`
    for (const { api } of others) {
      assert.equal(assertSuccess(await api.get({ user_group_id: 'next request' })).user_group.name, body.name)
    }
  }
})

test('a deleted user group is unknown to all replicas in the next request', async () => {
  const body = { user_group_id: 'deleted', name: 'Name' }
  const { token, team_id } = assertSuccess(await first.api.get(body)).user_group
  for (const { api } of all) assert.equal(tokenIn(await api.get(body)), token)
  await runCommand(second.service, 'user-group', 'delete', 'deleted', '--environment', 'Testing')
  for (const { api } of all) {
    assertFault(await api.post({ current_token: token }), 'token_not_found')
    assertFault(await api.put({ user_group_id: 'deleted', name: 'B' }), 'user_group_not_found')
  }
  assert.notEqual(assertSuccess(await first.api.get(body)).user_group.team_id, team_id)
})

test('all replicas accept a new API token at once, and refuse a revoked one within 5 s', async () => {
  const token = await createApiToken(first.service, 'Testing')
  const apis = all.map(({ service }) => userApi(service.origin, token))
  const body = { user_group_id: 'revoked', name: 'Name' }
  for (const api of apis) assertSuccess(await api.get(body))
  const { id } = (
    JSON.parse(await runCommand(first.service, 'api-token', 'list', '--json')) as { id: number }[]
  ).reduce((latest, other) => (other.id > latest.id ? other : latest))
  // Fills the caches of the replicas.
  await Promise.all(apis.map(async (api) => assertSuccess(await api.get(body))))
  await runCommand(first.service, 'api-token', 'revoke', String(id))
  const revoked = performance.now()
  for (const api of apis) {
    let response = await api.get(body)
    while (response.status === 200 && performance.now() - revoked < 5000) response = await api.get(body)
    assertFault(response, 'unauthenticated')
    // The token stays revoked.
    assertFault(await api.get(body), 'unauthenticated')
  }
})

test('every replica is ready', async () => {
  for (const { service } of all)
    assert.equal((await sendRequest(service.origin, { path: '/readyz' })).status, 200)
})

test('a replica with another secret key fails to start and names the missing key', async () => {
  const otherKey = (id: string) => secretKeyText(id, 'other')
  for (const [keys, problem] of [
    [otherKey('k1'), 'the key "k1" is not the key with which this store is encrypted'],
    [otherKey('k2'), '"k1" is missing, but encrypts tokens of this store; restore the key'],
  ] as const) {
    const { code, stderr } = await runUgs(['serve'], { ...environment, PORT: '0', UGS_SECRET_KEYS: keys })
    assert.equal(code, 1)
    assert.ok(failureIn(stderr).startsWith(`UGS_SECRET_KEYS: ${problem}`), stderr)
  }
})
