// The messages of PostgreSQL's protocol, as far as the proxy of the tests must know them:
// https://www.postgresql.org/docs/current/protocol-message-formats.html

const tlsRequestCode = 80_877_103

/** Splits a stream into messages. Messages at the start of a connection have a length, all others a type and a length. */
export class Messages {
  kind: 'startup' | 'typed'
  #rest: Buffer = Buffer.alloc(0)

  constructor(kind: 'startup' | 'typed') {
    this.kind = kind
  }

  *take(bytes: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const start = this.kind === 'typed' ? 1 : 0
      if (this.#rest.length < start + 4) return
      const end = start + this.#rest.readUInt32BE(start)
      if (this.#rest.length < end) return
      const message = this.#rest.subarray(0, end)
      this.#rest = this.#rest.subarray(end)
      yield message
    }
  }
}

export function isTlsRequest(message: Buffer): boolean {
  return message.readUInt32BE(4) === tlsRequestCode
}

/** Returns the text that ends with NUL at an offset, and the offset after it. */
export function readText(message: Buffer, start: number): { text: string; end: number } {
  const end = message.indexOf(0, start)
  return { text: message.toString('utf8', start, end), end: end + 1 }
}

/** Returns the start-up message with these parameters added or replaced. */
export function withParameters(message: Buffer, over: Record<string, string>): Buffer {
  const parameters = new Map<string, string>()
  for (let at = 8; message[at] !== 0;) {
    const { text: name, end } = readText(message, at)
    const value = readText(message, end)
    parameters.set(name, value.text)
    at = value.end
  }
  for (const [name, value] of Object.entries(over)) parameters.set(name, value)
  const texts = [...parameters].map(([name, value]) => `${name}\0${value}\0`)
  const body = Buffer.concat([message.subarray(4, 8), Buffer.from(`${texts.join('')}\0`)])
  return Buffer.concat([lengthOf(body), body])
}

/** Returns the message of a statement. */
export function queryMessage(text: string): Buffer {
  return typed('Q', `${text}\0`)
}

/** The server's message to a session at a shutdown. */
export const sessionEnds = typed(
  'E',
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
)

export function errorMessage(code: string): Buffer {
  return typed('E', `SERROR\0VERROR\0C${code}\0Mwords of the server\0\0`)
}

/** The server's message after a statement outside of a transaction. */
export const isReadyMessage = typed('Z', 'I')

function typed(type: string, text: string): Buffer {
  const body = Buffer.from(text)
  return Buffer.concat([Buffer.from(type), lengthOf(body), body])
}

/** A length includes itself. */
function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return length
}
