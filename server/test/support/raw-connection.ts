import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { HttpResponse } from './http.ts'

export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly token?: string
  /** Header lines, unchanged and in order. `Host` is added. */
  readonly headers?: readonly string[]
  /** Sent unchanged, with a `Content-Length` unless a header line frames it. */
  readonly body?: string
}

/** Returns a request as text, including requests that HTTP libraries refuse to send. */
export function requestText({
  method = 'GET',
  path = '/api/user',
  token,
  headers = [],
  body = '',
}: RawRequest): string {
  const isFramed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line))
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(token === undefined ? [] : [`Authorization: Token ${token}`]),
    ...(headers.some((line) => /^content-type:/i.test(line)) ? [] : ['Content-Type: application/json']),
    ...(isFramed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** A raw connection to the service. */
export class RawConnection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #isClosed = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes])
      this.#wake()
    })
    // An error ends the connection too. The bytes that have arrived count.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  static async open(origin: string): Promise<RawConnection> {
    const { hostname, port } = new URL(origin)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RawConnection(socket)
  }

  send(bytes: string | Buffer): this {
    this.#socket.write(bytes)
    return this
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** Bytes that the service has not read, beyond what the sockets buffer. */
  get unread(): number {
    return this.#socket.writableLength
  }

  /** Sends each piece in a separate packet. */
  async sendPieces(...pieces: readonly Buffer[]): Promise<void> {
    this.#socket.setNoDelay()
    for (const piece of pieces) await new Promise((resolve) => this.#socket.write(piece, resolve))
  }

  /** Ends the sending side. */
  finish(): this {
    this.#socket.end()
    return this
  }

  /** Resolves with the next response. Rejects if the connection closes before the response is complete. */
  async response(method = 'GET'): Promise<HttpResponse> {
    for (;;) {
      const taken = takeResponse(this.#received, method)
      if (taken !== undefined) {
        this.#received = taken.rest
        return taken.response
      }
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received.toString())}`)
      await this.#change()
    }
  }

  /** Resolves when a text has arrived. */
  async arrived(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received.toString())}`)
      await this.#change()
    }
  }

  /** Resolves with the remaining responses when the service has closed the connection. */
  async responsesUntilClosed(): Promise<HttpResponse[]> {
    while (!this.#isClosed) await this.#change()
    const responses: HttpResponse[] = []
    while (this.#received.length > 0) responses.push(await this.response())
    return responses
  }

  /** Resolves with the rest of the received bytes when the service has closed the connection. */
  async textUntilClosed(): Promise<string> {
    while (!this.#isClosed) await this.#change()
    return this.#received.toString()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Resets the connection, so that no response can arrive. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

/** Sends the bytes over a new connection, and resolves with its responses when the service has closed it. */
export async function responsesTo(origin: string, bytes: string | Buffer): Promise<HttpResponse[]> {
  const connection = await RawConnection.open(origin)
  return connection.send(bytes).responsesUntilClosed()
}

/** Sends the bytes over a new connection, and resolves with the first response. */
export async function responseTo(
  origin: string,
  bytes: string | Buffer,
  method?: string,
): Promise<HttpResponse> {
  const connection = await RawConnection.open(origin)
  try {
    return await connection.send(bytes).response(method)
  } finally {
    connection.close()
  }
}

/** Returns a chunked body, including the last chunk. */
export function chunked(...chunks: string[]): string {
  return [...chunks, ''].map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join('')
}

function takeResponse(bytes: Buffer, method: string): { response: HttpResponse; rest: Buffer } | undefined {
  const endOfHead = bytes.indexOf('\r\n\r\n')
  if (endOfHead < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, endOfHead).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(statusLine)}`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? []
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  const start = endOfHead + 4
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 304
  const end = start + (hasBody ? Number(headers['content-length']) : 0)
  if (Number.isNaN(end)) throw new Error(`no Content-Length: ${lines.join(' | ')}`)
  if (bytes.length < end) return undefined
  const text = bytes.subarray(start, end).toString()
  const isJson = hasBody && headers['content-type'] === 'application/json'
  const response = { status, headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined }
  return { response, rest: bytes.subarray(end) }
}
