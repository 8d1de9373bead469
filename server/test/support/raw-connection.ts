import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { HttpResponse } from './http.ts'

export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly token?: string
  /** Header lines, in order, as they are; `Host` is added. */
  readonly headers?: readonly string[]
  /** Sent as it is; where no line says how it is framed, with a `Content-Length`. */
  readonly body?: string
}

/** The bytes of a request as text: what a client of one's own can send and a library would refuse to. */
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

/** A connection to the service, byte for byte. */
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
    // Whatever ends it, what has arrived until then is what counts.
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

  /** Sends each piece in a packet of its own. */
  async sendPieces(...pieces: readonly Buffer[]): Promise<void> {
    this.#socket.setNoDelay()
    for (const piece of pieces) await new Promise((resolve) => this.#socket.write(piece, resolve))
  }

  /** Says that nothing more will be sent. */
  finish(): this {
    this.#socket.end()
    return this
  }

  /** The next answer, whole; that to a HEAD has no body. Rejects where the connection closes before it is complete. */
  async response(method = 'GET'): Promise<HttpResponse> {
    for (;;) {
      const taken = takeAnswer(this.#received, method)
      if (taken !== undefined) {
        this.#received = taken.rest
        return taken.response
      }
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received.toString())}`)
      await this.#change()
    }
  }

  /** Resolves once the service has closed the connection, with the answers that had not been taken. */
  async answersUntilClosed(): Promise<HttpResponse[]> {
    while (!this.#isClosed) await this.#change()
    const responses: HttpResponse[] = []
    while (this.#received.length > 0) responses.push(await this.response())
    return responses
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Leaves so that no answer can reach it. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

/** Sends the bytes over a connection of their own; resolves with its answers once the service has closed it. */
export async function answersTo(origin: string, bytes: string | Buffer): Promise<HttpResponse[]> {
  const connection = await RawConnection.open(origin)
  return connection.send(bytes).answersUntilClosed()
}

/** Sends the bytes over a connection of their own; resolves with the first answer. */
export async function answerTo(
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

/** The chunks of a chunked body, the last one included. */
export function chunked(...chunks: string[]): string {
  return [...chunks, ''].map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join('')
}

function takeAnswer(bytes: Buffer, method: string): { response: HttpResponse; rest: Buffer } | undefined {
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
  const hasBody = method !== 'HEAD' && status >= 200
  const end = start + (hasBody ? Number(headers['content-length']) : 0)
  if (Number.isNaN(end)) throw new Error(`no Content-Length: ${lines.join(' | ')}`)
  if (bytes.length < end) return undefined
  const text = bytes.subarray(start, end).toString()
  const response = { status, headers, text, body: hasBody ? (JSON.parse(text) as unknown) : undefined }
  return { response, rest: bytes.subarray(end) }
}
