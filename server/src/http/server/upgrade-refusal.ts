import type { IncomingMessage } from 'node:http'
import type { HttpConnection } from './http-connection.ts'
import type { Stage } from './stage.ts'

/**
 * Refuses protocol upgrades: a request with an `Upgrade` header is handled as if it had none (RFC 9110, section 7.8). Node.js's
 * parser stops after such a request and would drop its body, so the connection goes back to the server without the header.
 */
export const refuseUpgrades: Stage = {
  attach(server) {
    server.on('upgrade', (request: IncomingMessage, socket: HttpConnection, head: Buffer) => {
      // Node.js no longer handles errors of this connection.
      const close = () => socket.destroy()
      socket.on('error', close)
      const handBack = () => {
        const current = socket._httpMessage
        if (current) current.once('finish', handBack)
        else if (socket.writable) {
          socket.off('error', close)
          socket.setTimeout(server.timeout)
          socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]))
          server.emit('connection', socket)
        }
      }
      handBack()
    })
  },
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
