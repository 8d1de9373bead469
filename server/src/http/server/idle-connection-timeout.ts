import type { HttpConnection } from './http-connection.ts'
import type { Stage } from './stage.ts'

/** Interval of the checks, in milliseconds. A check per connection and second costs requests nothing. */
const intervalMs = 1000

/**
 * Closes connections that have sent nothing to the client for `timeoutMs`, unless a response is being worked on:
 *
 * - The client sends only empty lines (RFC 9112, section 2.2), which restart Node.js's keep-alive timeout.
 * - The client does not read its responses.
 */
export function closeIdleConnections(timeoutMs: number): Stage {
  const lastSeen = new Map<HttpConnection, { state: string; at: number }>()
  const check = () => {
    const now = performance.now()
    for (const [socket, { state, at }] of lastSeen) {
      const isWorking = socket._httpMessage && socket.writableLength === 0
      const current = `${socket.bytesWritten} ${socket.writableLength}`
      if (isWorking || current !== state) lastSeen.set(socket, { state: current, at: now })
      else if (now - at > timeoutMs) socket.destroy()
    }
  }
  return {
    attach(server) {
      server.on('connection', (socket: HttpConnection) => {
        // A connection is emitted again for each pipelined request.
        const isKnown = lastSeen.has(socket)
        lastSeen.set(socket, { state: '', at: performance.now() })
        if (!isKnown) socket.once('close', () => lastSeen.delete(socket))
      })
      const timer = setInterval(check, intervalMs).unref()
      server.once('close', () => clearInterval(timer))
    },
  }
}
