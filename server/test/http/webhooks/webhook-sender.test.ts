import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { createSocket } from 'node:dgram'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createResolver } from '../../../src/runtime/webhook-resolver.ts'
import { WebhookSender, type WebhookSenderOptions } from '../../../src/runtime/webhook-sender.ts'
import { Authority, openssl } from '../../support/certificates.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { findTool } from '../../support/tool.ts'
import { startReceiver } from '../../support/webhooks.ts'

const now = Date.parse('2030-01-01T00:00:00Z')
const open = { allowsHttp: true, allowsPrivate: true, clock: { now: () => now } }
const { signal } = new AbortController()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Address of the name servers' answers (RFC 1035, section 4.1.3): the queried name, type A, class IN, TTL 0, 127.0.0.1. */
const loopback = Buffer.from('c00c00010001000000000004' + '7f000001', 'hex')

interface NameServer {
  readonly address: string
  readonly queries: string[]
}

/**
 * Starts a name server. It does not respond for names with `hanging`, knows the address of those with `receiver`, and no other name.
 */
async function startNameServer(): Promise<NameServer> {
  const queries: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => {
    const [name, type] = questionOf(query)
    queries.push(name)
    if (name.includes('hanging')) return
    const isKnown = name.includes('receiver')
    // A response (QR, RA), or the error NXDOMAIN.
    query.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
    // No additional records, which would follow the answer.
    query.writeUInt16BE(0, 10)
    const question = query.subarray(0, 12 + name.length + 2 + 4)
    const hasAnswer = isKnown && type === 1
    question.writeUInt16BE(hasAnswer ? 1 : 0, 6)
    socket.send(hasAnswer ? Buffer.concat([question, loopback]) : question, port, address)
  }).unref()
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, queries }
}

/** Returns the name and the type that a query asks for. */
function questionOf(query: Buffer): [name: string, type: number] {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return [labels.join('.'), query.readUInt16BE(at + 1)]
}

let nameServer: NameServer

before(async () => {
  nameServer = await startNameServer()
})

function senderOf(t: TestContext, options: Partial<WebhookSenderOptions> = {}) {
  const sender = new WebhookSender({ ...open, nameServers: [nameServer.address], ...options })
  t.after(() => sender.close())
  return async (url: string) => {
    const { responseHeaders, ...result } = await sender.send(
      { url, headers: { 'webhook-id': 'a' }, body: '{}' },
      signal,
    )
    assert.equal(responseHeaders !== undefined, result.status !== null)
    return result
  }
}

const delivered = (status: number) => ({ status, errorCode: null, retryAfterMs: undefined })
const failed = (errorCode: string) => ({ status: null, errorCode })

test('sends the body and headers, and returns the status', async (t) => {
  const receiver = await startReceiver(t)
  const send = senderOf(t)
  assert.deepEqual(await send(receiver.url), delivered(204))
  const [{ headers, body } = assert.fail()] = receiver.received
  assert.equal(body, '{}')
  assert.equal(headers['webhook-id'], 'a')
  assert.match(headers['user-agent'] ?? '', /^user-group-service\//)
})

test('does not follow a redirect', async (t) => {
  const [receiver, target] = [await startReceiver(t), await startReceiver(t)]
  receiver.respond = (response) => response.writeHead(307, { location: target.url }).end()
  assert.deepEqual(await senderOf(t)(receiver.url), delivered(307))
  assert.deepEqual(target.received, [])
})

test('skips interim responses', async (t) => {
  const receiver = await startReceiver(t)
  receiver.respond = (response) => {
    response.writeContinue()
    response.writeProcessing()
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(204).end()
  }
  const send = senderOf(t)
  for (let i = 0; i < 2; i++) assert.deepEqual(await send(receiver.url), delivered(204))
})

test('a receiver that switches protocols gives no response', async (t) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  assert.deepEqual(await senderOf(t)(`http://127.0.0.1:${port}/`), failed('INVALID_RESPONSE'))
})

const waits: Record<string, number | undefined> = {
  120: 120_000,
  0: undefined,
  'Tue, 01 Jan 2030 00:01:00 GMT': 60_000,
  'Mon, 31 Dec 2029 23:59:00 GMT': undefined,
  soon: undefined,
  '-1': undefined,
}
for (const [header, retryAfterMs] of Object.entries(waits)) {
  test(`reads Retry-After: ${header}`, async (t) => {
    const receiver = await startReceiver(t)
    receiver.respond = (response) => response.writeHead(503, { 'retry-after': header }).end()
    assert.deepEqual(await senderOf(t)(receiver.url), { status: 503, errorCode: null, retryAfterMs })
  })
}

test('gives up on a receiver that does not respond in time, also after garbage was collected', async (t) => {
  const receiver = await startReceiver(t)
  receiver.respond = collectGarbage
  const send = senderOf(t, { timeouts: { response: 50, body: 50 } })
  assert.deepEqual(await send(receiver.url), failed('ETIMEDOUT'))
})

test('takes the status of a receiver whose body never ends, and closes the connection', async (t) => {
  const receiver = await startReceiver(t)
  let closed: Promise<unknown> | undefined
  receiver.respond = (response) => {
    closed = once(response, 'close')
    response.writeHead(200).write('{')
  }
  const send = senderOf(t, { timeouts: { response: 600_000, body: 50 } })
  assert.deepEqual(await send(receiver.url), delivered(200))
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
  assert.deepEqual(await senderOf(t)(receiver.url), delivered(200))
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
  assert.deepEqual(await send(url), delivered(200))
  assert.equal(resolutions, 1)
  // The next connection resolves again, and is refused.
  assert.deepEqual(await send(url), failed('ADDRESS_REFUSED'))
  assert.equal(receiver.received.length, 1)
})

test('simultaneous connections to a host share one resolution', async (t) => {
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
  assert.deepEqual(await results, Array(3).fill(delivered(204)))
})

test('a name without a response of its name servers fails, and holds up no other one', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const send = senderOf(t)
  const hanging = Promise.all(
    Array.from({ length: 20 }, (_, i) => send(`http://hanging${i}.invalid:${port}/`)),
  )
  assert.deepEqual(await send(`http://receiver.example:${port}/`), delivered(204))
  for (const result of await hanging) assert.match(result.errorCode ?? '', /^ETIMEOUT$|^ETIMEDOUT$/)
})

test('names are resolved while all threads of the process are busy', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const folder = temporaryFolder(t)
  const pipes = Array.from({ length: 8 }, (_, i) => join(folder, `pipe${i}`))
  execFileSync('mkfifo', pipes)
  // Opening a pipe to read occupies a thread until it is opened to write.
  const opened = pipes.map((pipe) => openFile(pipe))
  const send = senderOf(t)
  assert.deepEqual(await send(`http://receiver.example:${port}/`), delivered(204))
  assert.deepEqual(await send(`http://localhost:${port}/`), delivered(204))
  for (const pipe of pipes) {
    const handle = openSync(pipe, constants.O_RDWR)
    t.after(() => closeSync(handle))
  }
  for (const file of opened) await (await file).close()
})

test('names are those of hosts, then of DNS with the search list of resolv.conf', async (t) => {
  const configurationFolder = temporaryFolder(t)
  writeFileSync(
    join(configurationFolder, 'hosts'),
    '127.0.0.1 localhost\n# 10.0.0.1 backend\n10.0.0.2\tother Backend backend.local # comment\nfd00::2 backend\n',
  )
  writeFileSync(
    join(configurationFolder, 'resolv.conf'),
    'domain old.invalid\nsearch one.invalid two.receiver.\noptions timeout:1 ndots:2\n',
  )
  const { queries, address } = await startNameServer()
  const resolve = createResolver({ configurationFolder, nameServers: [address] }, signal)
  const asked = () => [...new Set(queries.splice(0))]
  const v4 = (address: string) => ({ address, family: 4 })
  assert.deepEqual(await resolve('backend'), [v4('10.0.0.2'), { address: 'fd00::2', family: 6 }])
  assert.deepEqual(await resolve('backend.local'), [v4('10.0.0.2')])
  assert.deepEqual(asked(), [])
  assert.deepEqual(await resolve('service'), [v4('127.0.0.1')])
  assert.deepEqual(asked(), ['service.one.invalid', 'service.two.receiver'])
  assert.deepEqual(await resolve('a.b.receiver'), [v4('127.0.0.1')])
  assert.deepEqual(asked(), ['a.b.receiver'])
  await assert.rejects(resolve('a.b.'), { code: 'ENOTFOUND' })
  assert.deepEqual(asked(), ['a.b'])
})

test('after closing, no name is resolved', async () => {
  const controller = new AbortController()
  const { address } = await startNameServer()
  const resolve = createResolver({ nameServers: [address] }, controller.signal)
  const resolution = resolve('hanging.invalid')
  controller.abort()
  await assert.rejects(resolution, { code: 'ECANCELLED' })
  await assert.rejects(resolve('receiver.example'), { code: 'ECANCELLED' })
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
  assert.deepEqual(await send(`https://receiver.example:${port}/`), delivered(200))
  assert.equal((await send(`https://other.example:${port}/`)).errorCode, 'ERR_TLS_CERT_ALTNAME_INVALID')
  const distrusting = senderOf(t, { resolveHost, allowsHttp: false })
  assert.match(
    (await distrusting(`https://receiver.example:${port}/`)).errorCode ?? '',
    /^UNABLE_TO|^SELF_SIGNED/,
  )
})
