import { connect } from 'node:net'

/** Larger than any response in these benchmarks. */
const bufferBytes = 64 * 1024
const emptyLine = Buffer.from('\r\n\r\n')

/**
 * Minimal HTTP/1.1 client for sequential requests on one connection. It uses little CPU, because the load shares the machine
 * with the server: it reuses one buffer and parses only the framing. It supports Content-Length only; any other framing is
 * a failure.
 */
export class HttpConnection {
  #socket
  #incoming = Buffer.allocUnsafeSlow(bufferBytes)
  /** Bytes of the response received so far. */
  #length = 0
  #isPending = false
  /** @type {Buffer} */
  #expected
  #onResponse

  /**
   * @param {URL} origin
   * @param {object} options
   * @param {string} [options.expected] text that each response must contain, in addition to status 200
   * @param {(isGood: boolean, isShed: boolean) => void} options.onResponse called once per request. Shed is a 503 with
   * `Retry-After`. The connection closes after a response that is neither good nor shed.
   */
  constructor(origin, { expected = '', onResponse }) {
    this.#expected = Buffer.from(expected)
    this.#onResponse = onResponse
    const arrived = Buffer.allocUnsafeSlow(bufferBytes)
    this.#socket = connect({
      host: origin.hostname,
      port: Number(origin.port),
      noDelay: true,
      onread: {
        buffer: arrived,
        callback: (bytes) => {
          this.#read(arrived, bytes)
          return true
        },
      },
    })
    this.#socket.on('error', () => this.fail())
    this.#socket.on('close', () => this.fail())
  }

  /**
   * @param {Uint8Array} request must not change until the response arrives
   * @param {Buffer} [expected] text that this and later responses must contain
   */
  send(request, expected = this.#expected) {
    this.#expected = expected
    this.#isPending = true
    this.#length = 0
    if (this.#socket.destroyed) process.nextTick(() => this.fail())
    else this.#socket.write(request)
  }

  /** Closes the connection and reports a pending request as failed. */
  fail() {
    const isPending = this.#isPending
    this.close()
    if (isPending) this.#onResponse(false, false)
  }

  close() {
    this.#isPending = false
    this.#socket.destroy()
  }

  /**
   * @param {Buffer} arrived
   * @param {number} bytes
   */
  #read(arrived, bytes) {
    if (!this.#isPending || this.#length + bytes > bufferBytes) {
      this.fail()
      return
    }
    arrived.copy(this.#incoming, this.#length, 0, bytes)
    this.#length += bytes
    const verdict = this.#classify()
    if (verdict === 'good' || verdict === 'shed') {
      this.#isPending = false
      this.#onResponse(verdict === 'good', verdict === 'shed')
    } else if (verdict === 'bad') this.fail()
  }

  /** Classifies the bytes received so far. */
  #classify() {
    const response = this.#incoming.subarray(0, this.#length)
    const headEnd = response.indexOf(emptyLine)
    if (headEnd === -1) return 'unfinished'
    const head = response.toString('latin1', 0, headEnd)
    const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (bodyLength === undefined) return 'bad'
    const missing = headEnd + emptyLine.length + Number(bodyLength) - this.#length
    if (missing > 0) return 'unfinished'
    if (missing < 0) return 'bad'
    if (head.startsWith('HTTP/1.1 200 ')) return response.includes(this.#expected, headEnd) ? 'good' : 'bad'
    return head.startsWith('HTTP/1.1 503 ') && /\r\nretry-after: *\d/i.test(head) ? 'shed' : 'bad'
  }
}
