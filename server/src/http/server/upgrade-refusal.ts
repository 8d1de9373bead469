import type { IncomingMessage, Server } from 'node:http'
import type { HttpConnection } from './http-connection.ts'

/**
 * Takes a request that offers another protocol as one that does not (RFC 9110, section 7.8). Node's parser stops after it:
 * left alone, it would drop what came with it, and take whatever comes next for the start of a request.
 */
export function refuseUpgrades(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: HttpConnection, head: Buffer) => {
    // Node has let go of the connection.
    const close = () => socket.destroy()
    socket.on('error', close)
    const handBack = () => {
      const underWay = socket._httpMessage
      if (underWay) underWay.once('finish', handBack)
      else if (socket.writable) {
        socket.off('error', close)
        socket.setTimeout(server.timeout)
        socket.unshift(Buffer.concat([headWithoutOffer(request), head]))
        server.emit('connection', socket)
      }
    }
    handBack()
  })
}

function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
