import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import type { HttpResponse } from '../../support/http.ts'
import { startNewProcess, startService } from '../../support/service.ts'
import { unknownToken } from '../../support/tokens.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

async function newToken(id: string): Promise<string> {
  return tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
}

const currentToken = async (id: string) => tokenIn(await api.get({ user_group_id: id }))

const withKey = (key: string) => ({ 'idempotency-key': key })

test('a retry with the same key and body gets the first response again and rotates nothing', async () => {
  const body = { current_token: await newToken('retry') }
  const first = await api.post(body, withKey('retry'))
  assertSuccess(first)
  for (let i = 0; i < 3; i++) {
    const again = await api.post(body, withKey('retry'))
    assertSuccess(again)
    assert.equal(again.text, first.text)
  }
  assert.equal(await currentToken('retry'), tokenIn(first))
})

test('a retry gets the first response even after the user group has moved on', async () => {
  const body = { current_token: await newToken('moved-on') }
  const first = await api.post(body, withKey('moved-on'))
  const newest = tokenIn(await api.post({ current_token: tokenIn(first) }))
  await api.put({ user_group_id: 'moved-on', name: 'New' })
  const again = await api.post(body, withKey('moved-on'))
  assertSuccess(again)
  assert.equal(again.text, first.text)
  assert.equal(await currentToken('moved-on'), newest)
})

test('the same key with another body is refused and rotates nothing', async () => {
  const token = await newToken('reused')
  const rotated = tokenIn(await api.post({ current_token: token }, withKey('reused')))
  const others = [
    { current_token: rotated },
    { current_token: token, grace_period_seconds: 60 },
    { current_token: token, grace_period_seconds: 0 },
  ]
  for (const body of others) {
    assertFault(await api.post(body, withKey('reused')), 'idempotency_key_reused')
  }
  assert.equal(await currentToken('reused'), rotated)
})

test('the same key for another user group is another rotation', async () => {
  const bodies = [
    { current_token: await newToken('key-of-one') },
    { current_token: await newToken('key-of-two') },
  ]
  const first = await Promise.all(bodies.map((body) => api.post(body, withKey('shared'))))
  assert.notEqual(tokenIn(first[0] as HttpResponse), tokenIn(first[1] as HttpResponse))
  for (const [i, body] of bodies.entries())
    assert.equal((await api.post(body, withKey('shared'))).text, first[i]?.text)
})

test('a key with a token that was never issued changes nothing, and stays unused', async () => {
  const token = await newToken('unused-key')
  for (const current_token of ['malformed', unknownToken('Testing')])
    assertFault(await api.post({ current_token }, withKey('unused')), 'token_not_found')
  assertSuccess(await api.post({ current_token: token }, withKey('unused')))
})

test('a retry without the key is another rotation', async () => {
  const body = { current_token: await newToken('without') }
  assertSuccess(await api.post(body, withKey('without')))
  assertFault(await api.post(body), 'token_superseded')
})

test('another key is another rotation; keys are compared exactly', async () => {
  const body = { current_token: await newToken('other-key') }
  assertSuccess(await api.post(body, withKey('key')))
  for (const key of ['Key', 'KEY', 'key2', 'ke', '"key"']) {
    assertFault(await api.post(body, withKey(key)), 'token_superseded')
  }
})

test('a retry gets the first response after a restart of the service', async (t) => {
  const first = await startNewProcess(t)
  const before = userApi(first.origin, first.tokens.Testing)
  const token = tokenIn(await before.get({ user_group_id: 'restart', name: 'Name' }))
  const response = await before.post({ current_token: token }, withKey('restart'))
  await first.stop('SIGKILL')
  const second = await startService(t, { UGS_DATA_DIR: first.dataFolder })
  const api = userApi(second.origin, first.tokens.Testing)
  const again = await api.post({ current_token: token }, withKey('restart'))
  assert.deepEqual(userGroupIn(again), userGroupIn(response))
})

for (const [title, key] of Object.entries({
  'one character': '!',
  '255 characters': 'k'.repeat(255),
  'every visible ASCII character': Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join(''),
})) {
  test(`a key of ${title} is accepted`, async () => {
    const body = { current_token: await newToken(title) }
    const first = await api.post(body, withKey(key))
    assertSuccess(first)
    assert.equal((await api.post(body, withKey(key))).text, first.text)
  })
}

for (const [title, lines] of Object.entries({
  'an empty key': ['Idempotency-Key:'],
  'a key of white space': ['Idempotency-Key:   '],
  'a key of 256 characters': [`Idempotency-Key: ${'k'.repeat(256)}`],
  'a key with a space in it': ['Idempotency-Key: one two'],
  'a key with a tab in it': ['Idempotency-Key: one\ttwo'],
  'a key that is not ASCII': ['Idempotency-Key: clé'],
  'two keys': ['Idempotency-Key: one', 'Idempotency-Key: two'],
})) {
  test(`${title} is refused and rotates nothing`, async () => {
    const token = await newToken('invalid-key')
    const request = requestText({
      method: 'POST',
      token: service.tokens.Testing,
      headers: lines,
      body: JSON.stringify({ current_token: token }),
    })
    assertFault(await responseTo(service.origin, request), 'invalid_idempotency_key')
    assert.equal(await currentToken('invalid-key'), token)
  })
}
