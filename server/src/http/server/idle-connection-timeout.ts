import type { Server } from 'node:http'
import type { HttpConnection } from './http-connection.ts'

/** How often connections are looked at, in milliseconds. */
const intervalMs = 1000

/**
 * Closes connections on which nothing has gone out for longer than `timeoutMs`, unless the service owes them an answer:
 *
 * - Who sends nothing but empty lines between requests (RFC 9112, section 2.2). Node's keep-alive timeout starts over
 *   with every byte, and its other timeouts with the first line that is not empty.
 * - Who does not take the answers that are waiting to go out.
 *
 * Looking now and then costs a request nothing.
 */
export function closeIdleConnections(server: Server, timeoutMs: number): void {
  const lastSeen = new Map<HttpConnection, { state: string; at: number }>()
  server.on('connection', (socket: HttpConnection) => {
    // A connection may be handed to the server anew.
    const isKnown = lastSeen.has(socket)
    lastSeen.set(socket, { state: '', at: performance.now() })
    if (!isKnown) socket.once('close', () => lastSeen.delete(socket))
  })
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [socket, { state, at }] of lastSeen) {
      const owesAnswer = socket._httpMessage && socket.writableLength === 0
      const current = `${socket.bytesWritten} ${socket.writableLength}`
      if (owesAnswer || current !== state) lastSeen.set(socket, { state: current, at: now })
      else if (now - at > timeoutMs) socket.destroy()
    }
  }, intervalMs).unref()
  server.once('close', () => clearInterval(sweep))
}
