import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** How often requests are looked at, in milliseconds. */
const intervalMs = 1000

/** Those whose bodies may go on for as long as they come. */
const uploads = new WeakSet<IncomingMessage>()

/** Bounds a body by the time between its parts from now on, and no longer by its time in all. */
export function extendTimeoutForUpload(request: IncomingMessage): void {
  uploads.add(request)
}

/**
 * Refuses requests whose bodies do not arrive in time: within `timeoutMs`, or, of an upload, with no such pause in between.
 * Node's own `requestTimeout` is one for all requests of a server. Looking now and then costs a request next to nothing.
 */
export function enforceRequestTimeout(
  server: Server,
  timeoutMs: number,
  refuse: (socket: Socket) => void,
): void {
  const underWay = new Map<Socket, { request: IncomingMessage; since: number; bytesRead: number }>()
  server.on('request', (request: IncomingMessage) => {
    const { socket, headers } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
    underWay.set(socket, { request, since: performance.now(), bytesRead: socket.bytesRead })
  })
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [socket, { request, since, bytesRead }] of underWay) {
      // What is here and not yet taken is not the client's fault.
      const isMoving = socket.bytesRead > bytesRead || request.readableLength > 0
      if (request.complete || socket.destroyed) underWay.delete(socket)
      else if (uploads.has(request) && isMoving) {
        underWay.set(socket, { request, since: now, bytesRead: socket.bytesRead })
      } else if (now - since > timeoutMs) {
        underWay.delete(socket)
        refuse(socket)
      }
    }
  }, intervalMs).unref()
  server.once('close', () => clearInterval(sweep))
}
