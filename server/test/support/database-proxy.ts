import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import {
  isTlsRequest,
  Messages,
  queryMessage,
  readText,
  sessionEnds,
  withParameters,
} from './postgres-messages.ts'
import type { Scope } from './scope.ts'

export interface ProxyOptions {
  /**
   * Encrypts what is between the client and the proxy, with this certificate; else TLS is refused. With `ca`, the client
   * must have one that this authority issued.
   */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string }
}

/** A statement that has arrived and that the server does not have yet. */
export interface CaughtStatement {
  /** Goes on as if nothing had been. */
  pass(): void
  /** Has it answered, and then the session ended by the server, as at a shutdown: both arrive at once. */
  passLast(): void
  /** Ends the connection, on both sides: the server never has the statement. */
  drop(): void
  /** Ends the connection for the client alone, so that the statement can still `run`. */
  cutOff(): void
  /** Has the server run it, and tells nobody; resolves once that is done, and with it its commit. */
  run(): Promise<void>
}

/** `silent`: no byte comes through, and no connection ends. */
type Mode = 'open' | 'refusing' | 'silent'

/**
 * Stands between a store and PostgreSQL, and can lose connections and statements on the way, at the point that a test
 * asks for.
 */
export class DatabaseProxy {
  /** The texts of all statements that have arrived, in order; of a prepared one, at each time that it is run. */
  readonly statements: string[] = []
  readonly #target: URL
  readonly #server: Server
  readonly #options: ProxyOptions
  readonly #links = new Set<Link>()
  readonly #catchers: { pattern: RegExp; resolve: (caught: CaughtStatement) => void }[] = []
  #mode: Mode = 'open'
  #isReadOnly = false
  #connections = 0

  private constructor(target: URL, options: ProxyOptions) {
    this.#target = target
    this.#options = options
    // What a client ends stays open until the proxy answers it, as over a network that loses everything.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client))
  }

  /** Its links go to this database, whichever one the client names. */
  static async start(t: Scope, databaseUrl: string, options: ProxyOptions = {}): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(new URL(databaseUrl), options)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    t.after(() => proxy.#close())
    return proxy
  }

  /** `host:port`, as in a URL. */
  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The URL of the database, by way of the proxy and of those `others`, in this order. */
  urlWith(...others: readonly string[]): string {
    const { username, password, pathname } = this.#target
    const credentials = password === '' ? username : `${username}:${password}`
    return `postgres://${credentials}@${[this.address, ...others].join()}${pathname}`
  }

  get url(): string {
    return this.urlWith()
  }

  /** How many connections were made to it so far. */
  get connections(): number {
    return this.#connections
  }

  /** How many statements have arrived that match. */
  count(pattern: RegExp): number {
    return this.statements.filter((text) => pattern.test(text)).length
  }

  /** The next statement that matches; it waits for what the test does with it. */
  next(pattern: RegExp): Promise<CaughtStatement> {
    return new Promise((resolve) => this.#catchers.push({ pattern, resolve }))
  }

  /** Ends all connections, and every new one at once, until `open`. */
  refuse(): void {
    this.#mode = 'refusing'
    this.#endAll()
  }

  /** Swallows every byte in both directions, of new connections too, until `open`. */
  swallow(): void {
    this.#mode = 'silent'
  }

  open(): void {
    if (this.#mode === 'silent') this.#endAll()
    this.#mode = 'open'
  }

  /** Makes the server look like one that is, or has become, a standby, for statements that arrive from then on. */
  async becomeReadOnly(): Promise<void> {
    this.#isReadOnly = true
    await Promise.all([...this.#links].map((link) => link.ask('SET default_transaction_read_only = on')))
  }

  /** The server takes writes again, over new connections. */
  becomeWritable(): void {
    this.#isReadOnly = false
  }

  #accept(client: Socket): void {
    this.#connections++
    client.on('error', () => undefined)
    if (this.#mode === 'refusing') {
      client.destroy()
      return
    }
    const link = new Link(client, this.#target, {
      tls: this.#options.tls,
      isReadOnly: () => this.#isReadOnly,
      isSilent: () => this.#mode === 'silent',
      onStatement: (text, caught) => this.#take(text, caught),
      onEnd: () => this.#links.delete(link),
    })
    this.#links.add(link)
  }

  /** Whether somebody has been waiting for it. */
  #take(text: string, caught: CaughtStatement): boolean {
    this.statements.push(text)
    const index = this.#catchers.findIndex(({ pattern }) => pattern.test(text))
    const [catcher] = index < 0 ? [] : this.#catchers.splice(index, 1)
    catcher?.resolve(caught)
    return catcher !== undefined
  }

  #endAll(): void {
    for (const link of this.#links) link.end()
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.refuse()
    await closed
  }
}

interface LinkOptions {
  readonly tls: ProxyOptions['tls']
  readonly isReadOnly: () => boolean
  readonly isSilent: () => boolean
  /** Returns whether the statement is held back. */
  readonly onStatement: (text: string, caught: CaughtStatement) => boolean
  readonly onEnd: () => void
}

/** One client's connection and that to the server. */
class Link {
  readonly #options: LinkOptions
  readonly #database: string
  readonly #socket: Socket
  readonly #server: Socket
  #client: Socket
  readonly #fromClient = new Messages('startup')
  readonly #fromServer = new Messages('typed')
  readonly #prepared = new Map<string, string>()
  /** What the client sent of a statement, until it is complete. */
  #parts: Buffer[] = []
  #text = ''
  /** While set, answers go nowhere; called when the server is ready for the next statement. */
  #onReady: (() => void) | undefined
  #isHeld = false
  /** Whether the server waits for a statement. */
  #isReady = false
  /** While set, the messages of the last answer that the client gets. */
  #lastAnswer: Buffer[] | undefined

  constructor(client: Socket, target: URL, options: LinkOptions) {
    this.#options = options
    this.#database = decodeURIComponent(target.pathname.slice(1))
    this.#socket = this.#client = client
    this.#server = connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true })
    this.#listenTo(client)
    this.#server.on('data', (bytes) => this.#unlessSilent(() => this.#onAnswer(bytes)))
    this.#server.on('error', () => undefined)
    this.#server.on('end', () => this.#unlessSilent(() => this.#client.end()))
    this.#server.on('close', (isBroken) => {
      if (isBroken) client.destroy()
      if (client.closed) options.onEnd()
    })
    client.on('close', () => {
      if (this.#server.closed) options.onEnd()
    })
  }

  /** Ends it on both sides. */
  end(): void {
    this.#socket.destroy()
    this.#server.destroy()
  }

  /** Has the server run a statement that the client knows nothing of, unless the connection ends before. */
  async ask(text: string): Promise<void> {
    while (!this.#isReady) {
      if (this.#server.closed) return
      await nextTurn()
    }
    await this.#runAlone(queryMessage(text))
  }

  #send(bytes: Buffer): void {
    this.#isReady = false
    this.#server.write(bytes)
  }

  /** Keeps the answer from the client. */
  #runAlone(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#onReady = resolve
      this.#server.once('close', resolve)
      this.#send(bytes)
    })
  }

  #listenTo(client: Socket): void {
    this.#client = client
    client.on('data', (bytes) => this.#unlessSilent(() => this.#onBytes(bytes)))
    client.on('error', () => undefined)
    client.on('end', () => this.#unlessSilent(() => client.end()))
    client.on('close', () => {
      if (!this.#isHeld) this.#server.end()
    })
  }

  #unlessSilent(work: () => void): void {
    if (!this.#options.isSilent()) work()
  }

  #onBytes(bytes: Buffer): void {
    for (const message of this.#fromClient.take(bytes)) {
      if (this.#fromClient.kind === 'typed') this.#onMessage(message)
      else if (isTlsRequest(message)) this.#answerTlsRequest()
      else {
        this.#fromClient.kind = 'typed'
        this.#server.write(
          withParameters(message, {
            database: this.#database,
            ...(this.#options.isReadOnly() && { default_transaction_read_only: 'on' }),
          }),
        )
      }
    }
  }

  #answerTlsRequest(): void {
    const { tls } = this.#options
    this.#client.write(tls === undefined ? 'N' : 'S')
    if (tls === undefined) return
    this.#client.removeAllListeners('data')
    // A socket of one's own would take any certificate; a server refuses those of other authorities.
    createTlsServer({ requestCert: tls.ca !== undefined, rejectUnauthorized: true, ...tls })
      .on('secureConnection', (socket) => this.#listenTo(socket))
      .emit('connection', this.#client)
  }

  #onMessage(message: Buffer): void {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'Q') this.#text = readText(message, 5).text
    if (type === 'P') {
      const { text: name, end } = readText(message, 5)
      this.#text = readText(message, end).text
      this.#prepared.set(name, this.#text)
    }
    if (type === 'B') {
      const { end } = readText(message, 5)
      this.#text = this.#prepared.get(readText(message, end).text) ?? ''
    }
    this.#parts.push(message)
    // Those are followed by others of the same statement, up to a Sync.
    if ('PBDECH'.includes(type)) return
    const bytes = Buffer.concat(this.#parts)
    this.#parts = []
    const isStatement = type === 'Q' || type === 'S'
    this.#isHeld = isStatement && this.#options.onStatement(this.#text, this.#caught(bytes))
    if (!this.#isHeld) this.#send(bytes)
  }

  #caught(bytes: Buffer): CaughtStatement {
    return {
      pass: () => {
        this.#isHeld = false
        this.#send(bytes)
      },
      passLast: () => {
        this.#isHeld = false
        this.#lastAnswer = []
        this.#send(bytes)
      },
      drop: () => this.end(),
      cutOff: () => this.#socket.destroy(),
      run: async () => {
        await this.#runAlone(bytes)
        this.#isHeld = false
        if (this.#socket.destroyed) this.#server.end()
      },
    }
  }

  #onAnswer(bytes: Buffer): void {
    for (const message of this.#fromServer.take(bytes)) {
      const isReady = message[0] === 'Z'.charCodeAt(0)
      this.#isReady ||= isReady
      if (this.#lastAnswer !== undefined) {
        this.#lastAnswer.push(message)
        if (isReady) this.#client.end(Buffer.concat([...this.#lastAnswer, sessionEnds]))
      } else if (this.#onReady === undefined) this.#client.write(message)
      else if (isReady) {
        this.#onReady()
        this.#onReady = undefined
      }
    }
  }
}
