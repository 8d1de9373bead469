import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { describe, it, type TestContext } from 'node:test'
import { Authority, openssl } from '../../server/test/support/certificates.ts'
import { sharedService, temporaryFolder } from '../../server/test/support/service.ts'
import { findTool } from '../../server/test/support/tool.ts'
import { UserGroupClient } from '../src/index.ts'
import { transportFailure } from './support/client.ts'
import { assertEveryOperation } from './support/every-operation.ts'
import { startHttpProxy } from './support/http-proxy.ts'
import { nginx, startNginx } from './support/proxy-programs.ts'

describe('nginx', () => {
  const service = sharedService()

  /** Starts nginx in front of a proxy that records the requests. */
  const start = async (t: TestContext, settings: Parameters<typeof startNginx>[3] = {}) => {
    const command = findTool(t, nginx)
    if (command === undefined) return undefined
    const { origin: target, passed } = await startHttpProxy(t, service().origin)
    return { ...(await startNginx(t, command, target, settings)), passed }
  }
  const clientOf = (origin: string) =>
    new UserGroupClient({ origin, apiToken: service().tokens.Testing, maxTries: 2 })

  it('default configuration: the methods stay', async (t) => {
    const proxy = await start(t)
    if (proxy === undefined) return
    await assertEveryOperation(service(), proxy.origin, 'nginx default')
    assert.deepEqual([...new Set(proxy.passed.map(({ override }) => override))], [undefined])
  })

  it('drops the body of GET and refuses PUT: sends the override', async (t) => {
    const command = findTool(t, nginx)
    if (command === undefined) return
    const { origin: target, passed } = await startHttpProxy(t, service().origin)
    const { origin } = await startNginx(t, command, target, {
      location: `
        error_page 418 = @get;
        if ($request_method = GET) { return 418; }
        if ($request_method = PUT) { return 405; }`,
      server: `location @get {
        proxy_pass ${target};
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
      }`,
    })
    await assertEveryOperation(service(), origin, 'nginx that drops')
    const overridden = passed.map(({ method, override }) => `${method} ${override ?? ''}`.trim())
    assert.deepEqual(overridden.slice(0, 5), ['GET', 'POST GET', 'POST GET', 'POST PUT', 'POST PUT'])
  })

  it('refuses GET with a body: sends the override', async (t) => {
    const location = `
      set $refused $request_method$http_content_length;
      if ($refused ~ ^GET[1-9]) { return 403; }`
    const proxy = await start(t, { location })
    if (proxy === undefined) return
    await assertEveryOperation(service(), proxy.origin, 'nginx that refuses')
  })

  it('limits the body size: reports it and keeps the method', async (t) => {
    const proxy = await start(t, { location: 'client_max_body_size 1k;' })
    if (proxy === undefined) return
    const client = clientOf(proxy.origin)
    const fields = { userGroupId: 'nginx and sizes', name: 'A' }
    const properties = { text: 'x'.repeat(2000) }
    const error = await transportFailure(client.getOrCreate({ ...fields, properties }))
    assert.deepEqual([error.code, error.status], ['refused', 413])
    await client.getOrCreate(fields)
    assert.deepEqual(
      proxy.passed.map(({ method }) => method),
      ['GET'],
    )
  })

  it('backend is down: reports 502', async (t) => {
    const command = findTool(t, nginx)
    if (command === undefined) return
    const { origin } = await startNginx(t, command, 'http://127.0.0.1:1')
    const error = await transportFailure(clientOf(origin).getOrCreate({ userGroupId: 'a', name: 'A' }))
    assert.deepEqual([error.code, error.status], ['refused', 502])
  })

  it('rate limit: retries', async (t) => {
    const command = findTool(t, nginx)
    if (command === undefined) return
    const { origin: target, passed } = await startHttpProxy(t, service().origin)
    const { origin } = await startNginx(t, command, target, {
      location: 'limit_req zone=calls; limit_req_status 429;',
      http: 'limit_req_zone $server_port zone=calls:1m rate=600r/m;',
    })
    const client = new UserGroupClient({ origin, apiToken: service().tokens.Testing })
    const calls = [1, 2, 3].map(() => client.getOrCreate({ userGroupId: 'nginx and limits', name: 'A' }))
    assert.equal((await Promise.all(calls)).length, 3)
    assert.equal(passed.length, 3)
  })

  it('TLS: the certificate must be trusted', async (t) => {
    const command = findTool(t, nginx)
    const opensslCommand = findTool(t, openssl)
    if (command === undefined || opensslCommand === undefined) return
    const authority = new Authority(opensslCommand, temporaryFolder(t), 'authority')
    const { certFile, keyFile } = authority.issue('nginx', 'IP:127.0.0.1')
    const listen = `ssl; ssl_certificate ${certFile}; ssl_certificate_key ${keyFile}`
    const { origin: plain } = await startNginx(t, command, service().origin, { listen })
    const origin = plain.replace('http:', 'https:')
    const fields = { userGroupId: 'nginx with TLS', name: 'A' }

    const agent = new Agent({ keepAlive: true, ca: authority.certificate.cert })
    const trusting = new UserGroupClient({ origin, apiToken: service().tokens.Testing, agent })
    assert.equal((await trusting.getOrCreate(fields)).newUserGroup, true)

    const untrusting = await transportFailure(clientOf(origin).getOrCreate(fields))
    assert.equal(untrusting.code, 'tls_failed', untrusting.message)
    const withoutTls = clientOf(service().origin.replace('http:', 'https:'))
    assert.equal((await transportFailure(withoutTls.getOrCreate(fields))).code, 'tls_failed')
    // nginx responds with its own 400 to a request without TLS.
    const plainError = await transportFailure(clientOf(plain).getOrCreate(fields))
    assert.deepEqual([plainError.code, plainError.status], ['refused', 400])
    agent.destroy()
  })
})
