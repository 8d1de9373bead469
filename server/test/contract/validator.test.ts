import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { compileValidator } from '../../src/contract/validator.ts'

test('a list that is too long is refused with both limits, also if only one is set', () => {
  const validate: (value: unknown) => void = compileValidator(
    Type.Object({ types: Type.Array(Type.String(), { maxItems: 2 }) }),
  )
  validate({ types: [] })
  assert.throws(() => {
    validate({ types: ['a', 'b', 'c'] })
  }, /types: must have 0 to 2 entries/)
})
