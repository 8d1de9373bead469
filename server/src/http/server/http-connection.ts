import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

interface UnderWay {
  /** The answer that is next to be written, which Node's HTTP server keeps on the connection. */
  _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null
}

/** A connection of Node's HTTP server. */
export type HttpSocket = Duplex & UnderWay

/** The same, where it is known to be a socket. */
export type HttpConnection = Socket & UnderWay
