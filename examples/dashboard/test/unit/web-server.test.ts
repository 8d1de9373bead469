import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Socket, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as eventLoopTick } from 'node:timers/promises'
import { serve, stream } from '../../shared/web-server.js'

test('no stream is opened for a client that has left', async (t) => {
  const client = new Socket()
  let opened = 0
  const handled = new EventEmitter()
  const server = await serve({
    origin: 'http://127.0.0.1:0',
    contentSecurityPolicy: "default-src 'none'",
    routes: {
      'GET /': async ({ socket }) => {
        client.destroy()
        await once(socket, 'close')
        handled.emit('end')
        return stream(() => {
          opened++
          return () => undefined
        })
      },
    },
  })
  t.after(() => server.close())
  const ended = once(handled, 'end')
  client.connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await ended
  await eventLoopTick()
  assert.equal(opened, 0)
})
