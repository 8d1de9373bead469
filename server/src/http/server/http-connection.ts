import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection of Node.js's HTTP server. */
export type HttpConnection = Socket & {
  /** The response that is written next. Node.js keeps it there. */
  _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null
}
