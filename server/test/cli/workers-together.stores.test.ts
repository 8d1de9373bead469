import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertSucceeded, managedIn, manage, of } from '../support/admin-api.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import type { HttpResponse } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'
import { cases } from '../support/cases.ts'
import { fromEach, listenings, until, workerIn, workersOf } from '../support/workers.ts'

const workers = 2
const service = await startService({ after }, { UGS_API_TOKEN_CACHE_MS: '0' }, ['--workers', String(workers)])
const { user: api, admin, introspect } = await manage(service)

/** Sends concurrent requests, which must reach all workers. */
async function concurrently(
  count: number,
  work: (i: number) => Promise<HttpResponse>,
): Promise<HttpResponse[]> {
  const responses = await Promise.all(Array.from({ length: count }, (_, i) => work(i)))
  assert.equal(new Set(responses.map(workerIn)).size, workers)
  return responses
}

const eachOf = (send: () => Promise<HttpResponse>) => fromEach(workers, send)

for (let round = 0; round < cases(1); round++) {
  test(`64 concurrent first GETs create one user group and return its token (round ${round})`, async () => {
    const body = { user_group_id: `created ${round}`, name: 'Name' }
    const bodies = (await concurrently(64, () => api.get(body))).map(assertSuccess)
    assert.equal(bodies.filter(({ new_user_group }) => new_user_group).length, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.team_id)).size, 1)
  })

  test(`one of 32 concurrent rotations of a token succeeds (round ${round})`, async () => {
    const body = { user_group_id: `rotated ${round}`, name: 'Name' }
    const old = tokenIn(await api.get(body))
    const responses = await concurrently(32, () => api.post({ current_token: old }))
    const [rotated, ...more] = responses.filter(({ status }) => status === 200)
    assert.ok(rotated)
    assert.deepEqual(more, [])
    for (const response of responses) if (response !== rotated) assertFault(response, 'token_superseded')
    for (const response of await eachOf(() => api.get(body)))
      assert.equal(tokenIn(response), tokenIn(rotated))
  })

  test(`32 concurrent rotations with one idempotency key are one rotation (round ${round})`, async () => {
    const body = { user_group_id: `key ${round}`, name: 'Name' }
    const old = tokenIn(await api.get(body))
    const rotate = () => api.post({ current_token: old }, { 'idempotency-key': `key-${round}` })
    const responses = await concurrently(32, rotate)
    const succeeded = responses.filter(({ status }) => status === 200)
    assert.equal(new Set(succeeded.map(({ text }) => text)).size, 1)
    for (const response of responses)
      if (!succeeded.includes(response)) assertFault(response, 'idempotency_key_in_use')
    for (const response of await eachOf(rotate)) assert.equal(response.text, succeeded[0]?.text)
  })

  test(`24 concurrent changes add one revision and one audit event each (round ${round})`, async () => {
    const id = `changed ${round}`
    const { team_id } = assertSuccess(await api.get({ user_group_id: id, name: 'Name' })).user_group
    const responses = await concurrently(24, (i) => api.put({ user_group_id: id, name: `name ${i}` }))
    responses.forEach((response, i) => assert.equal(assertSuccess(response).user_group.name, `name ${i}`))
    const { revision } = managedIn(await admin.getUserGroup(of({ team_id })), 'getUserGroup')
    assert.equal(revision, 1 + 24)
    const { audit_events } = assertSucceeded<{ audit_events: { action: string }[] }>(
      await admin.listAuditEvents({ query: { user_group_id: id, limit: 100 } }),
      'listAuditEvents',
    )
    assert.equal(audit_events.filter(({ action }) => action === 'user_group.updated').length, 24)
  })
}

test('every worker sees an acknowledged change in the next request', async () => {
  const id = 'next call'
  let token = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
  for (let round = 0; round < 2; round++) {
    const old = token
    token = tokenIn(await api.post({ current_token: old }))
    for (const response of await eachOf(() => api.get({ user_group_id: id })))
      assert.equal(tokenIn(response), token)
    for (const response of await eachOf(() => api.post({ current_token: old })))
      assertFault(response, 'token_superseded')
    for (const response of await eachOf(() => introspect(old)))
      assert.deepEqual(response.body, { active: false })
    assertSuccess(await api.put({ user_group_id: id, name: `Name ${round}` }))
    for (const response of await eachOf(() => introspect(token)))
      assert.equal(response.body.name, `Name ${round}`)
  }
})

test('every worker resolves a mapping again after its data source is registered', async () => {
  assertSucceeded(await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }), 'createSchema')
  for (const provided_id of ['eu', 'us']) {
    const mapping = { sales: provided_id }
    const token = tokenIn(await api.get({ user_group_id: `mapped ${provided_id}`, name: 'Name', mapping }))
    for (const response of await eachOf(() => introspect(token)))
      assert.deepEqual(response.body.data_sources, {})
    const body = { schema_id: 1, provided_id, name: `Warehouse ${provided_id}` }
    assertSucceeded(await admin.createDataSource({ body }), 'createDataSource')
    for (const response of await eachOf(() => introspect(token)))
      assert.equal(response.body.data_sources.sales.name, body.name)
  }
})

test('every worker accepts a new API token and refuses it after revocation', async () => {
  const token = await createApiToken(service, 'Testing')
  const other = userApi(service.origin, token)
  const body = { user_group_id: 'revoked', name: 'Name' }
  for (const response of await eachOf(() => other.get(body))) assertSuccess(response)
  const { id } = (
    JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as { id: number }[]
  ).reduce((latest, other) => (other.id > latest.id ? other : latest))
  await runCommand(service, 'api-token', 'revoke', String(id))
  for (const response of await eachOf(() => other.get(body))) assertFault(response, 'unauthenticated')
})

test('acknowledged changes survive kill -9 of a worker under load, and the other worker keeps serving', async () => {
  /** Last acknowledged token of each user group, or undefined while a rotation is in flight. */
  const acknowledged = new Map<string, string | undefined>()
  const clients = 16
  const kills = 2
  const timeoutMs = 10_000
  let responses = 0
  let lost = 0
  let replaced = 0
  let isDone = false
  let finish: (response: null) => void = () => undefined
  const done = new Promise<null>((resolve) => (finish = resolve))

  /** Returns the token, or null if the worker died. A connection in handover to that worker hangs. */
  const tokenOrNull = async (request: Promise<HttpResponse>): Promise<string | null> => {
    const timeout = sleep(timeoutMs, null, { ref: false })
    const giveUp = replaced < kills ? [timeout, done] : [timeout]
    const response = await Promise.race([request.catch(() => null), ...giveUp])
    if (response === null) lost++
    else responses++
    return response && tokenIn(response)
  }
  const load = async (prefix: string) => {
    for (let i = 0; !isDone; i++) {
      const id = `${prefix}-${i}`
      const token = await tokenOrNull(api.get({ user_group_id: id, name: 'Name' }))
      if (token === null) continue
      acknowledged.set(id, token)
      if (i % 2 === 0) continue
      acknowledged.set(id, undefined)
      const rotated = await tokenOrNull(api.post({ current_token: token }))
      if (rotated !== null) acknowledged.set(id, rotated)
    }
  }
  const killing = (async () => {
    for (const [i, victim] of (await workersOf(service)).entries()) {
      await until(() => responses > 100 * (i + 1))
      process.kill(victim, 'SIGKILL')
      await until(() => listenings(service) === workers + i + 1)
      replaced++
    }
    // By then, all requests that were sent before have a response or none will come.
    const before = responses
    await until(() => responses > before + 100)
    isDone = true
    finish(null)
  })()
  await Promise.all([killing, ...Array.from({ length: clients }, (_, i) => load(`load-${i}`))])

  // Only requests that a dying worker held may be lost.
  assert.ok(lost <= kills * clients)
  for (const [id, token] of acknowledged) {
    const found = assertSuccess(await api.get({ user_group_id: id, name: 'Name' }))
    assert.equal(found.new_user_group, false, id)
    if (token !== undefined) assert.equal(found.user_group.token, token, id)
  }
})
