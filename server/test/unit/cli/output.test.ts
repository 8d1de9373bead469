import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable } from '../../../src/cli/output.ts'

test('control characters are escaped, because they could control the terminal', () => {
  assert.equal(
    printable('Näme\n \u001b[31m \u007f \u009b31m 😀'),
    'Näme\\u000a \\u001b[31m \\u007f \\u009b31m 😀',
  )
})
