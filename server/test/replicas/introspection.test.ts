import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { assertActive, assertInactive, introspector, type Introspect } from '../support/introspection.ts'
import { startReplicas, type Replica } from '../support/replicas.ts'
import { assertSuccess, tokenIn } from '../support/user-api.ts'

const { all } = await startReplicas({ after }, 3, { UGS_MAPPING: 'registered' })
const [first] = all
const apiToken = await createApiToken(first.service, 'Testing', '--scopes', 'introspect')
const asks: Introspect[] = all.map(({ service }) => introspector(service.origin, apiToken))
const others = (replica: Replica) => asks.filter((_, i) => all[i] !== replica)

test('a token that one replica has rotated is inactive in the very next call to any', async () => {
  let token = tokenIn(await first.api.get({ user_group_id: 'rotated', name: 'Name' }))
  for (const replica of [...all, ...all, ...all]) {
    for (const ask of asks) assertActive(await ask(token))
    const next = tokenIn(await replica.api.post({ current_token: token }))
    // First those that did not rotate it.
    for (const ask of [...others(replica), ...asks]) {
      assertInactive(await ask(token))
      assertActive(await ask(next))
    }
    token = next
  }
})

test('while a token is rotated under load, none is active after its rotation was answered', async () => {
  const load = async (id: string) => {
    let token = tokenIn(await first.api.get({ user_group_id: id, name: 'Name' }))
    for (let i = 0; i < 10; i++) {
      const replica = all[i % all.length] as Replica
      const next = tokenIn(await replica.api.post({ current_token: token }))
      const responses = await Promise.all(asks.flatMap((ask) => [ask(token), ask(next)]))
      responses.forEach((response, k) => (k % 2 === 0 ? assertInactive(response) : assertActive(response)))
      token = next
    }
  }
  await Promise.all(Array.from({ length: 12 }, (_, i) => load(`load ${i}`)))
})

test('within its grace period an old token is active on every replica, with the same end', async () => {
  const token = tokenIn(await first.api.get({ user_group_id: 'grace', name: 'Name' }))
  assertSuccess(await first.api.post({ current_token: token, grace_period_seconds: 3600 }))
  const claims = await Promise.all(asks.map(async (ask) => assertActive(await ask(token))))
  assert.equal(typeof claims[0]?.exp, 'number')
  for (const other of claims) assert.deepEqual(other, claims[0])
})

test('what one replica has changed, and what an operator has, the others tell in the very next call', async () => {
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
    for (const ask of others(replica)) {
      const { name, mapping, data_sources } = assertActive(await ask(token))
      assert.deepEqual(
        { name, mapping, data_sources },
        {
          name: `Name ${i}`,
          mapping: { sales: providedId },
          data_sources: { sales: { id, provided_id: providedId, name: 'A' } },
        },
      )
    }
  }
})

test('a token whose user group an operator has deleted is inactive on every replica in the very next call', async () => {
  const token = tokenIn(await first.api.get({ user_group_id: 'deleted', name: 'Name' }))
  for (const ask of asks) assertActive(await ask(token))
  await runCommand(first.service, 'user-group', 'delete', 'deleted', '--environment', 'Testing')
  for (const ask of asks) assertInactive(await ask(token))
})
