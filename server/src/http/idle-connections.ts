import type { Server } from 'node:http'
import type { HttpConnection } from './http-socket.ts'

/** How often connections are looked at, in milliseconds. */
const intervalMs = 1000

/**
 * Closes connections that have had no answer for longer than `timeoutMs` and wait for none, whatever came in meanwhile:
 * Node's keep-alive timeout starts over with every byte, and empty lines between requests (RFC 9112, section 2.2) are
 * bytes that begin none. Looking now and then costs a request nothing.
 */
export function closeIdleConnections(server: Server, timeoutMs: number): void {
  const lastSeen = new Map<HttpConnection, { bytesWritten: number; at: number }>()
  server.on('connection', (socket: HttpConnection) => {
    lastSeen.set(socket, { bytesWritten: 0, at: performance.now() })
    socket.once('close', () => lastSeen.delete(socket))
  })
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [socket, { bytesWritten, at }] of lastSeen) {
      if (socket._httpMessage || socket.bytesWritten !== bytesWritten) {
        lastSeen.set(socket, { bytesWritten: socket.bytesWritten, at: now })
      } else if (now - at > timeoutMs) {
        socket.destroy()
      }
    }
  }, intervalMs).unref()
  server.once('close', () => clearInterval(sweep))
}
