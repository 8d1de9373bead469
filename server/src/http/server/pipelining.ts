import type { IncomingMessage } from 'node:http'
import type { HttpConnection } from './http-connection.ts'
import type { Stage } from './stage.ts'

/** The result of `onIncoming` that makes Node.js's parser stop. */
const stopParser = 2

/**
 * Handles the requests of a connection one after another (RFC 9112, section 9.3.2). Node.js's parser would read all requests that
 * have arrived, which takes a hundred times their memory. Here it stops behind the headers of a request that is not in turn, and the
 * connection keeps the bytes of that request and of all others. It reads them, and more, after the response, in a later event-loop
 * iteration, so that other connections come in between. A connection that closes drops them.
 *
 * A request with an `Upgrade` header stops the parser too. It is handled as if it had none (RFC 9110, section 7.8).
 */
export const handleInTurn: Stage = {
  attach(server) {
    server.on('connection', ({ parser }: HttpConnection) => {
      if (!parser) return
      const { onIncoming } = parser
      parser.onIncoming = (request, keepAlive) => {
        const { _httpMessage: current } = request.socket as HttpConnection
        if ((!current && !request.upgrade) || request.method === 'CONNECT')
          return onIncoming(request, keepAlive)
        request.socket.pause()
        // Makes Node.js emit `upgrade` with the bytes that the parser has not read.
        request.upgrade = true
        return stopParser
      }
    })
    server.on('upgrade', (request: IncomingMessage, socket: HttpConnection, rest: Buffer) => {
      socket.pause()
      if (rest.length > 0) socket.unshift(rest)
      socket.unshift(headWithoutUpgrade(request))
      // Node.js no longer handles errors of this connection.
      const close = () => socket.destroy()
      socket.on('error', close)
      whenResponded(socket, () =>
        setImmediate(() => {
          if (!socket.writable) return
          socket.off('error', close).setTimeout(server.timeout)
          server.emit('connection', socket)
          socket.resume()
        }),
      )
    })
  },
  handle(context, next) {
    // A request behind the last response of a connection is ignored (RFC 9112, section 9.6).
    if (context.raw.socket.writable) next(context)
  },
}

/** Calls `then` after the response in flight, if there is one. Until then, does what Node.js no longer does for that response. */
function whenResponded(socket: HttpConnection, then: () => void): void {
  const current = socket._httpMessage
  if (!current) return then()
  const resume = () => current.emit('drain')
  const abort = () => current.req.destroy()
  socket.on('drain', resume).on('close', abort)
  current.once('finish', () => {
    socket.off('drain', resume).off('close', abort)
    then()
  })
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
