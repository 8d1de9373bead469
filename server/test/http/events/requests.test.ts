import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../../support/command.ts'
import { EventStream } from '../../support/event-stream.ts'
import { sendRequest } from '../../support/http.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault } from '../../support/user-api.ts'

const service = await startService({ after })
const { origin, tokens } = service
const renderer = await createApiToken(service, 'Testing', '--scopes', 'introspect')
const badPaths = ['/events', '/events?after=x', '/events?wait=0', '/events?nothing=1', '/events/']

test('without a valid API token, the response is 401 before anything else', async () => {
  for (const path of badPaths)
    for (const token of [undefined, 'wrong', `${renderer}x`]) {
      const response = await sendRequest(origin, { path, token })
      assertFault(response, 'unauthenticated')
      assert.match(response.headers['www-authenticate'] ?? '', /^Token/)
    }
  const bearer = { path: '/events', headers: { authorization: `Bearer ${renderer}` } }
  assertFault(await sendRequest(origin, bearer), 'unauthenticated')
})

test('other scopes are 403', async () => {
  for (const path of badPaths)
    assertFault(await sendRequest(origin, { path, token: tokens.Testing }), 'forbidden')
})

test('a malformed position is 400, in the query and in the header', async () => {
  const most = '9'.repeat(21)
  for (const position of [
    '',
    '1',
    'x',
    'abcd1234',
    'abcd1234-',
    'abcd1234-1.',
    'abcd1234-1.2.3.4',
    'ABCD1234-1',
    `abcd1234-${most}`,
    'abcd1234-1 ',
    "abcd1234-1'--",
    'x'.repeat(4000),
  ]) {
    for (const wait of ['', '&wait=1']) {
      const path = `/events?after=${encodeURIComponent(position)}${wait}`
      assertFault(await sendRequest(origin, { path, token: renderer }), 'invalid_position')
    }
    if (position.trim() !== position || position === '') continue
    const headers = { 'last-event-id': position }
    assertFault(await sendRequest(origin, { path: '/events', token: renderer, headers }), 'invalid_position')
  }
})

test('invalid queries are 400', async () => {
  const cases: [query: string, ...paths: string[]][] = [
    ...['0', '31', '', '1.5', '-1', 'a', '01'].map((wait): [string, string] => [`wait=${wait}`, '/wait']),
    ['wait=1&wait=1', '/wait'],
    ['after=a&after=b', '/after'],
    ['other=1', '/other'],
  ]
  for (const [query, ...paths] of cases) {
    const response = await sendRequest(origin, { path: `/events?${query}`, token: renderer })
    assertFault(response, 'validation_failed', paths)
  }
})

test('other methods are 405 with Allow', async () => {
  for (const path of ['/events', '/events/', '/events?wait=1'])
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await sendRequest(origin, { method, path, token: renderer })
      assertFault(response, 'method_not_allowed')
      assert.equal(response.headers.allow, 'GET')
    }
  const head = requestText({
    method: 'HEAD',
    path: '/events',
    token: renderer,
    headers: ['Connection: close'],
  })
  const response = await responseTo(origin, head, 'HEAD')
  assert.deepEqual([response.status, response.headers.allow, response.text], [405, 'GET', ''])
})

test('a trailing slash is the same path', async (t) => {
  const stream = await EventStream.open(t, origin, { token: renderer, path: '/events/' })
  assert.equal((await stream.next()).event, 'heartbeat')
})
