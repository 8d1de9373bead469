import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Store } from '../../src/domain/store.ts'
import { generateApiToken, hashToken } from '../../src/domain/token/token.ts'
import { openStore } from '../../src/store/open-store.ts'
import { mint, actor } from '../store/contract/store-fixtures.ts'
import { defaults } from '../store/store-options.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { EventStream } from '../support/event-stream.ts'
import { sendRequest } from '../support/http.ts'
import { RawConnection, requestText } from '../support/raw-connection.ts'
import { lifo } from '../support/scope.ts'
import { startNewProcess, type RunningService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../support/user-api.ts'

const start = async (t: TestContext, environment: Record<string, string> = {}) => {
  // In another process, so that clients that read slowly do not slow the service down.
  const service = await startNewProcess(t, { UGS_API_TOKEN_CACHE_MS: '0', ...environment })
  const admin = await createApiToken(service, 'Testing', '--scopes', 'admin')
  const open = (path = '/events', token = admin) => EventStream.open(t, service.origin, { token, path })
  return { service, admin, open, api: userApi(service.origin, service.tokens.Testing) }
}

/** Opens the store of a service, as another process does. */
async function storeOf(t: TestContext, { databaseUrl, dataFolder }: RunningService): Promise<Store> {
  const location =
    databaseUrl === undefined
      ? ({ kind: 'sqlite', path: join(dataFolder, 'ugs.db') } as const)
      : parseDatabaseUrl(databaseUrl)
  const store = await openStore(location, { ...defaults, lockTimeoutMs: 10_000 })
  lifo(t).after(() => store.close())
  return store
}

/** Creates user groups with long ids, whose events are large. */
async function createMany(store: Store, prefix: string, count: number): Promise<void> {
  const scope = { workspaceId: 1, environment: 'Testing' } as const
  await store.userGroups.getOrCreateMany(
    Array.from({ length: count }, (_, i) => ({
      ...{ key: { ...scope, providedId: `${prefix}-${i}-${'x'.repeat(400)}` }, change: { name: 'A' } },
      ...{ mayWrite: true, issueToken: mint, ...actor, now: Date.now() },
    })),
  )
}

/** Opens a connection that sends a request and reads nothing until `resume`. */
async function openUnread(t: TestContext, origin: string, request: string): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined).pause()
  t.after(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(request)
  return socket
}

const closesWithin = async (socket: Socket, ms: number) => {
  // A paused socket notices a reset only when it writes.
  const deadline = performance.now() + ms
  while (!socket.destroyed && performance.now() < deadline) {
    socket.write('\r\n')
    await sleep(100)
  }
  return socket.destroyed
}

test('simultaneous requests do not exceed the limit of connections, and no workspace takes all of them', async (t) => {
  const { service, admin, open } = await start(t, { UGS_MAX_EVENT_CONNECTIONS: '5' })
  const { origin, tokens } = service
  const ofWorkspace = async (name: string) => {
    await runCommand(service, 'workspace', 'create', name)
    return createApiToken(service, 'Testing', '--workspace', name, '--scopes', 'introspect')
  }
  const sameWorkspace = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const [second, third] = [await ofWorkspace('second'), await ofWorkspace('third')]
  const openMany = async (token: string) => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => open('/events', token)))
    const isOpen = ({ response }: EventStream) => response.statusCode === 200
    for (const { response } of streams.filter((stream) => !isOpen(stream)))
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
    return streams.filter(isOpen)
  }
  const refusalOf = async (token: string) => {
    const response = await sendRequest(origin, { path: '/events?wait=1', token })
    assertFault(response, 'unavailable')
    return response.text
  }
  assert.equal((await openMany(admin)).length, 3)
  for (const token of [admin, sameWorkspace])
    assert.match(await refusalOf(token), /This workspace has too many event connections/)
  const [stream] = await openMany(second)
  assert.ok(stream)
  assert.match(await refusalOf(second), /This workspace has too many event connections/)
  assert.equal((await openMany(third)).length, 1)
  assert.match(await refusalOf(third), /This process has no room for another event connection/)
  // Other operations are not affected.
  assertSuccess(await userApi(origin, tokens.Testing).get({ user_group_id: 'a', name: 'A' }))
  stream.close()
  while ((await open('/events', second)).response.statusCode !== 200);
  assert.match(await refusalOf(admin), /This process has no room/)
})

test('long polls of one workspace leave connections to another one', async (t) => {
  const { service, admin, api } = await start(t, { UGS_MAX_EVENT_CONNECTIONS: '4' })
  await runCommand(service, 'workspace', 'create', 'second')
  const other = await createApiToken(service, 'Testing', '--workspace', 'second', '--scopes', 'introspect')
  const head = await sendRequest(service.origin, { path: '/events?wait=1', token: other })
  const { position } = head.body as { position: string }
  const statuses: number[] = []
  const poll = async (token: string, wait: number) => {
    const path = `/events?wait=${wait}&after=${position}`
    const { status } = await sendRequest(service.origin, { path, token })
    statuses.push(status)
    return status
  }
  const polls = Promise.all(Array.from({ length: 10 }, () => poll(admin, 30)))
  while (statuses.length < 8) await sleep(10)
  assert.deepEqual(statuses, Array(8).fill(503))
  assert.equal(await poll(other, 1), 200)
  assertSuccess(await api.get({ user_group_id: 'a', name: 'A' }))
  assert.equal((await polls).filter((status) => status === 200).length, 2)
})

test('no connection is allowed with UGS_MAX_EVENT_CONNECTIONS=0', async (t) => {
  const { service, admin } = await start(t, { UGS_MAX_EVENT_CONNECTIONS: '0' })
  for (const path of ['/events', '/events?wait=1'])
    assertFault(await sendRequest(service.origin, { path, token: admin }), 'unavailable')
})

test('a stop ends streams at once, before the drain time, and refuses new ones', async (t) => {
  const { service, admin, open } = await start(t, { UGS_DRAIN_MS: '4000' })
  const streams = await Promise.all([open(), open()])
  for (const stream of streams) await stream.next()
  const stopped = service.stop()
  for (const stream of streams) {
    await stream.ended()
    assert.ok(stream.response.complete)
  }
  // During the drain time, other requests still work.
  assertSuccess(await userApi(service.origin, service.tokens.Testing).get({ user_group_id: 'a', name: 'A' }))
  const response = await sendRequest(service.origin, { path: '/events', token: admin })
  assertFault(response, 'unavailable')
  assert.equal(await stopped, 0)
})

test('an expired API token ends its stream', async (t) => {
  const { service, open } = await start(t)
  const token = generateApiToken('Testing')
  await (
    await storeOf(t, service)
  ).apiTokens.create({
    ...{ ...actor, workspaceId: 1, environment: 'Testing', name: 'brief', scopes: ['introspect'] },
    ...{ tokenHash: hashToken(token), createdAt: Date.now(), expiresAt: Date.now() + 2000 },
  })
  const stream = await open('/events', token)
  assert.equal((await stream.next()).event, 'heartbeat')
  await stream.ended()
  assert.ok(stream.response.complete)
})

test('requests behind a stream on one connection wait for its end, and are dropped with the connection', async (t) => {
  const { service, admin } = await start(t, { UGS_MAX_EVENT_CONNECTIONS: '1' })
  const { origin, tokens } = service
  const create = requestText({
    token: tokens.Testing,
    body: `{"user_group_id":"behind","name":"A"}${' '.repeat(8000)}`,
  })
  const connection = await RawConnection.open(origin)
  connection.send(
    requestText({ path: '/healthz', token: admin }) + requestText({ path: '/events', token: admin }),
  )
  assert.equal((await connection.response()).status, 200)
  await connection.arrived('text/event-stream')
  connection.send(create.repeat(2000))
  // The stream has the only place until the service notices that the client has left.
  const placeOf = () => sendRequest(origin, { path: '/events?wait=1', token: admin })
  assert.equal((await placeOf()).status, 503)
  // Time enough to read everything. The service reads nothing, so that waiting requests take no memory.
  await sleep(1000)
  assert.ok(connection.unread > 0)
  connection.close()
  while ((await placeOf()).status === 503);
  assertFault(await userApi(origin, tokens.Testing).put({ user_group_id: 'behind' }), 'user_group_not_found')
})

test('clients that read nothing disturb nobody and are disconnected, also after the end of their API token', async (t) => {
  const { service, admin, open } = await start(t, {
    UGS_KEEP_ALIVE_TIMEOUT_MS: '1000',
    UGS_HEADERS_TIMEOUT_MS: '1000',
    // One workspace can have 3 of them.
    UGS_MAX_EVENT_CONNECTIONS: '5',
  })
  const store = await storeOf(t, service)
  const reader = await open()
  await reader.next()
  const leaving = await createApiToken(service, 'Testing', '--scopes', 'admin')
  const slow = await Promise.all(
    [admin, leaving].map((token) => openUnread(t, service.origin, requestText({ path: '/events', token }))),
  )
  const areClosed = Promise.all(slow.map((socket) => closesWithin(socket, 30_000)))
  const count = 12_000
  for (let i = 0; i < count; i += 2000) await createMany(store, `a${i}`, 2000)
  const list = JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as { id: number }[]
  await runCommand(service, 'api-token', 'revoke', String(Math.max(...list.map(({ id }) => id))))
  for (let seen = 0; seen <= count; seen++) await reader.nextEvent()
  await reader.nextHeartbeat()
  await createMany(store, 'b', 10)
  for (let seen = 0; seen < 10; seen++) await reader.nextEvent()
  assert.deepEqual(await areClosed, [true, true])
  assert.doesNotMatch(service.stderr(), /"level":(50|60)|Error/)
  // Their places are free again.
  const other = await createApiToken(service, 'Testing', '--scopes', 'admin')
  for (const token of [admin, other]) assert.equal((await open('/events', token)).response.statusCode, 200)
})

test('a slow client gets every event once when it reads on', async (t) => {
  const { service, open } = await start(t)
  const store = await storeOf(t, service)
  const reader = await open()
  const { id } = await reader.next()
  const slow = await open(`/events?after=${id}`)
  slow.response.pause()
  const count = 12_000
  for (let i = 0; i < count; i += 2000) await createMany(store, `a${i}`, 2000)
  const seen: (string | undefined)[] = []
  while (seen.length < count) seen.push((await reader.nextEvent()).id)
  slow.response.resume()
  for (const id of seen) assert.equal((await slow.nextEvent()).id, id)
  assert.equal(new Set(seen).size, count)
})

test('a change through one process is seen on the stream of another', async (t) => {
  const { service, admin, open } = await start(t)
  const { dataFolder, databaseUrl } = service
  const other = await startNewProcess(t, {
    UGS_DATA_DIR: dataFolder,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  })
  const streams = [await open(), await EventStream.open(t, other.origin, { token: admin })]
  for (const stream of streams) await stream.next()
  const apiOf = ({ origin }: RunningService) => userApi(origin, service.tokens.Testing)
  const [one, two] = [apiOf(service), apiOf(other)]
  const { token } = userGroupIn(await one.get({ user_group_id: 'a', name: 'A' }))
  await two.put({ user_group_id: 'a', name: 'B' })
  await one.post({ current_token: token })
  const seen = await Promise.all(
    streams.map(async (stream) => [
      await stream.nextEvent(),
      await stream.nextEvent(),
      await stream.nextEvent(),
    ]),
  )
  assert.deepEqual(seen[0], seen[1])
  assert.deepEqual(
    seen[0]?.map(({ event }) => event),
    ['user_group.created', 'user_group.updated', 'user_group.token_rotated'],
  )
})
