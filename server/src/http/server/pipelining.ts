import type { Stage } from './stage.ts'

/**
 * Handles the requests of a connection one after another (RFC 9112, section 9.3.2). Until its turn comes, a request costs no work and
 * its connection is not read, so that a client that sends many requests at once, or behind a stream, takes no memory. A request
 * behind the last response of a connection is ignored (RFC 9112, section 9.6).
 */
export const handleInTurn: Stage = {
  handle(context, next) {
    const { raw, response } = context
    // Node.js gives the connection to one response after another.
    if (response.socket !== null) {
      if (raw.socket.writable) next(context)
      return
    }
    // Node.js reads on at the end of every request.
    const pause = setImmediate(() => raw.socket.pause())
    response.once('socket', () => {
      clearImmediate(pause)
      raw.socket.resume()
      next(context)
    })
  },
}
