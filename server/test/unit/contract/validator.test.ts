import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { UsageBody } from '../../../src/contract/usage/schemas.ts'
import { compileValidator } from '../../../src/contract/validator.ts'
import type { AdminOperation } from '../../../src/http/admin/operation.ts'
import { adminOperations } from '../../../src/http/admin/operations.ts'

test('a list that is too long is refused with both limits, also if only one is set', () => {
  const validate: (value: unknown) => void = compileValidator(
    Type.Object({ types: Type.Array(Type.String(), { maxItems: 2 }) }),
  )
  validate({ types: [] })
  assert.throws(() => {
    validate({ types: ['a', 'b', 'c'] })
  }, /types: must have 0 to 2 entries/)
})

/** Returns the places of numbers in a schema that lack one of their limits: a larger one would reach the store. */
function unboundedNumbers(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const isUnbounded =
    'type' in schema &&
    (schema.type === 'integer' || schema.type === 'number') &&
    !('const' in schema) &&
    !('minimum' in schema && 'maximum' in schema)
  const inside = Object.entries(schema).flatMap(([name, value]) => unboundedNumbers(value, `${path}/${name}`))
  return isUnbounded ? [path, ...inside] : inside
}

test('each number in a body has both limits', () => {
  const bodies = Object.entries<AdminOperation>(adminOperations).map(([id, { body }]) => [id, body])
  assert.deepEqual(unboundedNumbers(Object.fromEntries([...bodies, ['recordUsage', UsageBody]])), [])
})
