import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { sharedService, startService } from '../../server/test/support/service.ts'
import { findTool } from '../../server/test/support/tool.ts'
import { UserGroupClient } from '../src/index.ts'
import { transportFailure } from './support/client.ts'
import { assertEveryOperation } from './support/every-operation.ts'
import { startHttpProxy } from './support/http-proxy.ts'
import { freePort } from '../../server/test/support/port.ts'
import { haproxy, startHaproxy } from './support/proxy-programs.ts'

describe('HAProxy', () => {
  const service = sharedService()

  const start = async (t: TestContext, settings: Parameters<typeof startHaproxy>[3] = {}) => {
    const command = findTool(t, haproxy)
    if (command === undefined) return undefined
    const { origin: target, passed } = await startHttpProxy(t, service().origin)
    return { ...(await startHaproxy(t, command, target, settings)), passed }
  }

  it('default configuration: sends the original methods', async (t) => {
    const proxy = await start(t)
    if (proxy === undefined) return
    await assertEveryOperation(service(), proxy.origin, 'HAProxy default')
    assert.deepEqual([...new Set(proxy.passed.map(({ override }) => override))], [undefined])
  })

  it('refuses GET with a body, and PUT: sends the override', async (t) => {
    const frontend = `
      http-request deny deny_status 400 if METH_GET { req.hdr_val(content-length) gt 0 }
      http-request deny deny_status 403 if { method PUT }`
    const proxy = await start(t, { frontend })
    if (proxy === undefined) return
    await assertEveryOperation(service(), proxy.origin, 'HAProxy that refuses')
    assert.ok(proxy.passed.every(({ method }) => method === 'POST'))
  })

  it('redirect: is not followed', async (t) => {
    const proxy = await start(t, { frontend: 'http-request redirect scheme https' })
    if (proxy === undefined) return
    const client = new UserGroupClient({ origin: proxy.origin, apiToken: service().tokens.Testing })
    const error = await transportFailure(client.getOrCreate({ userGroupId: 'a', name: 'A' }))
    assert.deepEqual([error.code, error.status, proxy.passed], ['bad_response', 302, []])
  })

  it('backend that comes back: a call waits for it', async (t) => {
    const command = findTool(t, haproxy)
    if (command === undefined) return
    const port = await freePort()
    const { origin } = await startHaproxy(t, command, `http://127.0.0.1:${port}`, { backend: 'retries 0' })
    const clientOf = (maxTries: number) =>
      new UserGroupClient({ origin, apiToken: 'uga_testing_any', maxTries })
    assert.equal((await transportFailure(clientOf(1).update({ userGroupId: 'a' }))).status, 503)
    const call = clientOf(100).update({ userGroupId: 'a' })
    const failed = assert.rejects(call, { code: 'unauthenticated' })
    await startService(t, { PORT: String(port) })
    await failed
  })
})
