import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { client, failure, token } from '../test-client.ts'
import { active, json, never, serve, status } from '../introspection-server.ts'

describe('abort signal of introspect', { concurrency: true }, () => {
  it('stops a call before it starts', async (t) => {
    const { url, received } = await serve(t, json(active))
    const reason = new Error('gone')
    await assert.rejects(client(url).introspect(token, { signal: AbortSignal.abort(reason) }), reason)
    assert.equal(received.length, 0)
  })

  it('stops a call that waits for a response', async (t) => {
    const reason = new Error('gone')
    const abortion = new AbortController()
    const { url, received } = await serve(t, () => abortion.abort(reason))
    await assert.rejects(client(url).introspect(token, { signal: abortion.signal }), reason)
    assert.equal(received.length, 1)
  })

  it('stops a call that waits for a retry', async (t) => {
    const reason = new Error('gone')
    const abortion = new AbortController()
    const { url, received } = await serve(t, (response, call) => {
      status(503, { 'retry-after': '5' })(response, call)
      response.on('close', () => setTimeout(() => abortion.abort(reason), 50))
    })
    const start = performance.now()
    const call = client(url, { deadlineMs: 60_000 }).introspect(token, { signal: abortion.signal })
    await assert.rejects(call, reason)
    assert.ok(performance.now() - start < 3000)
    assert.equal(received.length, 1)
  })

  it('stops the last attempt', async (t) => {
    const reason = new Error('gone')
    const abortion = new AbortController()
    const { url, received } = await serve(t, status(503), status(503), status(503), () =>
      abortion.abort(reason),
    )
    const call = client(url, { deadlineMs: 10_000 }).introspect(token, { signal: abortion.signal })
    await assert.rejects(call, reason)
    assert.equal(received.length, 4)
  })

  it('stops at once, long before the deadline', async (t) => {
    const { url } = await serve(t, never)
    const start = performance.now()
    const call = client(url).introspect(token, { signal: AbortSignal.timeout(100) })
    await assert.rejects(call, { name: 'TimeoutError' })
    assert.ok(performance.now() - start < 10_000)
  })

  it('does not replace the deadline', async (t) => {
    const { url, received } = await serve(t, never)
    const { signal } = new AbortController()
    const call = client(url, { deadlineMs: 3000 }).introspect(token, { signal })
    assert.equal((await failure(call)).code, 'timed_out')
    assert.equal(signal.aborted, false)
    assert.equal(received.length, 2)
  })

  it('does not prevent a second attempt', async (t) => {
    const { url, received } = await serve(t, never, json(active))
    const { signal } = new AbortController()
    assert.ok(await client(url, { deadlineMs: 10_000 }).introspect(token, { signal }))
    assert.equal(received.length, 2)
  })

  it('does not affect other calls', async (t) => {
    const abortion = new AbortController()
    const { url } = await serve(t, () => abortion.abort(new Error('gone')), json(active))
    const service = client(url)
    await assert.rejects(service.introspect(token, { signal: abortion.signal }), /gone/)
    assert.ok(await service.introspect(token))
  })
})
