import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { HttpConnection } from '../../lib/http-connection.js'

const body = '{"new_user_group":false}'
const good = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('a response counts once it is complete', async (t) => {
  for (const pieces of [[good], Array.from(good), [good.slice(0, 20), good.slice(20)]]) {
    assert.deepEqual(await verdicts(t, pieces, 3), [true, true, true])
  }
})

for (const [problem, response] of Object.entries({
  'another status': good.replace('200 OK', '503 Service Unavailable'),
  'another text': good.replace('false', ' true'),
  'the text in the header alone': `HTTP/1.1 200 OK\r\nX-Text: ${body}\r\nContent-Length: 2\r\n\r\n{}`,
  'no length': good.replace('Content-Length', 'X-Length'),
  'more than its length says': `${good} `,
  'a connection that closes early': good.slice(0, -1),
})) {
  test(`${problem} fails and closes the connection`, async (t) => {
    assert.deepEqual(await verdicts(t, [response], 1, { ends: true }), [false])
  })
}

test('a request may expect another text', async (t) => {
  assert.deepEqual(await verdicts(t, [good], 1, { expected: '"new_user_group":true' }), [false])
})

test('a connection that closes between two requests fails', async (t) => {
  assert.deepEqual(await verdicts(t, [good], 2, { ends: true }), [true, false])
})

/**
 * Sends requests one after another to a server that gives the same response to all.
 * @param {import('node:test').TestContext} t
 * @param {readonly string[]} pieces of the response
 * @param {number} requests
 * @param {{ ends?: boolean, expected?: string }} [options] `ends` closes the connection after the response
 */
async function verdicts(t, pieces, requests, { ends = false, expected } = {}) {
  const respond = async (/** @type {import('node:net').Socket} */ socket) => {
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve))
    if (ends) socket.end()
  }
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('error', () => undefined)
    socket.on('data', () => {
      void respond(socket)
    })
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  /** @type {boolean[]} */
  const seen = []
  await new Promise((resolve) => {
    const connection = new HttpConnection(new URL(`http://127.0.0.1:${port}`), {
      expected: '"new_user_group":false',
      onResponse: (isGood) => {
        seen.push(isGood)
        if (isGood && seen.length < requests) connection.send(Buffer.from('GET'))
        else {
          connection.close()
          resolve(undefined)
        }
      },
    })
    connection.send(Buffer.from('GET'), expected === undefined ? undefined : Buffer.from(expected))
  })
  return seen
}
