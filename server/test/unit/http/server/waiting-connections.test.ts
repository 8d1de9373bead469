import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { acceptWaitingConnections } from '../../../../src/http/server/waiting-connections.ts'
import { RawConnection, requestText } from '../../../support/raw-connection.ts'

test('a server that stops listening responds to the connections that wait to be accepted', async () => {
  const app = Fastify({ return503OnClosing: false })
  // A slow machine needs longer than the default.
  acceptWaitingConnections(app, 60_000)
  app.get('/', () => ({}))
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const opening = Array.from({ length: 20 }, async () => {
    const connection = await RawConnection.open(origin)
    return connection.send(requestText({ path: '/', headers: ['Connection: close'] })).responsesUntilClosed()
  })
  await new Promise(setImmediate)
  const closed = app.close()
  for (const responses of await Promise.all(opening)) {
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200],
    )
  }
  await closed
})
