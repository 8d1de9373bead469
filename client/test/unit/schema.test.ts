import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openApiDocument } from '../../../server/src/http/docs/openapi-document.ts'
import { TransportError } from '../../src/errors.ts'
import { read } from '../../src/schema.ts'
import { operations, schemas } from '../../src/schemas.ts'

type Json = Record<string, unknown>
interface Example {
  readonly example: Json
}
type Documented = Record<string, { responses: Record<string, { content: Record<string, Example> }> }>

const { paths } = openApiDocument('0.0.0') as {
  paths: Record<string, Documented[string]> & Record<string, Documented>
}

const isRefused = (error: unknown) => error instanceof TransportError && error.code === 'bad_response'

describe('reader', () => {
  for (const [name, operation] of Object.entries(operations)) {
    const { method, path, returns } = operation
    const status = 'status' in operation ? 201 : 200
    it(`reads the documented response of ${name}, and refuses it without any of its members`, () => {
      const { responses } = paths[`/admin/v1${path}`]?.[method.toLowerCase()] as Documented[string]
      const { example } = responses[status]?.content['application/json'] as Example
      const result = read(schemas[returns], example, 'it') as Json
      assert.ok(!('success' in result))
      assert.deepEqual(read(schemas[returns], { ...example, added: 1 }, 'it'), result)
      const optional = (member: string) => `${member}?` in (schemas[returns] as object)
      for (const member of Object.keys(example)) {
        if (optional(member)) continue
        const incomplete = { ...example, [member]: undefined }
        assert.throws(() => read(schemas[returns], incomplete, 'it'), isRefused, member)
      }
    })
  }

  it('passes on values of newer services, except environments', () => {
    assert.equal(read('active/paused', 'archived', 'it'), 'archived')
    assert.throws(() => read('active/paused', 1, 'it'), isRefused)
    assert.throws(() => read('environment', 'Staging', 'it'), isRefused)
  })

  it('keeps names in mappings and properties', () => {
    const json = JSON.parse('{"is_kept":{"a_b":"c"},"more":null}') as Json
    const schema = { is_kept: 'mapping', more: 'object|null', 'absent?': 'time' }
    assert.deepEqual(read(schema, json, 'it'), { isKept: { a_b: 'c' }, more: null })
  })

  it('names the invalid member', () => {
    const times = { user_groups: [{ created_at: 'time' }] }
    assert.throws(
      () => read(times, { user_groups: [{ created_at: 'yesterday' }] }, 'it'),
      /created_at is invalid/,
    )
    assert.throws(() => read(times, { user_groups: [{}] }, 'it'), isRefused)
    assert.throws(() => read(times, { user_groups: {} }, 'it'), isRefused)
  })

  it('reads times as milliseconds', () => {
    assert.equal(read('time|null', '1970-01-01T00:00:01.500Z', 'it'), 1500)
    assert.equal(read('time|null', null, 'it'), null)
  })
})
