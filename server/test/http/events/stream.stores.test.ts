import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test, type TestContext } from 'node:test'
import { isEventPosition } from '../../../src/domain/event/event.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import { EventStream, type StreamRequest } from '../../support/event-stream.ts'
import { introspector } from '../../support/introspection.ts'
import { startService } from '../../support/service.ts'
import { tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after }, { UGS_API_TOKEN_CACHE_MS: '0' })
const { origin, tokens } = service
const [renderer, admin, ofCustomer] = [
  await createApiToken(service, 'Testing', '--scopes', 'introspect'),
  await createApiToken(service, 'Testing', '--scopes', 'admin'),
  await createApiToken(service, 'Customer', '--scopes', 'introspect'),
]
const api = userApi(origin, tokens.Testing)
const sha256 = (token: string) => hash('sha256', token)
let ids = 0
const create = async () => {
  const id = `id-${ids++}`
  return { id, ...userGroupIn(await api.get({ user_group_id: id, name: 'Näme', properties: { secret: 1 } })) }
}
const open = (t: TestContext, more: StreamRequest = {}) =>
  EventStream.open(t, origin, { token: renderer, ...more })
const typesOf = (text: string) => [...text.matchAll(/^event: (\w+\.\w+)$/gm)].map(([, type]) => type)

test('the stream is Server-Sent Events that begin with a heartbeat, to the letter', async (t) => {
  const group = await create()
  const stream = await open(t)
  const { statusCode, headers } = stream.response
  assert.equal(statusCode, 200)
  assert.equal(headers['content-type'], 'text/event-stream')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-accel-buffering'], 'no')
  assert.equal(headers['content-length'], undefined)
  assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/)
  const first = await stream.next()
  assert.deepEqual([first.event, first.data], ['heartbeat', '{}'])
  assert.ok(isEventPosition(first.id ?? ''))

  await api.post({ current_token: group.token })
  const event = await stream.nextEvent()
  assert.equal(event.event, 'user_group.token_rotated')
  const data = JSON.parse(event.data ?? '') as { timestamp: string }
  assert.deepEqual(data, {
    type: 'user_group.token_rotated',
    timestamp: data.timestamp,
    data: {
      ...{ team_id: group.team_id, provided_id: group.id, revision: 2 },
      token_sha256: [sha256(group.token)],
    },
  })
  assert.equal(data.timestamp, new Date(data.timestamp).toISOString())
  const beat = await stream.nextHeartbeat()
  assert.equal(beat.id, event.id)
  while (!/: complete \d+\n/.test(stream.text)) await stream.nextHeartbeat()
  const message = /(?:(?:: complete \d+\n)?id: [\da-z]{8}-\d+(?:\.\d+){0,2}\nevent: [\w.]+\ndata: \{.*\}\n\n)/
  assert.match(stream.text, new RegExp(`^retry: 1000\\n\\n(?:${message.source})+$`))
  assert.ok(!stream.text.includes(group.token) && !stream.text.includes('secret'))
})

test('each change arrives once, as the scope allows: `introspect` without creations, `admin` with them', async (t) => {
  const streams = [await open(t), await open(t, { token: admin })] as const
  for (const stream of streams) await stream.next()
  const group = await create()
  await api.put({ user_group_id: group.id, name: 'Other' })
  await api.put({ user_group_id: group.id, name: 'Other' })
  await api.get({ user_group_id: group.id })
  await api.put({ user_group_id: 'unknown', name: 'A' })
  const of = ['--environment', 'Testing']
  await runCommand(service, 'user-group', 'suspend', group.id, ...of)
  await runCommand(service, 'user-group', 'resume', group.id, ...of)
  await runCommand(service, 'schema', 'create', '--provided-id', 'schema', '--name', 'A', ...of)
  await runCommand(service, 'user-group', 'delete', group.id, ...of)
  const expected = [
    ...['user_group.updated', 'user_group.suspended', 'user_group.resumed'],
    ...['schema.created', 'user_group.deleted'],
  ]
  for (const type of expected) assert.equal((await streams[0].nextEvent()).event, type)
  for (const type of ['user_group.created', ...expected])
    assert.equal((await streams[1].nextEvent()).event, type)
  for (const stream of streams) await stream.nextHeartbeat()
  assert.deepEqual(typesOf(streams[0].text), expected)
  assert.deepEqual(typesOf(streams[1].text), ['user_group.created', ...expected])
  assert.match(streams[0].text, /data: \{"type":"schema.created","timestamp":"[^"]+","data":\{\}\}\n/)
})

test('a stream goes on after Last-Event-ID or `after`, and the header comes first', async (t) => {
  const stream = await open(t)
  const { id: start = '' } = await stream.next()
  const group = await create()
  const positions: string[] = []
  for (const name of ['B', 'C', 'D']) {
    await api.put({ user_group_id: group.id, name })
    positions.push((await stream.nextEvent()).id ?? '')
  }
  const [first = '', second = '', third = ''] = positions
  for (const [more, expected] of [
    [{ path: `/events?after=${start}` }, [first, second, third]],
    [{ headers: { 'last-event-id': first } }, [second, third]],
    [{ path: `/events?after=${start}`, headers: { 'last-event-id': second } }, [third]],
    [{ path: `/events?after=${second}`, headers: { 'last-event-id': '' } }, [third]],
    [{ path: `/events/?after=${third}` }, []],
  ] as const) {
    const resumed = await open(t, more)
    for (const id of expected) assert.equal((await resumed.nextEvent()).id, id)
    const beat = await resumed.nextHeartbeat()
    assert.equal(beat.id, third)
    resumed.close()
  }
  const fresh = await open(t, { headers: { 'last-event-id': '' } })
  const beat = await fresh.next()
  assert.deepEqual([beat.event, beat.id], ['heartbeat', third])
})

test('an unknown position gets `reset`, and the stream goes on from now', async (t) => {
  const group = await create()
  const { id: now = '' } = await (await open(t)).next()
  const foreign = now.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  const stream = await open(t, { headers: { 'last-event-id': foreign } })
  const first = await stream.next()
  assert.deepEqual([first.event, first.data], ['reset', '{}'])
  assert.notEqual(first.id, foreign)
  await api.put({ user_group_id: group.id, name: 'After the reset' })
  assert.equal((await stream.nextEvent()).event, 'user_group.updated')
  assert.equal(stream.text.split('event: reset').length, 2)
})

test('other environments and workspaces see nothing', async (t) => {
  await runCommand(service, 'workspace', 'create', 'foreign')
  const foreign = await createApiToken(service, 'Testing', '--scopes', 'admin', '--workspace', 'foreign')
  const own = await open(t)
  const { id: start } = await own.next()
  const others = await Promise.all(
    [ofCustomer, foreign].map((token) => open(t, { token, path: `/events?after=${start}` })),
  )
  const group = await create()
  await api.post({ current_token: group.token })
  const { id } = await own.nextEvent()
  for (const stream of others) {
    while ((await stream.nextHeartbeat()).id !== id);
    assert.deepEqual(typesOf(stream.text), [])
  }
})

test('a revoked API token ends its stream, and another stream reports it', async (t) => {
  const [leaving, staying] = [
    await createApiToken(service, 'Testing', '--scopes', 'introspect'),
    await open(t),
  ]
  await staying.next()
  const stream = await open(t, { token: leaving })
  await stream.next()
  const list = JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as { id: number }[]
  await runCommand(service, 'api-token', 'revoke', String(Math.max(...list.map(({ id }) => id))))
  await stream.ended()
  assert.ok(stream.response.complete)
  assert.equal((await staying.nextEvent()).event, 'api_token.revoked')
  assert.ok(!staying.isEnded)
})

test('an introspection has the position that its response includes', async (t) => {
  const introspect = introspector(origin, renderer)
  const group = await create()
  const stream = await open(t)
  await stream.next()
  await api.post({ current_token: group.token })
  const { id = '' } = await stream.nextEvent()
  for (;;) {
    const { headers } = await introspect(group.token)
    assert.ok(isEventPosition(headers['x-event-position'] ?? ''))
    if (headers['x-event-position'] === id) break
  }
  assert.ok(tokenIn(await api.get({ user_group_id: group.id })) !== group.token)
})
