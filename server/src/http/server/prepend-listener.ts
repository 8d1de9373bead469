import type { IncomingMessage, Server, ServerResponse } from 'node:http'

export type HandleRequest = (request: IncomingMessage, response: ServerResponse) => void

/** Has a server hand each request to `handle`, and returns what handled them so far. */
export function prependRequestListener(server: Server, handle: HandleRequest): HandleRequest {
  const listeners = server.listeners('request') as HandleRequest[]
  server.removeAllListeners('request')
  server.on('request', handle)
  return (request, response) => {
    for (const listener of listeners) listener.call(server, request, response)
  }
}
