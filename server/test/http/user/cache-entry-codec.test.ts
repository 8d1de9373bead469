import assert from 'node:assert/strict'
import { it } from 'node:test'
import { getOrCreateResponse, introspectionResponse } from '../../../src/contract/user/responses.ts'
import type { Environment } from '../../../src/domain/environment.ts'
import { generateToken } from '../../../src/domain/token/token.ts'
import { pack, unpack } from '../../../src/http/user/cache-entry-codec.ts'

const properties = '{"region":"EU","plan":"gold","seats":25,"currency":"EUR","features":["export","alerts"]}'
const mapping = '{"40":"213","41":"orders"}'

function answersTo(name: string, properties: string | null, environment: Environment = 'Customer') {
  const shown = { providedId: 'example-1', teamId: 123_456, name, environment, properties }
  const userGroup = {
    ...{ ...shown, workspaceId: 1, mapping, revision: 1, updatedBy: null, suspendedAt: null },
    ...{ createdAt: 1, updatedAt: 1, tokenIssuedAt: 1 },
  }
  return {
    view: getOrCreateResponse(false, { ...shown, token: generateToken('userGroup', environment) }),
    introspection: introspectionResponse({
      ...{ userGroup, issuedAt: 1_795_000_000_000, validUntil: null, dataSources: [] },
    }),
  }
}

const questionOf = (name: string, properties: string | null) =>
  `{"user_group_id":"example-1","name":${JSON.stringify(name)},"properties":${properties}}`

for (const environment of ['Customer', 'Testing'] as const) {
  it(`an answer of ${environment} is packed to less than half`, () => {
    const { view, introspection } = answersTo('Example customer', properties, environment)
    const packedView = pack(view, questionOf('Example customer', properties), properties)
    assert.ok(packedView && packedView.packed.length < 0.4 * view.length, packedView?.packed)
    const packedIntrospection = pack(introspection, 'token=x', properties)
    assert.ok(packedIntrospection && packedIntrospection.packed.length < 0.6 * introspection.length)
  })
}

for (const [name, properties] of [
  ['Example customer', null],
  ['Näme 🙂 "quoted" \\ \u2028', '{"a" : [1.0, "ü\\u0000"],\n\t"b":"\\u000e"}'],
  [',"token":"ugt_customer_', '{"x":",\\"properties\\":"}'],
  ['A', '{}'],
  ['{}', '{}'],
  ['$& $1', '{"$&":"$1"}'],
] as const) {
  it(`an answer comes back as it was: ${name}, ${properties}`, () => {
    for (const json of Object.values(answersTo(name, properties))) {
      for (const question of [questionOf(name, properties), 'token=x', '']) {
        const packed = pack(json, question, properties ?? '')
        assert.ok(packed)
        assert.equal(unpack(packed, question), json)
      }
    }
  })
}

it('what has characters in it that stand for parts is not packed', () => {
  for (const character of ['\x01', '\x0e', '\x1c'])
    assert.equal(pack(`{"a":"${character}"}`, '', ''), undefined)
})
