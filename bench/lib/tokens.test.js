import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWellFormedToken } from '../../server/dist/domain/token/token.js'
import { seededToken } from './tokens.js'

test('a seeded token is one that the service takes', () => {
  assert.ok(isWellFormedToken('userGroup', seededToken(0)))
  assert.ok(isWellFormedToken('userGroup', seededToken(3_000_000)))
})
