import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminApi, assertSucceeded } from '../../support/admin-api.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import { assertActive, assertInactive, introspector } from '../../support/introspection.ts'
import { startReplicas, type Replica } from '../../support/replicas.ts'
import { temporaryFolder } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'
import { cases } from '../../support/cases.ts'

// Each request is repeated until its response is cached. No response may be out of date.

const shared = { DATABASE_URL: `sqlite:${join(temporaryFolder({ after }), 'ugs.db')}` }
const { all } = await startReplicas({ after }, 2, shared)
const [here, there] = all
const scopes = 'read,write,admin,introspect'
const apiToken = await createApiToken(here.service, 'Testing', '--scopes', scopes)
// Created before any response is cached, because writes of other processes, such as `ugs`, invalidate the cache.
const customers = await createApiToken(here.service, 'Customer', '--scopes', scopes)
const reading = await createApiToken(here.service, 'Testing', '--scopes', 'read')
const introspecting = await createApiToken(here.service, 'Testing', '--scopes', 'introspect')

const ask = ({ service }: Replica) => ({
  user: userApi(service.origin, apiToken),
  admin: adminApi(service.origin, apiToken),
  introspect: introspector(service.origin, apiToken),
})
const [first, second] = [ask(here), ask(there)]
const replicas = [first, second]

/** Creates a user group and repeats its requests on each replica until the responses are cached. */
async function createCached(body: { user_group_id: string; name: string; [field: string]: unknown }) {
  const created = userGroupIn(await first.user.get(body))
  for (const { user, introspect } of [first, second, first, second]) {
    assert.deepEqual(userGroupIn(await user.get(body)), created)
    assertActive(await introspect(created.token))
  }
  return created
}

let ids = 0
const freshBody = () => ({ user_group_id: `id ${ids++}`, name: 'Näme 🙂', properties: { a: [1, 'ü\n'] } })

test('the same request gets the same response, except for its request id', async () => {
  const body = freshBody()
  await createCached(body)
  const responses = await Promise.all([0, 1, 2].map(() => first.user.get(body)))
  assert.equal(new Set(responses.map(({ text }) => text)).size, 1)
  assert.equal(new Set(responses.map(({ headers }) => headers['x-request-id'])).size, 3)
  assert.deepEqual(assertSuccess(responses[0] as (typeof responses)[0]).new_user_group, false)
})

describe('every replica returns the current state after', () => {
  for (const [who, other] of [
    ['here', first],
    ['elsewhere', second],
  ] as const) {
    it(`an update ${who}`, async () => {
      const body = freshBody()
      const { token } = await createCached(body)
      assertSuccess(await other.user.put({ ...body, name: 'Another' }))
      for (const { user, introspect } of replicas) {
        assert.equal(userGroupIn(await user.get({ user_group_id: body.user_group_id })).name, 'Another')
        assert.equal(assertActive(await introspect(token)).name, 'Another')
      }
      // The request asks for the previous name.
      assert.equal(userGroupIn(await first.user.get(body)).name, body.name)
      for (const { introspect } of replicas)
        assert.equal(assertActive(await introspect(token)).name, body.name)
    })

    it(`a rotation ${who}`, async () => {
      const body = freshBody()
      const { token } = await createCached(body)
      const rotated = tokenIn(await other.user.post({ current_token: token }))
      for (const { user, introspect } of replicas) {
        assert.equal(tokenIn(await user.get(body)), rotated)
        assertInactive(await introspect(token))
        assert.equal(assertActive(await introspect(rotated)).sub, body.user_group_id)
      }
    })

    it(`a suspension and its end ${who}`, async () => {
      const body = freshBody()
      const { token, team_id } = await createCached(body)
      const params = { team_id }
      assertSucceeded(await other.admin.suspendUserGroup({ params }), 'suspendUserGroup')
      for (const { introspect } of replicas) assertInactive(await introspect(token))
      assertSucceeded(await other.admin.resumeUserGroup({ params }), 'resumeUserGroup')
      for (const { introspect } of replicas) assertActive(await introspect(token))
    })

    it(`a deletion ${who} and its restore`, async () => {
      const body = freshBody()
      const { token, team_id } = await createCached(body)
      const params = { team_id }
      assertSucceeded(await other.admin.deleteUserGroup({ params }), 'deleteUserGroup')
      const name = { user_group_id: body.user_group_id }
      for (const { user, introspect } of replicas) {
        assertInactive(await introspect(token))
        assertFault(await user.get(name), 'name_required', ['/name'])
      }
      assertSucceeded(await other.admin.restoreDeletedUserGroup({ params }), 'restoreDeletedUserGroup')
      for (const { user, introspect } of replicas) {
        assert.equal(assertActive(await introspect(token)).team_id, team_id)
        assert.equal(tokenIn(await user.get(body)), token)
      }
    })

    it(`a deletion ${who} and another user group with the same id`, async () => {
      const body = freshBody()
      const { token, team_id } = await createCached(body)
      assertSucceeded(await other.admin.deleteUserGroup({ params: { team_id } }), 'deleteUserGroup')
      const created = assertSuccess(await first.user.get(body))
      assert.equal(created.new_user_group, true)
      assert.notEqual(created.user_group.token, token)
      for (const { user } of replicas)
        assert.deepEqual(assertSuccess(await user.get(body)), { ...created, new_user_group: false })
    })

    it(`the registration of a data source ${who} and its removal`, async () => {
      const provided_id = `schema of ${who}`
      const body = { ...freshBody(), mapping: { [provided_id]: 'eu' } }
      const { token } = await createCached(body)
      const assertNamed = async (expected: string[]) => {
        for (const { introspect } of replicas)
          assert.deepEqual(Object.keys(assertActive(await introspect(token)).data_sources), expected)
      }
      await assertNamed([])
      const { admin } = other
      const named = { provided_id, name: 'A schema' }
      const schema = assertSucceeded<{ schema: { id: number } }>(
        await admin.createSchema({ body: named }),
        'createSchema',
      )
      await assertNamed([])
      const created = assertSucceeded<{ data_source: { id: number } }>(
        await admin.createDataSource({
          body: { schema_id: schema.schema.id, provided_id: 'eu', name: 'Europe' },
        }),
        'createDataSource',
      )
      await assertNamed([provided_id])
      await other.user.put({ user_group_id: body.user_group_id, mapping: null })
      await assertNamed([])
      const removed = await admin.deleteDataSource({ params: { id: created.data_source.id } })
      assertSucceeded(removed, 'deleteDataSource')
      await other.user.put({ user_group_id: body.user_group_id, mapping: body.mapping })
      await assertNamed([])
    })
  }

  it('a change by the command `ugs`', async () => {
    const body = freshBody()
    const { token } = await createCached(body)
    await runCommand(here.service, 'user-group', 'suspend', body.user_group_id, '--environment', 'Testing')
    for (const { introspect } of replicas) assertInactive(await introspect(token))
  })

  it('the end of a grace period, which is not a change', async () => {
    const body = freshBody()
    const { token } = await createCached(body)
    const rotated = tokenIn(await first.user.post({ current_token: token, grace_period_seconds: 5 }))
    for (const { introspect } of [first, second, first, second])
      assert.ok(assertActive(await introspect(token)).exp)
    const claims = assertActive(await first.introspect(rotated))
    assert.equal(claims.exp, undefined)
    while ((await first.introspect(token)).text !== '{"active":false}') await sleep(20)
    assertInactive(await second.introspect(token))
  })
})

test('other environments and operations do not get a cached response', async () => {
  const body = freshBody()
  const { token, team_id } = await createCached(body)
  const created = assertSuccess(await userApi(here.service.origin, customers).get(body))
  assert.equal(created.new_user_group, true)
  assert.notEqual(created.user_group.team_id, team_id)
  assertInactive(await introspector(here.service.origin, customers)(token))
  const form = new URLSearchParams({ token }).toString()
  assertFault(await first.user.get(form), 'malformed_json')
  assert.ok('api_environment_tag' in userGroupIn(await first.user.put(body)))
})

test('headers are still checked before the cache', async () => {
  const body = freshBody()
  const { token } = await createCached(body)
  assertFault(await userApi(here.service.origin).get(body), 'unauthenticated')
  assertFault(await first.user.get(body, { 'content-encoding': 'gzip' }), 'unsupported_media_type')
  assertFault(await first.user.get(body, { 'content-type': 'text/plain' }), 'unsupported_media_type')
  assertFault(await userApi(here.service.origin, introspecting).get(body), 'forbidden')
  assert.equal(tokenIn(await userApi(here.service.origin, reading).get(body)), token)
  assertFault(await userApi(here.service.origin, reading).get({ ...body, name: 'Another' }), 'forbidden')
  const overridden = await first.user.post(body, { 'x-http-method-override': 'GET' })
  assert.equal(tokenIn(overridden), token)
})

test('random changes on both replicas are visible at once', async () => {
  interface Known {
    name: string
    token: string
    old: string[]
    teamId: number
    suspended: boolean
    deleted: boolean
  }
  const known = new Map<string, Known>()
  // Always the same sequence, so that failures are reproducible.
  let state = 20_261_123
  const draw = (count: number) => (state = (state * 48_271) % 2_147_483_647) % count
  const oneOf = <T>(values: readonly T[]) => values[draw(values.length)] as T
  for (let step = 0; step < cases(150); step++) {
    const { user, admin, introspect } = oneOf(replicas)
    const id = oneOf(['a', 'b', 'c'])
    const name = oneOf(['One', 'Two'])
    const body = { user_group_id: `walk ${id}`, name }
    const group = known.get(id)
    const params = { team_id: group?.teamId ?? 0 }
    if (group === undefined || group.deleted) {
      const created = assertSuccess(await user.get(body))
      assert.equal(created.new_user_group, true, `step ${step}`)
      for (const old of group ? [...group.old, group.token] : []) assertInactive(await introspect(old))
      const { token, team_id } = created.user_group
      known.set(id, { name, token, old: [], teamId: team_id, suspended: false, deleted: false })
      continue
    }
    switch (draw(12)) {
      case 0:
        userGroupIn(await user.put(body))
        group.name = name
        break
      case 1:
        group.old.push(group.token)
        group.token = tokenIn(await user.post({ current_token: group.token }))
        break
      case 2: {
        const operation = group.suspended ? 'resumeUserGroup' : 'suspendUserGroup'
        assertSucceeded(await admin[operation]({ params }), operation)
        group.suspended = !group.suspended
        break
      }
      case 3:
        if (draw(3) !== 0) break
        assertSucceeded(await admin.deleteUserGroup({ params }), 'deleteUserGroup')
        group.deleted = true
        break
      default: {
        const asked = draw(2) === 0 ? { user_group_id: body.user_group_id } : body
        group.name = 'name' in asked ? asked.name : group.name
        const shown = assertSuccess(await user.get(asked))
        const { name, token, team_id } = shown.user_group
        const expected = [false, group.name, group.token, group.teamId]
        assert.deepEqual([shown.new_user_group, name, token, team_id], expected, `step ${step}`)
        const response = await introspect(group.token)
        if (group.suspended) assertInactive(response)
        else assert.equal(assertActive(response).name, group.name, `step ${step}`)
        for (const old of group.old.slice(-2)) assertInactive(await introspect(old))
      }
    }
  }
})
