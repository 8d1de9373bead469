import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { sendSuccess } from '../../../../src/http/server/success-response.ts'

const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
type Send = (response: ServerResponse, headers: string[], json: string) => void
const nodes: Send = (response, headers, json) => response.writeHead(200, headers).end(json)

/** Returns all that a server with this function sends for the requests, without the time. */
async function sent(t: TestContext, send: Send, requests: string, json: string): Promise<string> {
  const length = String(Buffer.byteLength(json))
  const headers = ['X-Request-Id', 'a-1', 'Content-Type', 'application/json', 'Content-Length', length]
  const server = createServer({ keepAliveTimeout: 7000 }, (_request, response) => {
    send(response, headers, json)
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(requests)
  return (await text(socket)).replaceAll(
    /^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT/gm,
    'Date:',
  )
}

describe('a success is the same as one that Node.js writes', () => {
  const cases: Record<string, { requests: string; json?: string; closes?: boolean }> = {
    'on a connection that stays open': { requests: `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}` },
    'in UTF-8': { requests: `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}`, json: '{"name":"Ä€𝒳"}' },
    'that is long': {
      requests: `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
      json: `"${'a'.repeat(1_000_000)}"`,
    },
    'on HTTP/1.0': { requests: 'GET / HTTP/1.0\r\n\r\n' },
    'on HTTP/1.0 with keep-alive': {
      requests: 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n',
    },
    'while the service stops': { requests: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', closes: true },
  }
  for (const [name, { requests, json = '{"name":"A"}', closes = false }] of Object.entries(cases)) {
    it(name, async (t) => {
      const [expected, actual = ''] = await Promise.all(
        [nodes, sendSuccess].map((send) => {
          const sendIt: Send = (response, ...rest) => {
            if (closes) response.setHeader('Connection', 'close')
            send(response, ...rest)
          }
          return sent(t, sendIt, requests, json)
        }),
      )
      assert.match(actual, /^HTTP\/1\.1 200 OK\r\n.*Date:\r\n/s)
      assert.equal(actual, expected)
    })
  }
})

it('uses writeHead only for the last response of a connection on this version of Node.js', async (t) => {
  const uses: number[] = []
  let responses = 0
  const send: Send = (response, ...rest) => {
    const index = responses++
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
    response.writeHead = (...args: unknown[]) => {
      uses.push(index)
      return writeHead(...args)
    }
    sendSuccess(response, ...rest)
  }
  await sent(t, send, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}`, '{}')
  assert.deepEqual(uses, [1])
})
