import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { assertActive, assertInactive, introspector, type Introspect } from '../support/introspection.ts'
import { startReplicas, type Replica } from '../support/replicas.ts'
import { assertSuccess, tokenIn } from '../support/user-api.ts'

const replicas = await startReplicas({ after }, 3, { UGS_MAPPING: 'registered' })
const { all } = replicas
const [first] = all
const apiToken = await createApiToken(first.service, 'Testing', '--scopes', 'introspect')
const introspects: Introspect[] = all.map(({ service }) => introspector(service.origin, apiToken))
const others = (replica: Replica) => introspects.filter((_, i) => all[i] !== replica)

test('a rotated token is inactive on all replicas in the next request', async () => {
  let token = tokenIn(await first.api.get({ user_group_id: 'rotated', name: 'Name' }))
  for (const replica of [...all, ...all, ...all]) {
    for (const introspect of introspects) assertActive(await introspect(token))
    const next = tokenIn(await replica.api.post({ current_token: token }))
    // First the other replicas.
    for (const introspect of [...others(replica), ...introspects]) {
      assertInactive(await introspect(token))
      assertActive(await introspect(next))
    }
    token = next
  }
})

test('under load, no token is active after its rotation is acknowledged', async () => {
  const load = async (id: string) => {
    let token = tokenIn(await first.api.get({ user_group_id: id, name: 'Name' }))
    for (let i = 0; i < 10; i++) {
      const replica = all[i % all.length] as Replica
      const next = tokenIn(await replica.api.post({ current_token: token }))
      const responses = await Promise.all(
        introspects.flatMap((introspect) => [introspect(token), introspect(next)]),
      )
      responses.forEach((response, k) => (k % 2 === 0 ? assertInactive(response) : assertActive(response)))
      token = next
    }
  }
  await Promise.all(Array.from({ length: 12 }, (_, i) => load(`load ${i}`)))
})

test('a superseded token is active on all replicas until the same end of its grace period', async () => {
  const token = tokenIn(await first.api.get({ user_group_id: 'grace', name: 'Name' }))
  assertSuccess(await first.api.post({ current_token: token, grace_period_seconds: 3600 }))
  const claims = await Promise.all(
    introspects.map(async (introspect) => assertActive(await introspect(token))),
  )
  assert.equal(typeof claims[0]?.exp, 'number')
  for (const other of claims) assert.deepEqual(other, claims[0])
})

test('changes by a replica or a command are visible on the other replicas in the next request', async () => {
  const create = async (...args: string[]) => {
    const options = ['--environment', 'Testing', '--name', 'A', '--json']
    return (JSON.parse(await runCommand(first.service, ...args, ...options)) as { id: number }).id
  }
  const schema = await create('schema', 'create', '--provided-id', 'sales')
  const token = tokenIn(await first.api.get({ user_group_id: 'changed', name: 'Name' }))
  for (const [i, replica] of all.entries()) {
    const providedId = `source ${i}`
    const id = await create(
      ...['data-source', 'create', '--schema', String(schema), '--provided-id', providedId],
    )
    assertSuccess(
      await replica.api.put({ user_group_id: 'changed', name: `Name ${i}`, mapping: { sales: providedId } }),
    )
    for (const introspect of others(replica)) {
      const { name, mapping, data_sources } = assertActive(await introspect(token))
      assert.deepEqual(
        { name, mapping, data_sources },
        {
          name: `Name ${i}`,
          mapping: { sales: providedId },
          data_sources: {
            sales: { id, provided_id: providedId, name: 'A', schema: { id: schema, provided_id: 'sales' } },
          },
        },
      )
    }
  }
})

test('a token of a deleted user group is inactive on all replicas in the next request', async () => {
  const token = tokenIn(await first.api.get({ user_group_id: 'deleted', name: 'Name' }))
  for (const introspect of introspects) assertActive(await introspect(token))
  await runCommand(first.service, 'user-group', 'delete', 'deleted', '--environment', 'Testing')
  for (const introspect of introspects) assertInactive(await introspect(token))
})

test('ended sessions are inactive on all replicas in the next request, and new ones active', async () => {
  await first.api.get({ user_group_id: 'viewed', name: 'Name' })
  const post = (replica: Replica, path: string, body: object) =>
    sendRequest(replica.service.origin, { method: 'POST', path, token: replicas.token, body })
  const create = async (replica: Replica) => {
    const viewer = { id: 'u-7' }
    const response = await post(replica, '/api/user/create-session', { user_group_id: 'viewed', viewer })
    return (assertSuccess(response) as unknown as { session: { token: string } }).session.token
  }
  for (const replica of [...all, ...all]) {
    const tokens = await Promise.all(all.map(create))
    for (const introspect of [...introspects, ...introspects])
      for (const token of tokens) assertActive(await introspect(token))
    const ended = await post(replica, '/api/user/end-sessions', { user_group_id: 'viewed', viewer_id: 'u-7' })
    assertSuccess(ended)
    for (const introspect of introspects) for (const token of tokens) assertInactive(await introspect(token))
    // A session of the second in which others ended is over, too.
    const second = Math.floor(Date.now() / 1000)
    while (Math.floor(Date.now() / 1000) === second) await sleep(20)
  }
})

test('a stolen signing key is retired on all replicas in the next request', async () => {
  const session = async () =>
    (
      await runCommand(
        first.service,
        'session',
        'create',
        'viewed',
        '--viewer',
        'u-8',
        '--environment',
        'Testing',
      )
    ).trim()
  const stolen = await session()
  for (const introspect of [...introspects, ...introspects]) assertActive(await introspect(stolen))
  await runCommand(first.service, 'signing-key', 'rotate', '--now', '--environment', 'Testing')
  for (const introspect of introspects) assertInactive(await introspect(stolen))
  const next = await session()
  for (const introspect of introspects) assertActive(await introspect(next))
})
