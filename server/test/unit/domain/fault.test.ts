import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/domain/fault.ts'

test('a fault captures no stack trace, and later errors do', () => {
  const fault = new Fault('unauthenticated', 'Who are you')
  assert.doesNotMatch(fault.stack ?? '', /\n\s+at /)
  assert.match(new Error('unexpected').stack ?? '', /\n\s+at /)
})
