import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { securityHeaders } from '../../src/http/security-headers.ts'
import { requestText, responseTo } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'

const service = await startService({ after })

const respond = (request: string) =>
  responseTo(service.origin, request, request.startsWith('HEAD ') ? 'HEAD' : 'GET')
const get = (path: string, ...headers: string[]) =>
  requestText({ path, headers: [...headers, 'Connection: close'] })
const send = (method: string, path: string) =>
  requestText({ method, path, headers: ['Content-Length: 0', 'Connection: close'] })

const page = (await respond(get('/console'))).text
const asset = /"(\/console\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? ''
const etag = (await respond(get(asset))).headers.etag ?? ''
const authorization = `Authorization: Token ${service.tokens.Testing}`

describe('the security headers are in', () => {
  const requests: Record<string, readonly [status: number, request: string]> = {
    'a page of the console': [200, get('/console')],
    'a file of the console': [200, get(asset)],
    'an unchanged file of the console': [304, get(asset, `If-None-Match: ${etag}`)],
    'a compressed file of the console': [200, get(asset, 'Accept-Encoding: br')],
    'a missing file of the console': [404, get('/console/assets/none.js')],
    'a path out of the files of the console': [404, get('/console/assets/..%2findex.html')],
    'the redirect to the console': [302, get('/', 'Accept: text/html')],
    'the session of nobody': [401, get('/console/session')],
    'a sign-in without a body': [400, send('POST', '/console/session')],
    '/docs': [200, get('/docs')],
    '/docs/': [200, get('/docs/')],
    'a file of /docs': [200, get(asset.replace('/console/', '/docs/'))],
    'a missing file of /docs': [404, get('/docs/assets/none.css')],
    'the files of /docs as a folder': [404, get('/docs/assets/')],
    '/openapi.json': [200, get('/openapi.json')],
    '/healthz': [200, get('/healthz')],
    '/readyz': [200, get('/readyz')],
    'HEAD of /healthz': [
      200,
      requestText({ method: 'HEAD', path: '/healthz', headers: ['Connection: close'] }),
    ],
    'OAuth metadata': [200, get('/.well-known/oauth-authorization-server')],
    'an operation of the management API': [403, get('/admin/v1/workspaces', authorization)],
    'a poll of events': [403, get('/events?wait=1', authorization)],
    'a missing path': [404, get('/none')],
    'a method that is not allowed': [405, send('PUT', '/healthz')],
    'a path that is not valid': [400, get('/docs/%zz')],
    'a missing API token': [401, get('/api/user')],
    'a method that /api/user does not have': [405, send('PATCH', '/api/user')],
    'a failed introspection': [401, send('POST', '/oauth2/introspect')],
    'a duplicate header': [400, get('/docs', authorization, authorization)],
    'a method that HTTP does not have': [400, 'NONE /docs HTTP/1.1\r\nHost: x\r\n\r\n'],
    'headers that are too large': [431, get('/docs', `X: ${'x'.repeat(20_000)}`)],
    'a request that is not HTTP': [400, 'nonsense\r\n\r\n'],
  }
  for (const [name, [status, request]] of Object.entries(requests)) {
    test(`${name}: ${status}`, async () => {
      const { headers, ...response } = await respond(request)
      assert.equal(response.status, status, response.text.slice(0, 200))
      for (const [name, value] of Object.entries(securityHeaders)) {
        const sent = headers[name.toLowerCase()]
        if (name === 'Content-Security-Policy') {
          assert.match(sent ?? '', /^default-src '(?:none|self)'; /)
          assert.match(sent ?? '', /; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/)
        } else assert.equal(sent, value, name)
      }
      assert.match(headers['cache-control'] ?? '', /^(?:no-store|public, max-age=31536000, immutable)$/)
    })
  }
})
