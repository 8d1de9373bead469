import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { createApiToken } from '../../server/test/support/command.ts'
import {
  assertActive,
  assertInactive,
  introspector,
  type Introspect,
} from '../../server/test/support/introspection.ts'
import { sharedService } from '../../server/test/support/service.ts'
import { serviceFailure } from './support/client.ts'
import { describeClients, type Client } from './support/clients.ts'

describeClients('viewer sessions of a running service', ({ clientOf }) => {
  const service = sharedService({ UGS_PUBLIC_URL: 'https://user-groups.example.com' })
  let client: Client
  let renderer: Client
  let introspect: Introspect
  before(async () => {
    client = clientOf(service().origin, { apiToken: service().tokens.Testing })
    const apiToken = await createApiToken(service(), 'Testing', '--scopes', 'introspect')
    introspect = introspector(service().origin, apiToken)
    renderer = clientOf(service().origin, { apiToken })
    const properties = { regions: ['EU', 'US'], plan: 'gold' }
    await client.getOrCreate({ userGroupId: 'a', name: 'A', properties, mapping: { sales: '1', other: '2' } })
  })

  it('show the viewer, and what they may see of the user group', async () => {
    const viewer = { id: 'u-7', name: 'Ada', properties: { isAdmin: true }, locale: 'de-DE' }
    const { token, sessionId, expiresAt, expiresInSeconds } = await client.createSession(
      'a',
      { ...viewer, timeZone: 'Europe/Berlin' },
      {
        narrow: { properties: { regions: ['EU'] }, schemas: ['sales'] },
        ...{ resources: ['overview'], expiresInSeconds: 60 },
      },
    )
    const { sub, jti, exp, viewer: shown, properties, mapping } = assertActive(await introspect(token))
    assert.deepEqual([sub, jti, (exp ?? 0) * 1000, expiresInSeconds], ['a', sessionId, expiresAt, 60])
    assert.deepEqual(shown, { ...viewer, time_zone: 'Europe/Berlin' })
    assert.deepEqual([properties, mapping], [{ regions: ['EU'], plan: 'gold' }, { sales: '1' }])
    assertInactive(await introspect(token, { resource: 'others' }))
    const seen = await renderer.introspect(token, { resource: 'overview' })
    assert.deepEqual([seen?.providedId, seen?.sessionId, seen?.resources], ['a', sessionId, ['overview']])
    assert.deepEqual(seen?.viewer, { ...viewer, timeZone: 'Europe/Berlin' })
    assert.deepEqual([seen.properties, seen.token.expiresAt], [properties, expiresAt])
    assert.equal(await renderer.introspect(token, { resource: 'others' }), null)
  })

  it('carry content for engines that verify tokens themselves', async () => {
    const options = { audience: 'cube', include: ['name'], claims: { isAdmin: false } }
    const { token } = await client.createSession('a', { id: 'u-7' }, options)
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
    const { aud, name, isAdmin } = JSON.parse(payload) as Record<string, unknown>
    assert.deepEqual([aud, name, isAdmin], ['cube', 'A', false])
  })

  it('end for one viewer, or for all', async () => {
    const tokenOf = async (id: string) => (await client.createSession('a', { id })).token
    const [one, other] = [await tokenOf('one'), await tokenOf('other')]
    await client.endSessions('a', 'one')
    assertInactive(await introspect(one))
    assertActive(await introspect(other))
    await client.endSessions('a')
    assertInactive(await introspect(other))
  })

  it('errors keep their codes', async () => {
    for (const [code, call] of [
      ['user_group_not_found', () => client.createSession('absent', { id: 'u-7' })],
      ['user_group_not_found', () => client.endSessions('absent')],
      ['validation_failed', () => client.createSession('a', { id: '', timeZone: 'Europe/Atlantis' })],
      [
        'validation_failed',
        () => client.createSession('a', { id: 'b' }, { narrow: { schemas: ['absent'] } }),
      ],
    ] as const)
      assert.equal((await serviceFailure(call())).code, code)
  })
})
