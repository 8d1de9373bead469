import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connectStages } from '../../../src/http/pipeline.ts'
import { handleInTurn } from '../../../src/http/server/pipelining.ts'
import type { Stage } from '../../../src/http/server/stage.ts'
import { requestText } from '../../support/raw-connection.ts'

test('a request that arrives behind the last response of its connection is ignored', async (t) => {
  const handled: (string | undefined)[] = []
  const respondAndClose: Stage = {
    handle({ raw, response }) {
      handled.push(raw.url)
      response.end()
      raw.socket.end()
    },
  }
  const server = createServer()
  connectStages(server, [handleInTurn, respondAndClose], () => 'id')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true })
  client.write(requestText({ path: '/first' }))
  client.resume()
  await once(client, 'end')
  client.write(requestText({ path: '/second' }))
  await once(server, 'request')
  client.destroy()
  assert.deepEqual(handled, ['/first'])
})
