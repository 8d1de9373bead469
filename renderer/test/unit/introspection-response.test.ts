import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readIntrospection } from '../../src/introspection-response.ts'
import { active, activeSession, viewer } from '../introspection-server.ts'

function read(change: Record<string, unknown>) {
  return readIntrospection(JSON.stringify({ ...active, ...change }))
}

describe('introspection response', () => {
  it('inactive token', () => {
    assert.equal(readIntrospection('{"active":false}'), null)
    assert.equal(readIntrospection(' { "active" : false } \n'), null)
  })

  it('end of a grace period, in milliseconds', () => {
    assert.deepEqual(read({ exp: 1_790_000_600 })?.token, {
      issuedAt: 1_790_000_000_000,
      expiresAt: 1_790_000_600_000,
    })
  })

  it('without mapping, properties or data sources', () => {
    const userGroup = read({
      mapping: null,
      properties: null,
      data_sources: {},
      api_environment_tag: 'Testing',
    })
    assert.ok(userGroup)
    assert.equal(userGroup.mapping, null)
    assert.equal(userGroup.properties, null)
    assert.deepEqual(userGroup.dataSources, {})
    assert.equal(userGroup.environment, 'Testing')
  })

  it('with unknown members', () => {
    assert.equal(read({ scope: 'view', client_id: 'x' })?.providedId, 'customer-42')
  })

  it('with arbitrary keys', () => {
    const text = JSON.stringify(active)
      .replace('"mapping":{"40"', '"mapping":{"__proto__":"1","constructor"')
      .replace('"data_sources":{"40"', '"data_sources":{"__proto__"')
      .replace('"properties":{', '"properties":{"__proto__":{"polluted":true},')
    const userGroup = readIntrospection(text) ?? assert.fail()
    assert.deepEqual(Object.entries(userGroup.mapping ?? {}), [['__proto__', '1'], ['constructor', '213']]) // prettier-ignore
    assert.deepEqual(Object.keys(userGroup.dataSources), ['__proto__'])
    assert.deepEqual(Object.keys(userGroup.properties ?? {}), ['__proto__', 'region'])
    assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  })

  it('of a session', () => {
    const session = (change: object) => readIntrospection(JSON.stringify({ ...activeSession, ...change }))
    const { viewer: read, resources, token } = session({}) ?? assert.fail()
    const { time_zone: timeZone, ...others } = viewer
    assert.deepEqual(read, { ...others, timeZone })
    assert.deepEqual(resources, activeSession.resources)
    assert.deepEqual(token, { issuedAt: 1_790_000_000_000, expiresAt: 1_790_000_900_000 })
    const without = { id: 'u-7', name: null, properties: null, timeZone: null, locale: null }
    for (const viewer of [{ id: 'u-7' }, { ...without, time_zone: null, unknown: 1 }])
      assert.deepEqual(session({ viewer })?.viewer, without)
    for (const resources of [undefined, null]) assert.equal(session({ resources })?.resources, null)
  })

  it('of a user group token has no viewer and no resources', () => {
    const userGroup = read({ viewer, resources: ['a'] })
    assert.deepEqual([userGroup?.viewer, userGroup?.resources], [null, null])
  })

  const wrong: Record<string, unknown[]> = {
    active: [undefined, null, 'true', 1, false],
    token_type: [undefined, null, 'bearer', 'User_Group', 'viewer_session_v2', ['viewer_session']],
    sub: [undefined, null, '', 42, {}],
    iat: [undefined, null, '1790000000', -1, 1.5, 1e300],
    exp: [null, '1790000000', -1, 1.5, 1e300],
    team_id: [undefined, null, '7', -1, 1.5],
    name: [undefined, null, '', 7],
    api_environment_tag: [undefined, null, '', 'customer', ['Customer']],
    mapping: [undefined, [], 'x', { 40: 213 }, { 40: null }, { 40: '' }],
    data_sources: [
      undefined, null, [], { 40: null }, { 40: [] }, { 40: { id: 213 } }, { 40: { id: '213', provided_id: 'a', name: 'b' } },
      { 40: { id: 213, provided_id: null, name: 'b' } }, { 40: { id: 213, provided_id: 'a', name: '' } },
      { 40: { id: 213, provided_id: 'a', name: 'b' } }, { 40: { id: 213, provided_id: 'a', name: 'b', schema: { id: 1 } } },
    ],
    properties: [undefined, [], 'x', 1, true],
  } // prettier-ignore
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      it(`refuses ${name} ${JSON.stringify(value)}`, () => {
        assert.throws(() => read({ [name]: value }), { name: 'IntrospectionError', code: 'bad_response' })
      })
    }
  }

  const wrongOfSession = {
    exp: [undefined, null, '1790000900'],
    viewer: [
      ...[undefined, null, [], 'u-7', {}, { id: null }, { id: '' }, { id: 7 }, { id: 'u-7', name: '' }, { id: 'u-7', name: 7 }],
      ...[{ id: 'u-7', properties: [] }, { id: 'u-7', time_zone: 1 }, { id: 'u-7', locale: {} }],
    ],
    resources: [[], 'stock', {}, [1], ['stock', null], ['']],
  } // prettier-ignore
  for (const [name, values] of Object.entries(wrongOfSession)) {
    for (const value of values) {
      it(`refuses a session with ${name} ${JSON.stringify(value)}`, () => {
        assert.throws(() => readIntrospection(JSON.stringify({ ...activeSession, [name]: value })), {
          name: 'IntrospectionError',
          code: 'bad_response',
        })
      })
    }
  }

  for (const text of [
    '',
    'null',
    'true',
    '[]',
    '"active"',
    '{}',
    '[{"active":false}]',
    '{"active":false,"sub":"x"}',
    '{"__proto__":{"active":true}}',
    '{"active":true}',
    '{"active":false',
    '\ufeff{}x',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => readIntrospection(text), { name: 'IntrospectionError', code: 'bad_response' })
    })
  }

  it('of any depth', () => {
    const deep = '{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000)
    const userGroup = readIntrospection(JSON.stringify(active).replace('{"region":"EU"}', deep))
    assert.ok(Object.isFrozen(userGroup?.properties?.a))
  })

  it('never appears in a message', () => {
    for (const text of [
      '{"sub":"secret"',
      JSON.stringify({ ...active, mapping: { secret: 1 } }),
      '{"active":false,"secret":1}',
    ]) {
      assert.throws(
        () => readIntrospection(text),
        (error: unknown) => error instanceof Error && !`${error.message}${error.stack}`.includes('secret'),
      )
    }
  })
})
