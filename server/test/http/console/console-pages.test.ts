import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request as openRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { adminApi } from '../../support/admin-api.ts'
import { consoleFolder } from '../../support/build-output.ts'
import { createApiToken } from '../../support/command.ts'
import { signIn } from '../../support/console.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault } from '../../support/user-api.ts'

const service = await startService({ after })
const get = (path: string, method = 'GET') => sendRequest(service.origin, { method, path })

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes }

/** Returns a response with its bytes as they are on the wire. */
async function fetchBytes(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; bytes: Buffer }>(
    (resolve, reject) => {
      const sent = openRequest(`${service.origin}${path}`, { headers }, (response) => {
        const { statusCode: status, headers } = response
        buffer(response).then((bytes) => resolve({ status, headers, bytes }), reject)
      })
      sent.on('error', reject).end()
    },
  )
}

/** Returns the nonce of a page, after checking that its policy and its elements have the same one. */
function nonceOf({ status, headers, text }: HttpResponse): string {
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  const policy = new Map(
    (headers['content-security-policy'] ?? '').split('; ').map((line) => {
      const [name = '', ...values] = line.split(' ')
      return [name, values.join(' ')]
    }),
  )
  const nonce = /'nonce-([A-Za-z0-9+/]{22}==)'/.exec(policy.get('style-src') ?? '')?.[1] ?? ''
  assert.notEqual(nonce, '')
  assert.deepEqual(Object.fromEntries(policy), {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': `'self' 'nonce-${nonce}'`,
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
  const inPage = [...text.matchAll(/nonce="([^"]*)"/g)].map(([, found]) => found)
  assert.ok(inPage.length > 0)
  assert.deepEqual([...new Set(inPage)], [nonce])
  assert.doesNotMatch(text, /CSP_NONCE|<script>|\son\w+=|style=/)
  return nonce
}

describe('a page of the console', () => {
  for (const path of [
    '/console',
    '/console/',
    '/console?x=1',
    '/console/user-groups/1',
    '/console/a/b/c?d#e',
    '/console/session/x',
  ]) {
    test(`is at ${path}, with a content security policy and a new nonce`, async () => {
      const [first, second] = [await get(path), await get(path)]
      assert.notEqual(nonceOf(first), nonceOf(second))
      assert.equal(first.headers['cache-control'], 'no-store')
      assert.match(first.headers['x-request-id'] ?? '', /^[\w-]+$/)
      assert.equal(first.headers['set-cookie'], undefined)
    })
  }

  test('is not rendered before somebody opens it', async () => {
    for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip']) {
      const headers = { 'sec-purpose': purpose }
      assertFault(await sendRequest(service.origin, { path: '/console', headers }), 'forbidden')
    }
  })

  test('is read-only', async () => {
    for (const path of ['/console', '/console/user-groups/1']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await get(path, method)
        assertFault(response, 'method_not_allowed')
        assert.equal(response.headers.allow, 'GET')
      }
      const head = await get(path, 'HEAD')
      assert.deepEqual([head.status, head.text, head.headers.allow], [405, '', 'GET'])
    }
    const session = await get('/console/session', 'PUT')
    assertFault(session, 'method_not_allowed')
    assert.deepEqual(session.headers.allow?.split(', ').sort(), ['DELETE', 'GET', 'POST'])
  })
})

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describe('the root path', () => {
  const request = (path: string, accept: string | undefined, method = 'GET') =>
    sendRequest(service.origin, { method, path, headers: accept === undefined ? {} : { accept } })

  for (const [path, accept] of [
    ['/', browserAccept],
    ['/?x=1', 'Text/HTML'],
  ] as const) {
    test(`redirects a browser to the console: ${path}`, async () => {
      const { status, headers, text } = await request(path, accept)
      assert.deepEqual([status, headers.location, text], [302, '/console', ''])
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(headers['x-request-id'] ?? '', /^[\w-]+$/)
    })
  }

  for (const [method, path, accept] of [
    ['GET', '/', undefined],
    ['GET', '/', '*/*'],
    ['GET', '/', 'application/json'],
    ['GET', '/none', browserAccept],
    ['POST', '/', browserAccept],
    ['DELETE', '/', undefined],
  ] as const) {
    test(`is absent for other requests: ${method} ${path} from ${accept ?? 'a client without Accept'}`, async () => {
      const response = await request(path, accept, method)
      assertFault(response, 'not_found')
      assert.equal(response.headers.allow, undefined)
    })
  }
})

describe('the files of the console', async () => {
  const { text: page } = await get('/console')
  const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path)

  test('come only from this service, and are those that the page names', () => {
    assert.ok(files.some((path) => path.endsWith('.js')) && files.some((path) => path.endsWith('.css')), page)
    assert.doesNotMatch(page, /(?:src|href)="(?!\/console\/assets\/)/)
  })

  for (const path of files) {
    test(`are cacheable forever: ${path.replace(/-[\w-]+\./, '-….')}`, async () => {
      const { status, headers, text } = await get(path)
      assert.equal(status, 200)
      assert.ok(text.length > 0)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      const type = path.endsWith('.js')
        ? /^(text|application)\/javascript/
        : path.endsWith('.css')
          ? /^text\/css/
          : /^image\//
      assert.match(headers['content-type'] ?? '', type)
      for (const known of [headers.etag ?? '', `"x", W/${headers.etag}`, '*']) {
        const again = await sendRequest(service.origin, { path, headers: { 'if-none-match': known } })
        assert.deepEqual([again.status, again.text], [304, ''])
        assert.deepEqual([again.headers.etag, again.headers.vary], [headers.etag, 'Accept-Encoding'])
      }
      const head = await get(path, 'HEAD')
      assert.deepEqual([head.status, head.text], [200, ''])
    })
  }

  test('are compressed as each client prefers, with an entity tag for each encoding', async () => {
    const path = files.find((file) => file.includes('/vendor-')) ?? ''
    const etags = new Map<string, string | undefined>()
    let identity = ''
    for (const [accepted, expected] of [
      [undefined, undefined],
      ['gzip, deflate', 'gzip'],
      ['gzip, deflate, br, zstd', 'br'],
      ['br;q=0.5, gzip', 'gzip'],
      ['gzip;q=0, br;q=0, deflate', undefined],
      ['*', 'br'],
    ] as const) {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await fetchBytes(path, headers)
      assert.equal(response.headers['content-encoding'], expected, accepted)
      assert.equal(response.headers.vary, 'Accept-Encoding')
      const text = decoders[expected ?? 'identity'](response.bytes).toString()
      identity ||= text
      assert.ok(text === identity, accepted)
      etags.set(expected ?? 'identity', response.headers.etag)
    }
    assert.equal(new Set(etags.values()).size, 3)
    const changed = await fetchBytes(path, {
      'accept-encoding': 'br',
      'if-none-match': etags.get('gzip') ?? '',
    })
    assert.equal(changed.status, 200)
  })

  test('and the first page are at most 350 kB and 12 requests', async () => {
    // Those that the page names, and those that its script loads for the start page.
    const folder = new URL('assets/', pathToFileURL(consoleFolder))
    const lazy = ['app', 'user-groups-page'].map(
      (name) => readdirSync(folder).find((file) => new RegExp(`^${name}-[\\w-]+\\.js$`).test(file)) ?? name,
    )
    const all = [...new Set(files), ...lazy.map((name) => `/console/assets/${name}`)]
    const sizes = await Promise.all(
      all.map(async (path) => (await fetchBytes(path, { 'accept-encoding': 'gzip' })).bytes.length),
    )
    const total = sizes.reduce((sum, size) => sum + size, page.length)
    assert.ok(total <= 350_000, `${total} bytes`)
    assert.ok(all.length + 1 <= 10, all.join('\n'))
  })

  for (const path of [
    '/console/assets/none.js',
    '/console/assets/index.html',
    '/console/assets/../index.html',
    '/console/assets/%2e%2e/index.html',
    '/console/assets/..%2findex.html',
    '/console/assets/..%5cindex.html',
    '/console/assets/../../../package.json',
    '/console/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/console/assets/%00',
    '/console/assets//etc/passwd',
    '/console/assets/.hidden',
    ...files.flatMap((file) => [`${file}.br`, `${file}.gz`]),
    ...files.map((file) => `${file}/x`),
    ...files.map((file) => `${file}.map`),
  ]) {
    test(`have no other paths: ${path.replace(/-[\w-]+\./, '-….')}`, async () => {
      const connection = await RawConnection.open(service.origin)
      connection.send(requestText({ path, headers: ['Connection: close'] }))
      const [response] = await connection.responsesUntilClosed()
      connection.close()
      assert.ok(response !== undefined)
      assert.ok(
        response.status === 404 || response.status === 400,
        `${response.status}: ${response.text.slice(0, 200)}`,
      )
      assert.doesNotMatch(response.text, /<html|root:|"name": ?"@/)
    })
  }
})

describe('with UGS_CONSOLE=off', async () => {
  const off = await startService({ after }, { UGS_CONSOLE: 'off' })
  const file = /"(\/console\/assets\/[^"]+)"/.exec((await get('/console')).text)?.[1] ?? ''

  for (const [method, path] of [
    ...(['GET', 'POST', 'DELETE'] as const).map((method) => [method, '/console/session'] as const),
    ...['/console', '/console/', '/console/user-groups', '/console/assets/', file].flatMap((path) => [
      ['GET', path] as const,
      ['POST', path] as const,
    ]),
  ]) {
    test(`404 for ${method} ${path.replace(/-[\w-]+\./, '-….')}`, async () => {
      const body = method === 'POST' ? { api_token: off.tokens.Customer } : undefined
      const response = await sendRequest(off.origin, { method, path, ...(body && { body }) })
      assertFault(response, 'not_found')
    })
  }

  test('the root path is absent for browsers too', async () => {
    const headers = { accept: browserAccept }
    assertFault(await sendRequest(off.origin, { path: '/', headers }), 'not_found')
  })

  test('the management API still works with API tokens', async () => {
    const token = await createApiToken(off, 'Customer', '--scopes', 'admin')
    assert.equal((await adminApi(off.origin, token).listWorkspaces()).status, 200)
    const on = await signIn(service.origin, await createApiToken(service, 'Customer', '--scopes', 'admin'))
    const response = await sendRequest(off.origin, {
      path: '/admin/v1/workspaces',
      headers: { cookie: on.cookie },
    })
    assertFault(response, 'unauthenticated')
  })
})
