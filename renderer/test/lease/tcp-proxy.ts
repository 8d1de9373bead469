import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { until } from './fake-service.ts'

interface Link {
  readonly client: Socket
  readonly service: Socket
}

/** A proxy in front of the event feed that disturbs its connections. */
export class TcpProxy {
  readonly #server: Server
  readonly #links = new Set<Link>()
  readonly #heldBack: (() => void)[] = []
  #isHolding = false
  connections = 0

  private constructor(port: number) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      this.connections++
      const link = { client, service: connect({ port, host: '127.0.0.1', allowHalfOpen: true }) }
      this.#links.add(link)
      client.on('data', (chunk) => link.service.write(chunk))
      client.on('end', () => link.service.end())
      link.service.on('data', (chunk) => this.#forward(() => client.write(chunk)))
      link.service.on('end', () => this.#forward(() => client.end()))
      for (const socket of [client, link.service]) {
        socket.on('error', () => undefined)
        socket.on('close', () => {
          client.destroy()
          link.service.destroy()
          this.#links.delete(link)
        })
      }
    })
  }

  static async start(t: { after(fn: () => void): void }, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      proxy.#server.close()
      proxy.cut()
    })
    return proxy
  }

  get eventsUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`
  }

  /** Number of chunks from the service that are held back. */
  get heldBack(): number {
    return this.#heldBack.length
  }

  /** Ends all connections without a word. */
  cut(): void {
    for (const { client, service } of this.#links) {
      client.resetAndDestroy()
      service.destroy()
    }
  }

  /** Ends the direction to the client and keeps the other open. */
  halfClose(): void {
    for (const { client } of this.#links) client.end()
  }

  /** Holds all bytes to the client back and keeps the connections open. */
  hold(): void {
    this.#isHolding = true
  }

  /** Forwards the first `count` chunks that are held back, and lets the client read them. */
  async release(count: number): Promise<void> {
    for (const forward of this.#heldBack.splice(0, count)) forward()
    for (let turn = 0; turn < 5; turn++) await nextTurn()
  }

  /** Forwards all bytes again, also those that were held back. */
  resume(): void {
    this.#isHolding = false
    void this.release(Infinity)
  }

  async untilHeldBack(count: number): Promise<void> {
    await until(() => this.#heldBack.length >= count)
  }

  #forward(forward: () => void): void {
    if (this.#isHolding) this.#heldBack.push(forward)
    else forward()
  }
}
