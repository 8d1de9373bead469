import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertAnswers, managedIn, manage, of } from '../support/admin-api.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import type { HttpResponse } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'
import { fromEach, listenings, until, workerIn, workersOf } from '../support/workers.ts'

const workers = 2
const service = await startService({ after }, { UGS_API_TOKEN_CACHE_MS: '0' }, ['--workers', String(workers)])
const { user: api, admin, introspect } = await manage(service)

/** So many calls at once: they are dealt out to all workers. */
async function together(count: number, work: (i: number) => Promise<HttpResponse>): Promise<HttpResponse[]> {
  const responses = await Promise.all(Array.from({ length: count }, (_, i) => work(i)))
  assert.equal(new Set(responses.map(workerIn)).size, workers)
  return responses
}

const eachOf = (ask: () => Promise<HttpResponse>) => fromEach(workers, ask)

for (const round of [0, 1, 2, 3]) {
  test(`of 64 first GETs at once one creates, and all answer its token (round ${round})`, async () => {
    const body = { user_group_id: `created ${round}`, name: 'Name' }
    const bodies = (await together(64, () => api.get(body))).map(assertSuccess)
    assert.equal(bodies.filter(({ new_user_group }) => new_user_group).length, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.token)).size, 1)
    assert.equal(new Set(bodies.map(({ user_group }) => user_group.team_id)).size, 1)
  })

  test(`of 32 rotations of one token at once one succeeds (round ${round})`, async () => {
    const body = { user_group_id: `rotated ${round}`, name: 'Name' }
    const old = tokenIn(await api.get(body))
    const answers = await together(32, () => api.post({ current_token: old }))
    const [rotated, ...more] = answers.filter(({ status }) => status === 200)
    assert.ok(rotated)
    assert.deepEqual(more, [])
    for (const response of answers) if (response !== rotated) assertFault(response, 'token_superseded')
    for (const answer of await eachOf(() => api.get(body))) assert.equal(tokenIn(answer), tokenIn(rotated))
  })

  test(`32 rotations with one key at once are one rotation (round ${round})`, async () => {
    const body = { user_group_id: `key ${round}`, name: 'Name' }
    const old = tokenIn(await api.get(body))
    const rotate = () => api.post({ current_token: old }, { 'idempotency-key': `key-${round}` })
    const answers = await together(32, rotate)
    const succeeded = answers.filter(({ status }) => status === 200)
    assert.equal(new Set(succeeded.map(({ text }) => text)).size, 1)
    for (const answer of answers)
      if (!succeeded.includes(answer)) assertFault(answer, 'idempotency_key_in_use')
    for (const answer of await eachOf(rotate)) assert.equal(answer.text, succeeded[0]?.text)
  })

  test(`24 changes at once are a revision and an audit event each (round ${round})`, async () => {
    const id = `changed ${round}`
    const { team_id } = assertSuccess(await api.get({ user_group_id: id, name: 'Name' })).user_group
    const answers = await together(24, (i) => api.put({ user_group_id: id, name: `name ${i}` }))
    answers.forEach((answer, i) => assert.equal(assertSuccess(answer).user_group.name, `name ${i}`))
    const { revision } = managedIn(await admin.getUserGroup(of({ team_id })), 'getUserGroup')
    assert.equal(revision, 1 + 24)
    const { audit_events } = assertAnswers<{ audit_events: { action: string }[] }>(
      await admin.listAuditEvents({ query: { user_group_id: id, limit: 100 } }),
      'listAuditEvents',
    )
    assert.equal(audit_events.filter(({ action }) => action === 'user_group.updated').length, 24)
  })
}

test('what one worker has answered, every one knows in the very next call', async () => {
  const id = 'next call'
  let token = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
  for (let round = 0; round < 6; round++) {
    const old = token
    token = tokenIn(await api.post({ current_token: old }))
    for (const answer of await eachOf(() => api.get({ user_group_id: id })))
      assert.equal(tokenIn(answer), token)
    for (const answer of await eachOf(() => api.post({ current_token: old })))
      assertFault(answer, 'token_superseded')
    for (const answer of await eachOf(() => introspect(old))) assert.deepEqual(answer.body, { active: false })
    assertSuccess(await api.put({ user_group_id: id, name: `Name ${round}` }))
    for (const answer of await eachOf(() => introspect(token)))
      assert.equal(answer.body.name, `Name ${round}`)
  }
})

test('what a mapping names, every worker looks up anew once it is registered', async () => {
  assertAnswers(await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }), 'createSchema')
  for (const provided_id of ['eu', 'us']) {
    const mapping = { sales: provided_id }
    const token = tokenIn(await api.get({ user_group_id: `mapped ${provided_id}`, name: 'Name', mapping }))
    for (const answer of await eachOf(() => introspect(token))) assert.deepEqual(answer.body.data_sources, {})
    const body = { schema_id: 1, provided_id, name: `Warehouse ${provided_id}` }
    assertAnswers(await admin.createDataSource({ body }), 'createDataSource')
    for (const answer of await eachOf(() => introspect(token)))
      assert.equal(answer.body.data_sources.sales.name, body.name)
  }
})

test('an API token is known to every worker once it is made, and to none once it is revoked', async () => {
  const token = await createApiToken(service, 'Testing')
  const other = userApi(service.origin, token)
  const body = { user_group_id: 'revoked', name: 'Name' }
  for (const answer of await eachOf(() => other.get(body))) assertSuccess(answer)
  const { id } = (
    JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as { id: number }[]
  ).reduce((latest, made) => (made.id > latest.id ? made : latest))
  await runCommand(service, 'api-token', 'revoke', String(id))
  for (const answer of await eachOf(() => other.get(body))) assertFault(answer, 'unauthenticated')
})

test('what was acknowledged is there after kill -9 of a worker under load, and the other goes on', async () => {
  /** The token of each user group, as it was last answered; undefined while a rotation is under way. */
  const acknowledged = new Map<string, string | undefined>()
  const callers = 16
  const kills = 2
  const patienceMs = 10_000
  let answers = 0
  let lost = 0
  let killed = 0

  /** Null where the worker is gone that the call was with. Who was just being handed to it is told nothing. */
  const responseOf = async (calling: Promise<HttpResponse>): Promise<string | null> => {
    const patience = sleep(patienceMs, null, { ref: false })
    const answer = await Promise.race([calling.catch(() => null), patience])
    if (answer === null) lost++
    else answers++
    return answer && tokenIn(answer)
  }
  const isOver = () => killed === kills && answers > 300 * (kills + 1)
  const load = async (prefix: string) => {
    for (let i = 0; !isOver(); i++) {
      const id = `${prefix}-${i}`
      const token = await responseOf(api.get({ user_group_id: id, name: 'Name' }))
      if (token === null) continue
      acknowledged.set(id, token)
      if (i % 2 === 0) continue
      acknowledged.set(id, undefined)
      const rotated = await responseOf(api.post({ current_token: token }))
      if (rotated !== null) acknowledged.set(id, rotated)
    }
  }
  const killing = (async () => {
    for (const [i, victim] of (await workersOf(service)).entries()) {
      await until(() => answers > 300 * (i + 1))
      process.kill(victim, 'SIGKILL')
      killed++
      await until(() => listenings(service) === workers + i + 1)
    }
  })()
  await Promise.all([killing, ...Array.from({ length: callers }, (_, i) => load(`load-${i}`))])

  // What was with the worker when it died.
  assert.ok(lost <= kills * callers)
  for (const [id, token] of acknowledged) {
    const found = assertSuccess(await api.get({ user_group_id: id, name: 'Name' }))
    assert.equal(found.new_user_group, false, id)
    if (token !== undefined) assert.equal(found.user_group.token, token, id)
  }
})
