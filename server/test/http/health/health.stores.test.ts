import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sendRequest } from '../../support/http.ts'
import { responseTo, RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertCommonHeaders, assertFault, assertSuccess, userApi } from '../../support/user-api.ts'

const service = await startService({ after })

for (const [path, body] of Object.entries({
  '/healthz': { status: 'ok' },
  '/readyz': { status: 'ready' },
})) {
  test(`${path} needs no API token`, async () => {
    for (const target of [path, `${path}/`, `${path}?x=1`]) {
      const response = await sendRequest(service.origin, { path: target })
      assert.equal(response.status, 200)
      assert.equal(response.headers['content-type'], 'application/json')
      assertCommonHeaders(response)
      assert.deepEqual(response.body, body)
    }
  })

  test(`HEAD of ${path} has the same headers and no body`, async () => {
    const request = requestText({ method: 'HEAD', path, headers: ['Connection: close'] })
    const response = await responseTo(service.origin, request, 'HEAD')
    assert.equal(response.status, 200)
    assertCommonHeaders(response)
  })

  test(`another method of ${path} is 405`, async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await sendRequest(service.origin, { method, path })
      assertFault(response, 'method_not_allowed')
      assert.equal(response.headers.allow, 'GET, HEAD')
    }
  })
}

test('/openapi.json is the OpenAPI document', async () => {
  const response = await sendRequest(service.origin, { path: '/openapi.json' })
  assert.equal(response.status, 200)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  const document = response.body as { openapi: string; paths: Record<string, object> }
  assert.match(document.openapi, /^3\.1\./)
  assert.deepEqual(Object.keys(document.paths['/api/user'] ?? {}).sort(), ['get', 'post', 'put'])
  assert.doesNotMatch(response.text, new RegExp(`${service.tokens.Customer}|${service.tokens.Testing}`))
})

for (const path of ['/docs', '/docs/', '/docs?x=/', '/docs/?x=1']) {
  test(`${path} is a page that loads nothing from other servers`, async () => {
    const page = await sendRequest(service.origin, { path })
    assert.equal(page.status, 200)
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    assert.match(page.headers['content-security-policy'] ?? '', /^default-src 'none'; script-src 'self'; /)
    assert.doesNotMatch(page.headers['content-security-policy'] ?? '', /unsafe/)
    assertCommonHeaders(page)
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
    assert.ok(sources.length > 0)
    for (const source of sources) {
      const url = new URL(source, `${service.origin}${path}`)
      assert.equal(url.origin, service.origin)
      const response = await sendRequest(service.origin, { path: url.pathname })
      assert.equal(response.status, 200, source)
    }
  })
}

test('while the service drains, /readyz fails and other requests succeed, on new connections too', async (t) => {
  const draining = await startService(t, { UGS_DRAIN_MS: '2000' })
  const api = userApi(draining.origin, draining.tokens.Testing)
  assertSuccess(await api.get({ user_group_id: 'drain', name: 'Name' }))
  const stopped = draining.stop()
  let ready = await sendRequest(draining.origin, { path: '/readyz' })
  while (ready.status === 200) ready = await sendRequest(draining.origin, { path: '/readyz' })
  assertFault(ready, 'unavailable')
  assert.match(ready.headers['retry-after'] ?? '', /^\d+$/)
  assert.equal((await sendRequest(draining.origin, { path: '/healthz' })).status, 200)
  const keepAlive = await sendRequest(draining.origin, {
    path: '/healthz',
    headers: { connection: 'keep-alive' },
  })
  assert.equal(keepAlive.headers.connection, 'close')
  assertSuccess(await api.get({ user_group_id: 'drain' }))
  assert.equal(await stopped, 0)
  await assert.rejects(sendRequest(draining.origin, { path: '/healthz' }), { code: 'ECONNREFUSED' })
})

test(
  'a request in flight when the service stops is completed, and then the service ends',
  { timeout: 20_000 },
  async (t) => {
    // The connection closes at the end of the request. If the service waited for its timeout, this test would fail.
    const longTimeouts = { UGS_KEEP_ALIVE_TIMEOUT_MS: '28000', UGS_CLOSE_TIMEOUT_MS: '600000' }
    const stopping = await startService(t, longTimeouts)
    const token = stopping.tokens.Testing
    const body = JSON.stringify({ user_group_id: 'under-way', name: 'Name' })
    const connection = await RawConnection.open(stopping.origin)
    connection.send(
      requestText({ token, headers: ['Expect: 100-continue', `Content-Length: ${body.length}`] }),
    )
    assert.equal((await connection.response()).status, 100)
    const stopped = stopping.stop()
    await untilRefused(stopping.origin)
    connection.send(body)
    assertSuccess(await connection.response())
    assert.equal(await stopped, 0)
  },
)

async function untilRefused(origin: string): Promise<void> {
  for (;;) {
    try {
      await sendRequest(origin, { path: '/healthz' })
    } catch {
      return
    }
  }
}

describe('invalid requests to the documentation and health checks are client errors', () => {
  const odd: Record<string, { path: string; headers?: Record<string, string> }> = {
    'a path out of the folder': { path: '/docs/assets/%2e%2e/%2e%2e/package.json' },
    'a file with a NUL in its name': { path: '/docs/assets/%00' },
  }
  for (const [title, request] of Object.entries(odd)) {
    test(title, async () => {
      const response = await sendRequest(service.origin, request)
      assert.ok(response.status >= 400 && response.status < 500, response.text)
      assert.equal(response.body.success, 0)
      assert.equal(response.headers['content-type'], 'application/json')
      assert.equal(response.headers['cache-control'], 'no-store')
    })
  }
})
