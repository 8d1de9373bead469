import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { writeJson } from '../../../../src/contract/json/json-writer.ts'
import { LeakedTokenResponse } from '../../../../src/http/admin/leaked-tokens/schemas.ts'
import { AdminUserGroup } from '../../../../src/http/admin/user-groups/schemas.ts'

const group = {
  ...{ suspendedAt: null, tokenIssuedAt: 0, updatedBy: null, updatedAt: 1500, createdAt: 0, revision: 1 },
  ...{
    properties: '{ "a":1.0 }',
    mapping: null,
    name: 'A\n',
    environment: 'Testing',
    providedId: 'a',
    teamId: 7,
  },
  token: 'ugt_testing_secret',
}

describe('writeJson', () => {
  it('writes the members of the schema in its order, and JSON text byte for byte', () => {
    assert.equal(
      writeJson(AdminUserGroup, group),
      '{"team_id":7,"provided_id":"a","api_environment_tag":"Testing","name":"A\\n","mapping":null,"properties":{ "a":1.0 },' +
        '"revision":1,"created_at":"1970-01-01T00:00:00.000Z","updated_at":"1970-01-01T00:00:01.500Z","updated_by":null,' +
        '"token_issued_at":"1970-01-01T00:00:00.000Z","suspended_at":null}',
    )
  })

  it('throws for a missing member, so that no response lacks one', () => {
    assert.throws(() => writeJson(AdminUserGroup, { ...group, updatedBy: undefined }), /lacks updated_by/)
  })

  it('omits an optional member that is absent', () => {
    const schema = Type.Object({ a: Type.Optional(Type.String()), b_c: Type.Optional(Type.Unknown()) })
    assert.deepEqual(
      [{}, { a: 'x' }, { bC: null }].map((value) => writeJson(schema, value)),
      ['{}', '{"a":"x"}', '{"b_c":null}'],
    )
  })

  it('takes the alternative with the constants of the value', () => {
    const unknown = { kind: 'unknown', works: false, userGroup: group }
    assert.equal(writeJson(LeakedTokenResponse, unknown), '{"success":1,"kind":"unknown","works":false}')
    assert.throws(() => writeJson(LeakedTokenResponse, { kind: 'other' }), /has no schema/)
    const nullable = Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()])
    assert.deepEqual(
      [{ id: 1 }, null].map((value) => writeJson(nullable, value)),
      ['{"id":1}', 'null'],
    )
  })
})
