import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OutgoingRequest } from '../../src/index.ts'
import { active, broken, json, serve } from '../introspection-server.ts'
import { apiToken, client, token } from '../test-client.ts'

describe('introspect sends', () => {
  it('its name and version, and headers of beforeRequest, which replace none', async (t) => {
    const { url, received } = await serve(t, broken, json(active))
    const beforeRequest = ({ attempt, headers }: OutgoingRequest) =>
      Object.assign(headers, { traceparent: `attempt ${attempt}`, authorization: 'other' })
    assert.ok(await client(url, { beforeRequest }).introspect(token))
    assert.match(received[0]?.headers['user-agent'] ?? '', /^user-group-service-renderer\/\d+\.\d+\.\d+\S*$/)
    assert.deepEqual(
      received.map(({ headers }) => [headers.traceparent, headers.authorization]),
      [
        ['attempt 1', `Token ${apiToken}`],
        ['attempt 2', `Token ${apiToken}`],
      ],
    )
  })

  it('nothing if beforeRequest throws', async (t) => {
    const { url, received } = await serve(t, json(active))
    await assert.rejects(
      client(url, { beforeRequest: () => assert.fail('a defect') }).introspect(token),
      /a defect/,
    )
    assert.equal(received.length, 0)
  })

  it('and skips interim responses', async (t) => {
    const { url, received } = await serve(t, (response, request) => {
      response.writeContinue()
      response.writeProcessing()
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      json(active)(response, request)
    })
    const service = client(url)
    for (let i = 0; i < 2; i++) assert.ok(await service.introspect(token))
    assert.equal(received.length, 2)
  })
})
