import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection of Node.js's HTTP server, with the fields that Node.js does not document. */
export type HttpConnection = Socket & {
  /** The response that is written next. */
  _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null
  readonly parser?: HttpParser | null
}

interface HttpParser {
  /** Handles a request whose headers are complete. The parser stops behind the headers if the result is 2. */
  onIncoming: (request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean) => number
}
