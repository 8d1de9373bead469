import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken, showUserGroup } from '../../server/test/support/command.ts'
import { sharedService } from '../../server/test/support/service.ts'
import { UserGroupClient } from '../src/index.ts'
import { serviceFailure } from './support/client.ts'

describe('running service', () => {
  const service = sharedService()
  const clientWith = (apiToken: string) => new UserGroupClient({ origin: service().origin, apiToken })
  const client = () => clientWith(service().tokens.Testing)

  it('a user group is created, found, changed and cleared', async () => {
    const properties = {
      region: 'EU',
      numbers: [0.1, 1e21, -1.5, 9007199254740991],
      nothing: null,
      '': { ü: '🦔' },
    }
    const first = await client().getOrCreate({
      userGroupId: 'customer-1',
      name: 'Customer',
      mapping: { 40: '213' },
      properties,
    })
    assert.equal(first.newUserGroup, true)
    const { teamId, token, ...others } = first.userGroup
    assert.deepEqual(others, { name: 'Customer', providedId: 'customer-1', properties })
    assert.match(token, /^ugt_testing_/)

    const second = await client().getOrCreate({ userGroupId: 'customer-1' })
    assert.deepEqual(second, { ...first, newUserGroup: false })

    const updated = await client().update({ userGroupId: 'customer-1', name: 'Renamed', properties: null })
    assert.deepEqual(updated, {
      ...{ teamId, token, name: 'Renamed', providedId: 'customer-1', properties: null },
      environment: 'Testing',
    })
    assert.deepEqual((await showUserGroup(service(), 'customer-1')).mapping, { 40: '213' })
    await client().update({ userGroupId: 'customer-1', mapping: null })
    assert.equal((await showUserGroup(service(), 'customer-1')).mapping, null)
  })

  it('exactly one of many concurrent calls creates, and all return the same token', async () => {
    const one = client()
    const calls = Array.from({ length: 20 }, () => one.getOrCreate({ userGroupId: 'many', name: 'Many' }))
    const results = await Promise.all(calls)
    assert.equal(results.filter(({ newUserGroup }) => newUserGroup).length, 1)
    assert.equal(new Set(results.map(({ userGroup }) => userGroup.token)).size, 1)
  })

  it('a token is rotated with a grace period, and the renderer sees it', async () => {
    const introspector = clientWith(await createApiToken(service(), 'Customer', '--scopes', 'introspect'))
    const customer = clientWith(service().tokens.Customer)
    const { userGroup } = await customer.getOrCreate({
      userGroupId: 'viewed',
      name: 'Viewed',
      mapping: { 40: '213' },
      properties: { region: 'EU' },
    })
    const { token: issued, ...seen } = (await introspector.introspect(userGroup.token)) ?? {}
    assert.deepEqual(seen, {
      providedId: 'viewed',
      teamId: userGroup.teamId,
      name: 'Viewed',
      environment: 'Customer',
      mapping: { 40: '213' },
      dataSources: {},
      properties: { region: 'EU' },
      ...{ sessionId: null, viewer: null, resources: null },
    })
    assert.ok(Math.abs((issued?.issuedAt ?? 0) - Date.now()) < 60_000)
    assert.equal(issued?.expiresAt, null)

    const second = await customer.rotate({ currentToken: userGroup.token, gracePeriodSeconds: 3600 })
    assert.deepEqual(second, {
      ...{ teamId: userGroup.teamId, name: 'Viewed', providedId: 'viewed' },
      ...{ environment: 'Customer', token: second.token },
    })
    const old = await introspector.introspect(userGroup.token)
    assert.ok(Math.abs((old?.token.expiresAt ?? 0) - Date.now() - 3_600_000) < 60_000)

    const third = await customer.rotate({ currentToken: second.token })
    assert.equal(await introspector.introspect(second.token), null)
    assert.equal((await introspector.introspect(third.token))?.token.expiresAt, null)
    assert.equal(await introspector.introspect('unknown'), null)
  })

  it('an idempotency key rotates once', async () => {
    const { userGroup } = await client().getOrCreate({ userGroupId: 'once', name: 'Once' })
    const rotation = { currentToken: userGroup.token }
    const first = await client().rotate(rotation, { idempotencyKey: 'once' })
    assert.deepEqual(await client().rotate(rotation, { idempotencyKey: 'once' }), first)
    const error = await serviceFailure(
      client().rotate({ ...rotation, gracePeriodSeconds: 1 }, { idempotencyKey: 'once' }),
    )
    assert.deepEqual([error.code, error.status], ['idempotency_key_reused', 422])
  })

  it('errors keep their codes', async () => {
    const created = (await client().getOrCreate({ userGroupId: 'errors', name: 'A' })).userGroup
    await client().rotate({ currentToken: created.token })
    const reader = clientWith(await createApiToken(service(), 'Testing', '--scopes', 'read'))
    const elsewhere = new UserGroupClient({
      origin: `${service().origin}/elsewhere`,
      apiToken: service().tokens.Testing,
    })
    const userGroupId = 'errors'
    const cases: [code: string, status: number, paths: string[], call: () => Promise<unknown>][] = [
      ['name_required', 400, ['/name'], () => client().getOrCreate({ userGroupId: 'new' })],
      [
        'validation_failed',
        400,
        ['/mapping/40', '/colour'],
        () => client().update({ userGroupId, mapping: { 40: 1 }, colour: 'red' } as never),
      ],
      ['validation_failed', 400, ['/a'], () => client().rotate({ currentToken: 'x', a: 1 } as never)],
      ['malformed_json', 400, ['/name'], () => client().update({ userGroupId, name: '\ud800' })],
      ['unauthenticated', 401, [], () => clientWith('uga_testing_wrong').update({ userGroupId })],
      ['forbidden', 403, [], () => reader.update({ userGroupId })],
      ['forbidden', 403, [], () => reader.getOrCreate({ userGroupId, name: 'B' })],
      ['forbidden', 403, [], () => client().introspect(created.token)],
      ['user_group_not_found', 404, [], () => client().update({ userGroupId: 'absent' })],
      ['token_not_found', 404, [], () => client().rotate({ currentToken: 'absent' })],
      ['not_found', 404, [], () => elsewhere.getOrCreate({ userGroupId })],
      ['token_superseded', 409, [], () => client().rotate({ currentToken: created.token })],
      [
        'body_too_large',
        413,
        [],
        () => client().update({ userGroupId, properties: { a: 'x'.repeat(2 ** 20) } }),
      ],
      ['headers_too_large', 431, [], () => clientWith('x'.repeat(20_000)).update({ userGroupId })],
      [
        'invalid_idempotency_key',
        400,
        [],
        () => client().rotate({ currentToken: created.token }, { idempotencyKey: 'ü' }),
      ],
    ]
    for (const [code, status, paths, call] of cases) {
      const error = await serviceFailure(call())
      assert.deepEqual([error.code, error.status], [code, status], error.message)
      assert.deepEqual(error.fields.map(({ path }) => path).sort(), paths.sort())
      assert.match(error.requestId, /^[\w-]+$/)
    }
  })
})
