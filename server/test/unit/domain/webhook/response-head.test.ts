import assert from 'node:assert/strict'
import { test } from 'node:test'
import { responseHead } from '../../../../src/domain/webhook/response-head.ts'
import { generateWebhookSecret } from '../../../../src/domain/webhook/webhook-endpoint.ts'

const shown = (headers: Parameters<typeof responseHead>[0]) =>
  JSON.parse(responseHead(headers)) as Record<string, string>

test('credentials of the receiver and tokens are left out', () => {
  const headers = {
    'content-type': 'text/plain',
    'set-cookie': ['a=b'],
    'x-csrf-token': 'c',
    'X-Api-Key': 'd',
  }
  assert.deepEqual(shown(headers), { 'content-type': 'text/plain' })
  const secret = generateWebhookSecret()
  assert.deepEqual(shown({ 'x-echo': `got ${secret}` }), { 'x-echo': 'got [token]' })
})

test('a long head is shortened', () => {
  assert.equal(shown({ long: 'x'.repeat(16_000) }).long?.length, 201)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, 'value']))
  const kept = responseHead(many)
  assert.ok(kept.length > 1000 && kept.length < 4000, String(kept.length))
})

test('control characters are replaced', () => {
  assert.deepEqual(shown({ a: 'b\u0000\u001b[31m' }), { a: 'b??[31m' })
})
