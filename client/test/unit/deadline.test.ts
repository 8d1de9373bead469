import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { clientOf, serviceFailure, transportFailure } from '../support/client.ts'
import { TestClock } from '../support/test-clock.ts'
import { created, fault, json, never, serve } from '../support/scripted-server.ts'

const fields = { userGroupId: 'customer-42' }

describe('deadline', () => {
  it('defaults to 15 seconds: half for the first attempt, the rest for the second', async (t) => {
    const { origin, received } = await serve(t, never)
    const clock = new TestClock()
    const failure = transportFailure(clientOf(origin, { clock }).getOrCreate(fields))
    const first = await clock.timer()
    assert.equal(first.ms, 7500)
    first.fire()
    const pause = await clock.timer()
    pause.fire()
    const second = await clock.timer()
    assert.equal(Math.round(second.ms), Math.round(7500 - pause.ms))
    second.fire()
    assert.equal((await failure).code, 'timed_out')
    assert.equal(Math.round(clock.monotonic()), 15_000)
    // The first attempt may have been aborted before it was sent.
    assert.ok(received.length <= 2)
  })

  it('can be set for the client and for one call', async () => {
    const clock = new TestClock()
    const client = clientOf('http://127.0.0.1:1', { clock, deadlineMs: 8000, maxTries: 1 })
    const failures = [
      transportFailure(client.getOrCreate(fields)),
      transportFailure(client.getOrCreate(fields, { deadlineMs: 60_000 })),
    ]
    assert.deepEqual([(await clock.timer()).ms, (await clock.timer()).ms], [8000, 60_000])
    await Promise.all(failures)
  })

  it('returns the response of a second attempt', async (t) => {
    const clock = new TestClock()
    let arrive: (() => void) | undefined
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const { origin } = await serve(t, () => arrive?.(), json(created))
    const call = clientOf(origin, { clock }).getOrCreate(fields)
    const first = await clock.timer()
    await arrived
    first.fire()
    const pause = await clock.timer()
    pause.fire()
    assert.ok(await call)
  })

  it('applies while the response arrives', async (t) => {
    const { origin } = await serve(t, (response) => response.writeHead(200).write('{'))
    const failure = await transportFailure(clientOf(origin, { deadlineMs: 200 }).getOrCreate(fields))
    assert.equal(failure.code, 'timed_out')
  })

  it('applies while the connection is established', async (t) => {
    // Accepts the connection but never completes the TLS handshake.
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    server.on('connection', (socket) => socket.on('close', () => socket.destroy()).resume())
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const failure = await transportFailure(clientOf(origin, { deadlineMs: 200 }).getOrCreate(fields))
    assert.equal(failure.code, 'timed_out')
  })

  it('rethrows the last error if no time for another attempt is left', async (t) => {
    const { origin, received } = await serve(t, fault(503, 'unavailable'))
    const clock = new TestClock()
    const failure = serviceFailure(clientOf(origin, { clock, deadlineMs: 40 }).getOrCreate(fields))
    assert.equal((await failure).code, 'unavailable')
    assert.equal(received.length, 1)
  })
})

describe('abort signal', () => {
  const reason = new Error('gone')

  it('stops a call before it starts', async (t) => {
    const { origin, received } = await serve(t, json(created))
    const options = { signal: AbortSignal.abort(reason) }
    await assert.rejects(clientOf(origin).getOrCreate(fields, options), reason)
    await assert.rejects(clientOf(origin).introspect('', options), reason)
    assert.equal(received.length, 0)
  })

  it('stops a call that waits for a response', async (t) => {
    const abortion = new AbortController()
    const { origin, received } = await serve(t, () => abortion.abort(reason))
    await assert.rejects(clientOf(origin).getOrCreate(fields, { signal: abortion.signal }), reason)
    assert.equal(received.length, 1)
  })

  it('stops a call that waits for a retry', async (t) => {
    const abortion = new AbortController()
    const { origin, received } = await serve(t, fault(503, 'unavailable', { 'retry-after': '5' }))
    const clock = new TestClock()
    const options = { signal: abortion.signal }
    const call = assert.rejects(clientOf(origin, { clock }).getOrCreate(fields, options), reason)
    await clock.timer()
    assert.ok((await clock.timer()).ms > 5000)
    abortion.abort(reason)
    await call
    assert.equal(received.length, 1)
  })

  it('does not affect other calls', async (t) => {
    const abortion = new AbortController()
    const { origin } = await serve(t, () => abortion.abort(reason), json(created))
    const client = clientOf(origin)
    await assert.rejects(client.getOrCreate(fields, { signal: abortion.signal }), reason)
    assert.ok(await client.getOrCreate(fields))
  })

  it('can be shared by many calls', async (t) => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    const { origin } = await serve(t, json(created))
    const client = clientOf(origin)
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 50 }, () => client.getOrCreate(fields, { signal })))
    assert.deepEqual(warnings, [])
  })
})
