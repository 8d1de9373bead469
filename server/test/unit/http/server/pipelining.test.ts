import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { connectStages } from '../../../../src/http/pipeline.ts'
import type { RequestContext } from '../../../../src/http/request-context.ts'
import { handleInTurn } from '../../../../src/http/server/pipelining.ts'
import { RawConnection, requestText } from '../../../support/raw-connection.ts'

async function listen(t: TestContext, handle: (context: RequestContext) => void): Promise<Server> {
  const server = createServer()
  connectStages(server, [handleInTurn, { handle }], () => 'id')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port
const open = (server: Server) => RawConnection.open(`http://127.0.0.1:${portOf(server)}`)
const requests = (count: number) =>
  Array.from({ length: count }, (_, i) => requestText({ path: `/${i}` })).join('')
const respond = ({ response }: RequestContext) => response.end('{}')

/** Gives the server the time to read more. */
async function someIterations(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

test('a request that arrives behind the last response of its connection is ignored', async (t) => {
  const handled: (string | undefined)[] = []
  const server = await listen(t, ({ raw, response }) => {
    handled.push(raw.url)
    response.end()
    raw.socket.end()
  })
  const client = connect({ port: portOf(server), allowHalfOpen: true })
  client.write(requestText({ path: '/first' }))
  client.resume()
  await once(client, 'end')
  client.write(requestText({ path: '/second' }))
  await once(server, 'request')
  client.destroy()
  assert.deepEqual(handled, ['/first'])
})

test('behind a request in flight, no request is created and a bounded number of bytes is read', async (t) => {
  const server = await listen(t, () => undefined)
  let created = 0
  server.on('request', () => created++)
  const connection = await open(server)
  connection.send(requests(300_000))
  const [{ socket }] = (await once(server, 'request')) as [RequestContext['raw']]
  await someIterations()
  assert.equal(created, 1)
  // Node.js reads up to 64 KiB at once.
  assert.ok(socket.bytesRead <= 3 * 64 * 1024, String(socket.bytesRead))
  assert.ok(connection.unread > 0)
  connection.close()
})

test('the requests of a connection that closes are dropped', async (t) => {
  const handled: RequestContext[] = []
  const server = await listen(t, (context) => handled.push(context))
  const connection = await open(server)
  connection.send(requests(1000))
  await once(server, 'request')
  const [first] = handled as [RequestContext]
  const isAborted = once(first.raw, 'close')
  const isClosed = once(first.response, 'close')
  first.raw.socket.destroy()
  await isAborted
  await isClosed
  first.response.end()
  await someIterations()
  assert.equal(handled.length, 1)
  connection.close()
})

test('a connection gets one response per event-loop iteration', async (t) => {
  let iteration = 0
  const iterations: number[] = []
  const server = await listen(t, (context) => {
    iterations.push(iteration)
    respond(context)
  })
  const count = () => {
    iteration++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  t.after(() => clearImmediate(counting))
  const connection = await open(server)
  connection.send(requests(500))
  for (let i = 0; i < 500; i++) await once(server, 'request')
  assert.equal(new Set(iterations).size, 500)
  connection.close()
})

test('requests with and without a body get their responses in order, wherever their bytes are split', async (t) => {
  const server = await listen(t, ({ raw, response }) => {
    let body = ''
    raw.on('data', (chunk: Buffer) => (body += chunk.toString()))
    raw.on('end', () => {
      const json = JSON.stringify([raw.method, raw.url, raw.headers['x-header'], body])
      response.setHeader('Content-Type', 'application/json')
      response.setHeader('Content-Length', Buffer.byteLength(json))
      response.end(json)
    })
  })
  const sent = Array.from({ length: 12 }, (_, i) => ({
    method: i % 2 === 0 ? 'POST' : 'GET',
    path: `/${i}`,
    headers: [`X-Header:  ä${i} `, ...(i % 3 === 1 ? ['Transfer-Encoding: chunked'] : [])],
    body: i % 3 === 0 ? '' : i % 3 === 1 ? '5\r\nbody \r\n0\r\n\r\n' : 'some body',
  }))
  const bytes = Buffer.from(sent.map(requestText).join(''), 'latin1')
  for (let at = 0; at < bytes.length; at += 37) {
    const connection = await open(server)
    await connection.sendPieces(bytes.subarray(0, at), bytes.subarray(at))
    for (const [i, { method, path }] of sent.entries())
      assert.deepEqual((await connection.response()).body, [
        method,
        path,
        `ä${i}`,
        ['', 'body ', 'some body'][i % 3],
      ])
    connection.close()
  }
})

test('a long response before another request is sent as the client reads it', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'a')
  const chunks = 400
  let isFirst = true
  const server = await listen(t, (context) => {
    const { response } = context
    if (isFirst) {
      response.setHeader('Content-Length', chunks * chunk.length)
      Readable.from(Array.from({ length: chunks }, () => chunk)).pipe(response)
    } else respond(context)
    isFirst = false
  })
  const client: Socket = connect({ port: portOf(server) })
  client.write(requests(1) + requestText({ headers: ['Connection: close'] }))
  let received = 0
  client.on('data', ({ length }) => (received += length))
  await once(client, 'end')
  assert.ok(received > chunks * chunk.length, String(received))
})
