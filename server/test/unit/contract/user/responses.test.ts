import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  getOrCreateResponse,
  introspectionResponse,
  rotationResponse,
  updateResponse,
} from '../../../../src/contract/user/responses.ts'
import { ErrorResponse, errorBody } from '../../../../src/contract/errors.ts'
import {
  GetOrCreateResponse,
  IntrospectionResponse,
  RotationResponse,
  UpdateResponse,
} from '../../../../src/contract/user/schemas.ts'
import { compileValidator } from '../../../../src/contract/validator.ts'
import { Fault } from '../../../../src/domain/fault.ts'
import { generateApiToken } from '../../../../src/domain/token/token.ts'
import { unknownToken } from '../../../support/tokens.ts'

const userGroup = {
  workspaceId: 1,
  environment: 'Testing',
  teamId: 7,
  token: unknownToken('Testing'),
  name: 'A "name" \\ with \u2028 and 😀',
  providedId: '</script>',
  mapping: '{"40":"213"}',
  properties: '{"a":1.0,"b":["\\u00e9"]}',
  createdAt: 1,
  updatedAt: 1,
  tokenIssuedAt: 1,
  revision: 1,
  updatedBy: null,
  suspendedAt: null,
} as const

const common = { team_id: 7, token: userGroup.token, name: userGroup.name, provided_id: userGroup.providedId }
const properties = { a: 1, b: ['é'] }

describe('response bodies match their schemas', () => {
  const cases = {
    'get or create': {
      schema: GetOrCreateResponse,
      text: getOrCreateResponse(true, userGroup),
      value: { success: 1, new_user_group: true, user_group: { ...common, properties } },
    },
    'get or create, without properties': {
      schema: GetOrCreateResponse,
      text: getOrCreateResponse(false, { ...userGroup, properties: null }),
      value: { success: 1, new_user_group: false, user_group: { ...common, properties: null } },
    },
    update: {
      schema: UpdateResponse,
      text: updateResponse(userGroup),
      value: {
        success: 1,
        new_user_group: false,
        user_group: { ...common, properties, api_environment_tag: 'Testing' },
      },
    },
    rotation: {
      schema: RotationResponse,
      text: rotationResponse(userGroup),
      value: { success: 1, user_group: { ...common, api_environment_tag: 'Testing' } },
    },
    'introspection of a token in its grace period': {
      schema: IntrospectionResponse,
      text: introspectionResponse({
        userGroup,
        issuedAt: 1_999,
        validUntil: 61_999,
        dataSources: [
          {
            schemaKey: '40',
            schema: { id: 12, providedId: 'w' },
            dataSource: { id: 213, providedId: 'a"b', name: '\u2028' },
          },
        ],
      }),
      value: {
        active: true,
        token_type: 'user_group',
        sub: userGroup.providedId,
        iat: 1,
        exp: 61,
        team_id: 7,
        name: userGroup.name,
        api_environment_tag: 'Testing',
        mapping: { '40': '213' },
        data_sources: {
          '40': { id: 213, provided_id: 'a"b', name: '\u2028', schema: { id: 12, provided_id: 'w' } },
        },
        properties,
      },
    },
    'introspection of a current token, with nothing set': {
      schema: IntrospectionResponse,
      text: introspectionResponse({
        userGroup: { ...userGroup, mapping: null, properties: null },
        issuedAt: 1,
        validUntil: null,
        dataSources: [],
      }),
      value: {
        active: true,
        token_type: 'user_group',
        sub: userGroup.providedId,
        iat: 0,
        team_id: 7,
        name: userGroup.name,
        api_environment_tag: 'Testing',
        mapping: null,
        data_sources: {},
        properties: null,
      },
    },
    'introspection of any other token': {
      schema: IntrospectionResponse,
      text: introspectionResponse(null),
      value: { active: false },
    },
    error: {
      schema: ErrorResponse,
      text: errorBody(
        new Fault('not_found', 'Nothing here', { fields: [{ path: '/a', message: 'b' }] }),
        'r1',
      ),
      value: {
        success: 0,
        error: {
          code: 'not_found',
          message: 'Nothing here',
          request_id: 'r1',
          fields: [{ path: '/a', message: 'b' }],
        },
      },
    },
    'error without fields': {
      schema: ErrorResponse,
      text: errorBody(new Fault('internal', 'Oh'), 'r1'),
      value: { success: 0, error: { code: 'internal', message: 'Oh', request_id: 'r1' } },
    },
  }
  for (const [name, { schema, text, value }] of Object.entries(cases)) {
    it(name, () => {
      const parsed: unknown = JSON.parse(text)
      assert.deepEqual(parsed, value)
      const validate: (value: unknown) => void = compileValidator(schema)
      validate(parsed)
    })
  }

  it('an error message contains no token', () => {
    const token = generateApiToken('Customer')
    const text = errorBody(
      new Fault('validation_failed', `${token}: no`, { fields: [{ path: `/${token}`, message: token }] }),
      'r1',
    )
    assert.ok(!text.includes(token.slice(0, 20)))
  })
})
