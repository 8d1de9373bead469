import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { before, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createResolver } from '../../src/runtime/webhook-resolver.ts'
import { WebhookSender, type WebhookSenderOptions } from '../../src/runtime/webhook-sender.ts'
import { Authority, openssl } from '../support/certificates.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { findTool } from '../support/tool.ts'
import { startReceiver } from '../support/webhooks.ts'

const open = { allowsHttp: true, allowsPrivate: true }
const { signal } = new AbortController()

/** Starts a name server that knows no name, and returns its address. */
async function startNameServer(responds: (query: Buffer) => boolean): Promise<string> {
  const socket = createSocket('udp4', (query, { port, address }) => {
    if (!responds(query)) return
    // A response (QR) with the error NXDOMAIN.
    query.writeUInt16BE(0x8183, 2)
    socket.send(query, port, address)
  }).unref()
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

let nameServer = ''

before(async () => {
  nameServer = await startNameServer((query) => !query.includes('hanging'))
})

function senderOf(t: TestContext, options: Partial<WebhookSenderOptions> = {}) {
  const sender = new WebhookSender({ ...open, nameServers: [nameServer], ...options })
  t.after(() => sender.close())
  return (url: string) => sender.send({ url, headers: { 'webhook-id': 'a' }, body: '{}' }, signal)
}

const failed = (errorCode: string) => ({ status: null, errorCode })

test('sends the body and headers, and returns the status', async (t) => {
  const receiver = await startReceiver(t)
  const send = senderOf(t)
  assert.deepEqual(await send(receiver.url), { status: 204, errorCode: null })
  const [{ headers, body } = assert.fail()] = receiver.received
  assert.equal(body, '{}')
  assert.equal(headers['webhook-id'], 'a')
  assert.match(headers['user-agent'] ?? '', /^user-group-service\//)
})

test('does not follow a redirect', async (t) => {
  const [receiver, target] = [await startReceiver(t), await startReceiver(t)]
  receiver.respond = (response) => response.writeHead(307, { location: target.url }).end()
  assert.deepEqual(await senderOf(t)(receiver.url), { status: 307, errorCode: null })
  assert.deepEqual(target.received, [])
})

test('gives up on a receiver that does not respond in time', async (t) => {
  const receiver = await startReceiver(t)
  receiver.respond = () => undefined
  const result = await senderOf(t, { timeouts: { connect: 500, response: 50, body: 50 } })(receiver.url)
  assert.ok(
    ['UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'].includes(result.errorCode ?? ''),
    String(result.errorCode),
  )
})

test('takes the status of a receiver whose body never ends, and closes the connection', async (t) => {
  const receiver = await startReceiver(t)
  let closed: Promise<unknown> | undefined
  receiver.respond = (response) => {
    closed = once(response, 'close')
    response.writeHead(200).write('{')
  }
  const send = senderOf(t, { timeouts: { connect: 600_000, response: 600_000, body: 50 } })
  assert.deepEqual(await send(receiver.url), { status: 200, errorCode: null })
  await closed
})

test('uses a connection again', async (t) => {
  const receiver = await startReceiver(t)
  const ports = new Set<number | undefined>()
  receiver.respond = (response, request) => {
    ports.add(request.socket.remotePort)
    response.end('received')
  }
  const send = senderOf(t)
  for (let i = 0; i < 4; i++) await send(receiver.url)
  // The first may still be busy at the second request.
  assert.ok(ports.size <= 2, `${ports.size}`)
})

test('reads no more than 64 KiB of a huge response', async (t) => {
  const receiver = await startReceiver(t)
  let written = 0
  let closed: Promise<unknown> | undefined
  receiver.respond = (response) => {
    closed = once(response, 'close')
    response.writeHead(200)
    const chunk = Buffer.alloc(65_536)
    const write = () => {
      while (!response.destroyed && written < 2 ** 30) {
        written += chunk.length
        if (!response.write(chunk)) {
          response.once('drain', write)
          return
        }
      }
    }
    write()
  }
  assert.deepEqual(await senderOf(t)(receiver.url), { status: 200, errorCode: null })
  await closed
  // What the buffers of the connection hold.
  assert.ok(written < 64 * 2 ** 20, `${written}`)
})

test('reports a receiver that is down or no HTTP server', async (t) => {
  const server = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const send = senderOf(t)
  assert.match((await send(url)).errorCode ?? '', /^HPE_|^INVALID_RESPONSE$/)
  server.close()
  await once(server, 'close')
  assert.deepEqual(await send(url), failed('ECONNREFUSED'))
})

test('refuses private addresses and http without the settings', async (t) => {
  const receiver = await startReceiver(t)
  const port = new URL(receiver.url).port
  assert.deepEqual(await senderOf(t, { allowsPrivate: false })(receiver.url), failed('ADDRESS_REFUSED'))
  assert.deepEqual(await senderOf(t, { allowsHttp: false })(receiver.url), failed('ADDRESS_REFUSED'))
  const send = senderOf(t, { allowsPrivate: false })
  assert.deepEqual(await send(`http://localhost:${port}/`), failed('ADDRESS_REFUSED'))
  assert.deepEqual(receiver.received, [])
})

test('refuses a host with any address that is not allowed', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const resolveHost = () =>
    Promise.resolve([
      { address: '93.184.215.14', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ])
  const send = senderOf(t, { allowsPrivate: false, resolveHost })
  assert.deepEqual(await send(`http://receiver.example:${port}/`), failed('ADDRESS_REFUSED'))
  assert.deepEqual(receiver.received, [])
})

test('connects to the address that it has checked, so that a name cannot be bound to another one', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  // The loopback address stands for a public one, a link-local one for the forbidden one.
  const answers = ['127.0.0.1', '169.254.169.254']
  let resolutions = 0
  const resolveHost = () => Promise.resolve([{ address: answers[resolutions++] ?? '', family: 4 }])
  const send = senderOf(t, { resolveHost })
  const url = `http://receiver.example:${port}/`
  receiver.respond = (response) => response.writeHead(200, { connection: 'close' }).end()
  assert.deepEqual(await send(url), { status: 200, errorCode: null })
  assert.equal(resolutions, 1)
  // The next connection resolves again, and is refused.
  assert.deepEqual(await send(url), failed('ADDRESS_REFUSED'))
  assert.equal(receiver.received.length, 1)
})

test('simultaneous connections to a host share one resolution, so that a slow one takes few threads', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const resolutions: ((addresses: { address: string; family: number }[]) => void)[] = []
  const resolveHost = () =>
    new Promise<{ address: string; family: number }[]>((resolve) => resolutions.push(resolve))
  const send = senderOf(t, { resolveHost })
  const results = Promise.all([1, 2, 3].map((i) => send(`http://receiver.example:${port}/${i}`)))
  while (resolutions.length === 0) await setImmediate()
  await setImmediate()
  assert.equal(resolutions.length, 1)
  resolutions[0]?.([{ address: '127.0.0.1', family: 4 }])
  assert.deepEqual(await results, Array(3).fill({ status: 204, errorCode: null }))
})

test('a name whose name server does not respond never reaches the threads of this process', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const resolved: string[] = []
  const resolveHost = (host: string) => {
    resolved.push(host)
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  }
  const send = senderOf(t, { resolveHost })
  const hanging = Promise.all([1, 2].map((i) => send(`http://hanging${i}.invalid:${port}/`)))
  assert.deepEqual(await send(`http://receiver.example:${port}/`), { status: 204, errorCode: null })
  for (const { status, errorCode } of await hanging) {
    assert.equal(status, null)
    assert.match(errorCode ?? '', /^ETIMEOUT$|^UND_ERR_CONNECT_TIMEOUT$/)
  }
  assert.deepEqual(resolved, ['receiver.example'])
})

test('names of /etc/hosts work without a name server', async (t) => {
  const receiver = await startReceiver(t)
  const nameServers = [await startNameServer(() => false)]
  const { port } = new URL(receiver.url)
  const send = senderOf(t, {
    nameServers,
    resolveHost: () => Promise.reject(new Error('not in this process')),
  })
  assert.deepEqual(await send(`http://localhost:${port}/`), { status: 204, errorCode: null })
})

test('after closing, no name is resolved', async () => {
  const nameServers = [await startNameServer(() => false)]
  const resolution = createResolver({ nameServers }, AbortSignal.abort())('localhost')
  await assert.rejects(resolution, { code: 'ETIMEOUT' })
})

test('reports a name that cannot be resolved', async (t) => {
  const resolveHost = () => Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }))
  assert.deepEqual(await senderOf(t, { resolveHost })('http://receiver.example/'), failed('ENOTFOUND'))
})

test('sends over TLS only to a receiver with a valid certificate for its name', async (t) => {
  const path = findTool(t, openssl)
  if (path === undefined) return
  const authority = new Authority(path, temporaryFolder(t), 'authority')
  const { cert, key } = authority.issue('receiver', 'DNS:receiver.example')
  const server = createTlsServer({ cert, key }, (_request, response) => response.writeHead(200).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const resolveHost = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const trusting = { resolveHost, allowsHttp: false, ca: authority.certificate.cert }
  const send = senderOf(t, trusting)
  assert.deepEqual(await send(`https://receiver.example:${port}/`), { status: 200, errorCode: null })
  assert.equal((await send(`https://other.example:${port}/`)).errorCode, 'ERR_TLS_CERT_ALTNAME_INVALID')
  const distrusting = senderOf(t, { resolveHost, allowsHttp: false })
  assert.match(
    (await distrusting(`https://receiver.example:${port}/`)).errorCode ?? '',
    /^UNABLE_TO|^SELF_SIGNED/,
  )
})
