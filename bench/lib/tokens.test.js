import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWellFormedToken } from '../../server/dist/domain/token/token.js'
import { seededToken } from './tokens.js'

test('the service accepts a seeded token', () => {
  assert.ok(isWellFormedToken('userGroup', seededToken(0)))
  assert.ok(isWellFormedToken('userGroup', seededToken(3_000_000)))
})
