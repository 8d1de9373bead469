import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredEncoding } from '../../../src/http/content-encoding.ts'

for (const [header, expected] of [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZIP ; Q=1', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.9, gzip;q=1.0', 'gzip'],
  ['br;q=0.001', 'br'],
  ['br;q=0', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['identity', 'identity'],
  ['identity;q=0.5, gzip;q=0.4', 'identity'],
  ['identity;q=0, gzip;q=0.4', 'gzip'],
  ['deflate, zstd', 'identity'],
  ['br;q=nonsense', 'identity'],
] as const) {
  test(`Accept-Encoding: ${header ?? '(none)'} → ${expected}`, () => {
    assert.equal(preferredEncoding(header, ['br', 'gzip']), expected)
  })
}

test('an encoding that is not available is not chosen', () => {
  assert.equal(preferredEncoding('br, gzip;q=0.5', ['gzip']), 'gzip')
  assert.equal(preferredEncoding('br', []), 'identity')
})
