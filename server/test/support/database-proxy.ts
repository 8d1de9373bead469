import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import {
  errorMessage,
  isReadyMessage,
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
   * Encrypts the connection between client and proxy with this certificate. By default the proxy refuses TLS. With `ca`, the
   * client must have a certificate of this authority.
   */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string }
}

/** A statement that has reached the proxy, but not the server. */
export interface CaughtStatement {
  /** Forwards the statement. */
  pass(): void
  /** Forwards the statement. Its response and the end of the session, as at a shutdown, arrive together. */
  passLast(): void
  /** Ends the connection on both sides. The server never receives the statement. */
  drop(): void
  /** Ends the connection to the client only, so that the statement can still `run`. */
  cutOff(): void
  /** Runs the statement without a response to the client. Resolves after its commit. */
  run(): Promise<void>
  /** Runs the statement, and reports this error code to the client. */
  runAndFail(code: string): Promise<void>
}

/** `silent`: the proxy forwards nothing and ends no connection. */
type Mode = 'open' | 'refusing' | 'silent'

/**
 * A proxy between a store and PostgreSQL that drops connections and statements at the point that a test chooses.
 */
export class DatabaseProxy {
  /** Texts of all statements in order of arrival. A prepared statement is listed at each execution. */
  readonly statements: string[] = []
  #target: URL
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
    // A connection that the client ends stays open until the proxy responds, as in a network that drops all packets.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client))
  }

  /** Forwards to this database, whichever one the client names. */
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

  /** Returns the URL of the database through this proxy and the `others`, in this order. */
  urlWith(...others: readonly string[]): string {
    const { username, password, pathname } = this.#target
    const credentials = password === '' ? username : `${username}:${password}`
    return `postgres://${credentials}@${[this.address, ...others].join()}${pathname}`
  }

  get url(): string {
    return this.urlWith()
  }

  /** Number of connections so far. */
  get connections(): number {
    return this.#connections
  }

  /** Returns the number of matching statements so far. */
  count(pattern: RegExp): number {
    return this.statements.filter((text) => pattern.test(text)).length
  }

  /** Resolves with the next matching statement, which is held until the test decides. */
  next(pattern: RegExp): Promise<CaughtStatement> {
    return new Promise((resolve) => this.#catchers.push({ pattern, resolve }))
  }

  /** Ends all connections, and new ones at once, until `open`. */
  refuse(): void {
    this.#mode = 'refusing'
    this.#endAll()
  }

  /** Drops every byte in both directions, also of new connections, until `open`. */
  swallow(): void {
    this.#mode = 'silent'
  }

  /** Ends all connections, and forwards new ones to another database, as after a failover. */
  redirect(databaseUrl: string): void {
    this.#target = new URL(databaseUrl)
    this.#endAll()
  }

  open(): void {
    if (this.#mode === 'silent') this.#endAll()
    this.#mode = 'open'
  }

  /** Makes the server look like a standby for all statements that follow. */
  async becomeReadOnly(): Promise<void> {
    this.#isReadOnly = true
    await Promise.all([...this.#links].map((link) => link.ask('SET default_transaction_read_only = on')))
  }

  /** Accepts writes again, over new connections. */
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

  /** True if the test waits for it. */
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

/** A connection of a client, and its connection to the server. */
class Link {
  readonly #options: LinkOptions
  readonly #database: string
  readonly #socket: Socket
  readonly #server: Socket
  #client: Socket
  readonly #fromClient = new Messages('startup')
  readonly #fromServer = new Messages('typed')
  readonly #prepared = new Map<string, string>()
  /** Messages of a statement until it is complete. */
  #parts: Buffer[] = []
  #text = ''
  /** While set, responses are dropped. Called when the server is ready for the next statement. */
  #onReady: (() => void) | undefined
  #isHeld = false
  /** True if the server waits for a statement. */
  #isReady = false
  /** While set, the messages of the last response to the client. */
  #lastResponse: Buffer[] | undefined

  constructor(client: Socket, target: URL, options: LinkOptions) {
    this.#options = options
    this.#database = decodeURIComponent(target.pathname.slice(1))
    this.#socket = this.#client = client
    this.#server = connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true })
    this.#listenTo(client)
    this.#server.on('data', (bytes) => this.#unlessSilent(() => this.#onResponse(bytes)))
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

  /** Ends the connection on both sides. */
  end(): void {
    this.#socket.destroy()
    this.#server.destroy()
  }

  /** Runs a statement without the client's knowledge, unless the connection ends first. */
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

  /** Drops the response. */
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
      else if (isTlsRequest(message)) this.#respondToTlsRequest()
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

  #respondToTlsRequest(): void {
    const { tls } = this.#options
    this.#client.write(tls === undefined ? 'N' : 'S')
    if (tls === undefined) return
    this.#client.removeAllListeners('data')
    // A `TLSSocket` accepts any certificate. A server refuses those of other authorities.
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
    // More messages of the same statement follow, up to a Sync.
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
        this.#lastResponse = []
        this.#send(bytes)
      },
      drop: () => this.end(),
      cutOff: () => this.#socket.destroy(),
      run: async () => {
        await this.#runAlone(bytes)
        this.#isHeld = false
        if (this.#socket.destroyed) this.#server.end()
      },
      runAndFail: async (code) => {
        await this.#runAlone(bytes)
        this.#isHeld = false
        this.#client.write(Buffer.concat([errorMessage(code), isReadyMessage]))
      },
    }
  }

  #onResponse(bytes: Buffer): void {
    for (const message of this.#fromServer.take(bytes)) {
      const isReady = message[0] === 'Z'.charCodeAt(0)
      this.#isReady ||= isReady
      if (this.#lastResponse !== undefined) {
        this.#lastResponse.push(message)
        if (isReady) this.#client.end(Buffer.concat([...this.#lastResponse, sessionEnds]))
      } else if (this.#onReady === undefined) this.#client.write(message)
      else if (isReady) {
        this.#onReady()
        this.#onReady = undefined
      }
    }
  }
}
