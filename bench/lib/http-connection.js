import { connect } from 'node:net'

/** Above any answer of these benchmarks. */
const bufferBytes = 64 * 1024
const emptyLine = Buffer.from('\r\n\r\n')

/**
 * A connection for one request after another, with as little work for each as is sound, so that a load takes little of
 * the machine that it shares with the server: one buffer to read into, and of an answer only what frames it is read. It
 * knows Content-Length and nothing else; whatever it does not know is a failure.
 */
export class HttpConnection {
  #socket
  #incoming = Buffer.allocUnsafeSlow(bufferBytes)
  /** How much of the answer is there. */
  #length = 0
  #isOwed = false
  #expected
  #onAnswer

  /**
   * @param {URL} origin
   * @param {object} options
   * @param {string} options.expected what each answer must hold, besides the status 200
   * @param {(isGood: boolean, isShed: boolean) => void} options.onAnswer called once for each request. It is shed where the answer
   * is 503 and says when to come again. After one that is neither good nor shed the connection is closed.
   */
  constructor(origin, { expected, onAnswer }) {
    this.#expected = Buffer.from(expected)
    this.#onAnswer = onAnswer
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

  /** @param {Uint8Array} request not to be changed before it is answered */
  send(request) {
    this.#isOwed = true
    this.#length = 0
    if (this.#socket.destroyed) process.nextTick(() => this.fail())
    else this.#socket.write(request)
  }

  /** Lets go of the connection, and of the answer that it may owe. */
  fail() {
    const isOwed = this.#isOwed
    this.close()
    if (isOwed) this.#onAnswer(false, false)
  }

  close() {
    this.#isOwed = false
    this.#socket.destroy()
  }

  /**
   * @param {Buffer} arrived
   * @param {number} bytes
   */
  #read(arrived, bytes) {
    if (!this.#isOwed || this.#length + bytes > bufferBytes) {
      this.fail()
      return
    }
    arrived.copy(this.#incoming, this.#length, 0, bytes)
    this.#length += bytes
    const verdict = this.#judge()
    if (verdict === 'good' || verdict === 'shed') {
      this.#isOwed = false
      this.#onAnswer(verdict === 'good', verdict === 'shed')
    } else if (verdict === 'bad') this.fail()
  }

  /** Of what is there of an answer. */
  #judge() {
    const answer = this.#incoming.subarray(0, this.#length)
    const headEnd = answer.indexOf(emptyLine)
    if (headEnd === -1) return 'unfinished'
    const head = answer.toString('latin1', 0, headEnd)
    const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (bodyLength === undefined) return 'bad'
    const missing = headEnd + emptyLine.length + Number(bodyLength) - this.#length
    if (missing > 0) return 'unfinished'
    if (missing < 0) return 'bad'
    if (head.startsWith('HTTP/1.1 200 ')) return answer.includes(this.#expected, headEnd) ? 'good' : 'bad'
    return head.startsWith('HTTP/1.1 503 ') && /\r\nretry-after: *\d/i.test(head) ? 'shed' : 'bad'
  }
}
