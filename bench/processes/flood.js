// Floods a server with requests, and reports the end to the parent process.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { handleMessages } from '../lib/worker.js'

/** Time for which connections that do not read stay open, in milliseconds. */
const unreadMs = 10_000

/** @param {import('../cases/floods.js').Flood} flood */
async function run({ origin, connections, requests, headers, body = '', isRead }) {
  const { host, hostname, port } = new URL(origin)
  const request = (/** @type {string} */ more) =>
    `GET /api/user HTTP/1.1\r\nHost: ${host}\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      // The server may close the connection.
      socket.on('error', () => undefined)
      if (isRead) {
        const next = (/** @type {number} */ count) =>
          socket.write(request(headers.replace('{}', `${index}-${count}`)))
        let count = 0
        socket.on('data', () => (++count < requests ? next(count) : socket.end()))
        next(count)
        await once(socket, 'close')
      } else {
        socket.pause().write(request(headers).repeat(requests))
        await sleep(unreadMs)
      }
      socket.destroy()
    }),
  )
}

handleMessages(async (flood) => {
  await run(/** @type {import('../cases/floods.js').Flood} */ (flood))
  return 'done'
})
