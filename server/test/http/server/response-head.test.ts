import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { writeSuccessHead } from '../../../src/http/server/response-head.ts'

const body = '{"name":"Ä"}'
const headers = ['X-Request-Id', 'a-1', 'Content-Type', 'application/json', 'Content-Length', '13']
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
type Write = (response: ServerResponse) => void
const ours: Write = (response) => writeSuccessHead(response, headers)
const nodes: Write = (response) => response.writeHead(200, headers)

/** Returns all that a server with this function sends for the requests, without the time. */
async function sent(t: TestContext, write: Write, requests: string): Promise<string> {
  const server = createServer({ keepAliveTimeout: 7000 }, (_request, response) => {
    write(response)
    response.end(body)
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

describe('the head of a success is the same as with writeHead', () => {
  const cases: Record<string, { requests: string; before?: Write }> = {
    'on a connection that stays open': { requests: `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}` },
    'on HTTP/1.0': { requests: 'GET / HTTP/1.0\r\n\r\n' },
    'on HTTP/1.0 with keep-alive': {
      requests: 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n',
    },
    'while the service stops': {
      requests: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      before: (response) => response.setHeader('Connection', 'close'),
    },
  }
  for (const [name, { requests, before }] of Object.entries(cases)) {
    it(name, async (t) => {
      const [expected, actual] = await Promise.all(
        [nodes, ours].map((write) =>
          sent(
            t,
            (response) => {
              before?.(response)
              write(response)
            },
            requests,
          ),
        ),
      )
      assert.match(actual ?? '', /^HTTP\/1\.1 200 OK\r\n.*Date:\r\n/s)
      assert.equal(actual, expected)
    })
  }
})

it('uses writeHead only for the last response of a connection on this version of Node.js', async (t) => {
  const uses: number[] = []
  let responses = 0
  const write: Write = (response) => {
    const index = responses++
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
    response.writeHead = (...args: unknown[]) => {
      uses.push(index)
      return writeHead(...args)
    }
    ours(response)
  }
  await sent(t, write, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${last}`)
  assert.deepEqual(uses, [1])
})
