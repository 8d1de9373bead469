import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiToken, runCommand } from '../../support/command.ts'
import { sendRequest } from '../../support/http.ts'
import { RawConnection, requestText } from '../../support/raw-connection.ts'
import { startNewProcess, startService } from '../../support/service.ts'
import { assertFault, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService(
  { after },
  {
    UGS_MAX_EVENT_CONNECTIONS: '4',
    UGS_API_TOKEN_CACHE_MS: '5000',
  },
)
const { origin, tokens } = service
const renderer = await createApiToken(service, 'Testing', '--scopes', 'introspect')
const api = userApi(origin, tokens.Testing)

interface Page {
  readonly events: readonly { readonly type: string; readonly data?: { readonly revision?: number } }[]
  readonly position: string
}

const pathOf = (wait: number, position?: string) =>
  `/events?wait=${wait}${position === undefined ? '' : `&after=${position}`}`
const poll = async (wait: number, position?: string): Promise<Page> => {
  const { status, headers, body, text } = await sendRequest(origin, {
    path: pathOf(wait, position),
    token: renderer,
  })
  assert.equal(status, 200, text)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['cache-control'], 'no-store')
  return body as Page
}

let ids = 0
const create = async () => {
  const id = `id-${ids++}`
  return { id, ...userGroupIn(await api.get({ user_group_id: id, name: 'A' })) }
}

test('without a position, the current one arrives at once', async () => {
  const { events, position } = await poll(30)
  assert.deepEqual(events, [])
  await create()
  // The creation is invisible for this scope; the position moves on.
  const next = await poll(1, position)
  assert.deepEqual(next.events, [])
  assert.notEqual(next.position, position)
})

test('events that exist arrive at once, later ones as they occur', async () => {
  const { position } = await poll(30)
  const group = await create()
  for (const name of ['B', 'C']) await api.put({ user_group_id: group.id, name })
  const seen: (number | undefined)[] = []
  let at = position
  while (seen.length < 2) {
    const page = await poll(30, at)
    assert.ok(page.events.length > 0)
    seen.push(...page.events.map(({ data }) => data?.revision))
    at = page.position
  }
  assert.deepEqual(seen, [2, 3])
  const waiting = poll(30, at)
  await api.post({ current_token: group.token })
  const page = await waiting
  assert.deepEqual(
    page.events.map(({ type }) => type),
    ['user_group.token_rotated'],
  )
})

test('without events, the response comes after the wait with the position', async () => {
  const { position } = await poll(30)
  const startedAt = performance.now()
  const page = await poll(1, position)
  assert.ok(performance.now() - startedAt > 950)
  assert.deepEqual(page, { events: [], position })
})

test('an unknown position gets a reset at once', async () => {
  const { position } = await poll(30)
  const foreign = position.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  assert.deepEqual(await poll(30, foreign), { events: [{ type: 'reset' }], position })
})

test('a revocation of its API token ends a poll with 401', async () => {
  const { position } = await poll(30)
  const leaving = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const get = (path: string) => sendRequest(origin, { path, token: leaving })
  assert.equal((await get(pathOf(1))).status, 200)
  // The service trusts the API token for longer than the poll waits.
  const waiting = get(pathOf(4, position))
  const list = JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as { id: number }[]
  await runCommand(service, 'api-token', 'revoke', String(Math.max(...list.map(({ id }) => id))))
  const response = await waiting
  assertFault(response, 'unauthenticated')
  assert.equal(response.headers['www-authenticate'], 'Token')
})

test('a client that leaves frees its place', async () => {
  const { position } = await poll(30)
  const request = requestText({ path: pathOf(30, position), token: renderer })
  const isFull = async () => {
    const response = await sendRequest(origin, { path: '/events?wait=1', token: renderer })
    if (response.status === 200) return false
    assertFault(response, 'unavailable')
    assert.match(response.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    return true
  }
  const occupy = async (): Promise<RawConnection[]> => {
    const connections = await Promise.all([RawConnection.open(origin), RawConnection.open(origin)])
    for (const connection of connections) connection.send(request)
    await sleep(100)
    if (await isFull()) return connections
    // The question itself took a place.
    for (const connection of connections) connection.close()
    return occupy()
  }
  const connections = await occupy()
  connections[0]?.reset()
  while (await isFull());
  connections[1]?.finish().close()
  assert.deepEqual((await poll(1)).events, [])
})

test('a stop ends a poll with its position', async (t) => {
  const other = await startNewProcess(t, { UGS_DRAIN_MS: '600000' })
  const token = await createApiToken(other, 'Testing', '--scopes', 'introspect')
  const get = async (path: string) => (await sendRequest(other.origin, { path, token })).body as Page
  const { position } = await get('/events?wait=1')
  const waiting = get(pathOf(30, position))
  await userApi(other.origin, other.tokens.Testing).get({ user_group_id: 'a', name: 'A' })
  process.kill(other.pid, 'SIGTERM')
  const page = await waiting
  assert.deepEqual(page.events, [])
  // The service still drains.
  assert.equal((await sendRequest(other.origin, { path: '/readyz' })).status, 503)
})
