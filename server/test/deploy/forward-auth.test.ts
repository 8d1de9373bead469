import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { readBlocks } from '../docs/blocks.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { freePort } from '../support/port.ts'
import { startService } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { nginx, startNginx } from './proxy-tools.ts'

const command = findTool({ name: 'forward-auth', skip: () => undefined }, nginx)

describe('an application behind nginx and /forward-auth', { skip: command === undefined }, async () => {
  const [configuration] = readBlocks('docs/gateways.md', 'nginx', 1)
  const passed: IncomingHttpHeaders[] = []
  const application = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
    passed.push(request.headers)
    response.end('from behind')
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
  after(() => application.close())
  const service = await startService({ after })
  const apiToken = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const port = await freePort()
  const server = configuration
    .replace('http://user_group_service', service.origin)
    .replace('http://application', `http://127.0.0.1:${(application.address() as AddressInfo).port}`)
    .replace('API_TOKEN', apiToken)
  await startNginx({ after }, command as string, { port, server, readyPath: '/' })

  const inTesting = ['--environment', 'Testing']
  const ugs = async (...args: string[]) => (await runCommand(service, ...args, ...inTesting)).trim()
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    sendRequest(`http://127.0.0.1:${port}`, { path, headers, method })
  const id = 'Kundin 42 ä%'
  const properties = { regions: ['EU', 'US'], text: 'x'.repeat(20_000) }
  const userGroupToken = await ugs(
    ...['user-group', 'get-or-create', id, '--name', 'A', '--properties', JSON.stringify(properties)],
  )
  const narrow = JSON.stringify({ properties: { regions: ['EU'] } })
  const session = await ugs('session', 'create', id, '--viewer', 'u-7', '--narrow', narrow)

  async function assertPasses(path: string, headers: Record<string, string>, method?: string) {
    passed.length = 0
    const { status, text } = await get(path, headers, method)
    assert.deepEqual([status, text, passed.length], [200, 'from behind', 1])
    const [seen = {}] = passed
    assert.equal(decodeURIComponent(String(seen['x-user-group-id'])), id)
    assert.equal(seen['x-user-group-team-id'], '1')
    const shown = Buffer.from(String(seen['x-user-group-properties']), 'base64url').toString()
    return { viewer: seen['x-viewer-id'], properties: JSON.parse(shown) as unknown }
  }

  async function assertStops(path: string, headers: Record<string, string> = {}): Promise<void> {
    passed.length = 0
    assert.equal((await get(path, headers)).status, 401)
    assert.deepEqual(passed, [])
  }

  it('gets who looks, from a header, the query or a cookie', async () => {
    const expected = { viewer: 'u-7', properties: { ...properties, regions: ['EU'] } }
    const spoofed = { 'x-viewer-id': 'other', 'x-user-group-id': 'other', authorization: 'Bearer other' }
    for (const [path, headers] of [
      ['/', { 'x-viewer-token': session }],
      ['/', { 'x-viewer-token': `Bearer ${session}` }],
      [`/page?a=1&viewer_token=${session}`, {}],
      ['/', { cookie: `a=1; viewer_token=${session}` }],
    ] as const) {
      assert.deepEqual(await assertPasses(path, { ...headers, ...spoofed }), expected)
      assert.deepEqual(await assertPasses(path, { ...headers, ...spoofed }, 'POST'), expected)
    }
  })

  it('gets no viewer with a user group token, not even one that was sent', async () => {
    const headers = { 'x-viewer-token': userGroupToken, 'x-viewer-id': 'other' }
    assert.deepEqual(await assertPasses('/', headers), { viewer: undefined, properties })
  })

  it('gets no request without an active token, and none after the sessions have ended', async () => {
    await assertStops('/')
    for (const token of ['garbage', `${session}x`, apiToken, ''])
      await assertStops('/', { 'x-viewer-token': token })
    const elsewhere = await createApiToken(service, 'Customer', '--scopes', 'introspect')
    const response = await sendRequest(service.origin, {
      path: '/forward-auth',
      ...{ token: elsewhere, headers: { 'x-viewer-token': session } },
    })
    assert.deepEqual([response.status, response.text], [401, ''])
    await assertPasses('/', { 'x-viewer-token': session })
    await ugs('session', 'end', id, '--viewer', 'u-7')
    await assertStops('/', { 'x-viewer-token': session })
  })
})
