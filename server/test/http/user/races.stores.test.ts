import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { HttpResponse } from '../../support/http.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'

// A busy machine may open connections slowly, also while other tests start.
const service = await startService(
  { after },
  { UGS_POSTGRES_CONNECT_TIMEOUT_MS: '20000', UGS_POSTGRES_DEADLINE_MS: '20000' },
)
const api = userApi(service.origin, service.tokens.Testing)

const together = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

const rounds = Array.from({ length: 4 }, (_, round) => round)

const currentToken = async (id: string) => tokenIn(await api.get({ user_group_id: id }))

/** Asserts that one response succeeded and the others have this error. Returns the new token. */
function assertOneRotation(responses: readonly HttpResponse[]): string {
  const [first, ...more] = responses.filter(({ status }) => status === 200)
  assert.ok(first !== undefined)
  assert.deepEqual(more, [])
  for (const response of responses) if (response !== first) assertFault(response, 'token_superseded')
  return tokenIn(first)
}

for (const round of rounds) {
  test(`one of 48 simultaneous first GETs creates, and all return its token (round ${round})`, async () => {
    const id = `created ${round}`
    const bodies = await together(48, async (i) =>
      assertSuccess(await api.get({ user_group_id: id, name: `name ${i}` })),
    )
    assert.equal(bodies.filter(({ new_user_group }) => new_user_group).length, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.team_id)).size, 1)
    bodies.forEach(({ user_group }, i) => assert.equal(user_group.name, `name ${i}`))
    assert.equal(await currentToken(id), bodies[0]?.user_group.token)
  })

  test(`one of 24 simultaneous rotations of a token succeeds (round ${round})`, async () => {
    const id = `rotated ${round}`
    const old = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
    const responses = await together(24, (i) => api.post({ current_token: old, grace_period_seconds: i }))
    const rotated = assertOneRotation(responses)
    assert.notEqual(rotated, old)
    assert.equal(await currentToken(id), rotated)
  })

  test(`of 24 rotations with a key of their own each one succeeds (round ${round})`, async () => {
    const id = `keys ${round}`
    const old = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
    const responses = await together(24, (i) =>
      api.post({ current_token: old }, { 'idempotency-key': `${round}/${i}` }),
    )
    assert.equal(await currentToken(id), assertOneRotation(responses))
  })

  test(`24 simultaneous rotations with one key are one rotation (round ${round})`, async () => {
    const id = `key ${round}`
    const old = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
    const rotate = () =>
      api.post({ current_token: old }, { 'idempotency-key': `one ${round}`.replace(' ', '-') })
    const responses = await together(24, rotate)
    const first = responses.find(({ status }) => status === 200)
    assert.ok(first !== undefined)
    const rotated = tokenIn(first)
    assert.notEqual(rotated, old)
    for (const response of responses) {
      if (response.status === 200) assert.equal(response.text, first.text)
      else assertFault(response, 'idempotency_key_in_use')
    }
    assert.equal(await currentToken(id), rotated)
    assert.equal((await rotate()).text, first.text)
    assertSuccess(await api.post({ current_token: rotated }))
  })

  test(`if one key is sent with two bodies at once, one body rotates (round ${round})`, async () => {
    const id = `bodies ${round}`
    const old = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
    const responses = await together(24, (i) =>
      api.post({ current_token: old, grace_period_seconds: i % 2 }, { 'idempotency-key': `bodies-${round}` }),
    )
    const tokens = new Set(responses.filter(({ status }) => status === 200).map(tokenIn))
    assert.deepEqual([...tokens], [await currentToken(id)])
    for (const response of responses) {
      if (response.status === 409) assertFault(response, 'idempotency_key_in_use')
      else if (response.status !== 200) assertFault(response, 'idempotency_key_reused')
    }
  })

  test(`if one key is sent for two user groups at once, each of them rotates once (round ${round})`, async () => {
    const ids = [`key of one ${round}`, `key of two ${round}`]
    const old = await Promise.all(
      ids.map(async (id) => tokenIn(await api.get({ user_group_id: id, name: 'Name' }))),
    )
    const responses = await together(24, (i) =>
      api.post({ current_token: old[i % 2] }, { 'idempotency-key': `groups-${round}` }),
    )
    for (const response of responses) {
      if (response.status !== 200) assertFault(response, 'idempotency_key_in_use')
    }
    const tokens = new Set(responses.filter(({ status }) => status === 200).map(tokenIn))
    assert.deepEqual([...tokens].sort(), (await Promise.all(ids.map(currentToken))).sort())
  })
}

test('a GET during a rotation returns the old token or the new one', async () => {
  let token = tokenIn(await api.get({ user_group_id: 'beside', name: 'Name' }))
  for (let i = 0; i < 10; i++) {
    const [rotated, ...gets] = await Promise.all([
      api.post({ current_token: token }),
      ...Array.from({ length: 8 }, () => api.get({ user_group_id: 'beside' })),
    ])
    const possible = [token, tokenIn(rotated)]
    for (const response of gets) assert.ok(possible.includes(tokenIn(response)))
    token = tokenIn(rotated)
  }
  assert.equal(await currentToken('beside'), token)
})

test('simultaneous changes are not mixed, in responses and in the store', async () => {
  const first = userGroupIn(await api.get({ user_group_id: 'changed', name: 'name 0' }))
  const groups = await together(24, async (i) => {
    const body = { user_group_id: 'changed', name: `name ${i}`, properties: { of: i } }
    return userGroupIn(await (i % 2 === 0 ? api.get(body) : api.put(body)))
  })
  groups.forEach(({ name, properties, token }, i) => {
    assert.deepEqual([name, properties, token], [`name ${i}`, { of: i }, first.token])
  })
  const last = userGroupIn(await api.get({ user_group_id: 'changed' }))
  const { of } = last.properties as { of: number }
  assert.equal(last.name, `name ${of}`)
})

test('a simultaneous update and rotation both take effect', async () => {
  const { token } = userGroupIn(await api.get({ user_group_id: 'both', name: 'Old' }))
  const [rotated] = await Promise.all([
    api.post({ current_token: token }),
    api.put({ user_group_id: 'both', name: 'New' }),
    api.get({ user_group_id: 'both', properties: { a: 1 } }),
  ])
  const group = userGroupIn(await api.get({ user_group_id: 'both' }))
  assert.deepEqual([group.name, group.properties, group.token], ['New', { a: 1 }, tokenIn(rotated)])
})

test('one id in both environments at once is one user group in each', async () => {
  const customers = userApi(service.origin, service.tokens.Customer)
  const bodies = await together(48, async (i) =>
    assertSuccess(await (i % 2 === 0 ? api : customers).get({ user_group_id: 'both', name: 'Name' })),
  )
  const of = (environment: number) => bodies.filter((_, i) => i % 2 === environment)
  assert.equal(of(0).filter(({ new_user_group }) => new_user_group).length, 0)
  assert.equal(of(1).filter(({ new_user_group }) => new_user_group).length, 1)
  assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 2)
})

test('200 different ids at once are 200 user groups', async () => {
  const bodies = await together(200, async (i) =>
    assertSuccess(await api.get({ user_group_id: `many ${i}`, name: `name ${i}` })),
  )
  assert.ok(bodies.every(({ new_user_group }) => new_user_group))
  bodies.forEach(({ user_group }, i) => assert.equal(user_group.provided_id, `many ${i}`))
  assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 200)
  assert.equal(new Set(bodies.map(({ user_group }) => user_group.team_id)).size, 200)
})
