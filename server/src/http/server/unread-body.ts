import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/** Limits on the part of a refused body that is read and dropped. */
const drainLimit = { bytes: 1024 * 1024, ms: 1000 }

/** Requests whose clients wait for `100 Continue` before they send the body. */
const waiting = new WeakSet<IncomingMessage>()

/**
 * Leaves `100 Continue` to the reader of the body: a request that its headers refuse gets only the final response, to which Node.js
 * adds `Connection: close`.
 */
export const deferContinue = {
  attach(server: Server) {
    server.on('checkContinue', (request: IncomingMessage, response) => {
      waiting.add(request)
      server.emit('request', request, response)
    })
  },
}

/** Asks the client for the body if it waits for that. */
export function continueRequest(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}

/** Returns true if the request has a body that has not arrived completely. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0)
}

/** Returns true if the response must announce that the connection closes, because the unread body may be too long to drop. */
export function mayBeTooLongToDrop({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return length === undefined || Number(length) > drainLimit.bytes
}

/**
 * Returns a stream that sends `bytes` at once, and ends when the rest of the request has been read and dropped. A connection
 * that closes while the client still sends is reset, and the client may lose the response. Beyond the limits it closes anyway.
 */
export function endingWithRequest(request: IncomingMessage, bytes: Buffer): Readable {
  const response = new Readable({ read: () => undefined })
  response.push(bytes)
  const timer = setTimeout(() => request.socket.destroy(), drainLimit.ms)
  const end = () => {
    clearTimeout(timer)
    response.push(null)
  }
  let dropped = 0
  const drop = (chunk: Buffer) => {
    dropped += chunk.length
    // Until the connection closes, the client has time to read the response.
    if (dropped > drainLimit.bytes) request.pause()
  }
  request.once('end', end).once('close', end).on('data', drop).resume()
  return response
}
