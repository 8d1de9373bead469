import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

const latencyMs = 10

/**
 * A network between a service and a server on another machine. It delays responses, and when it fails with the server,
 * responses in transit are lost.
 */
export class Network {
  readonly #serverPort: number
  readonly #clients = new Set<Socket>()
  readonly #listener = createServer({ noDelay: true }, (client) => this.#link(client))
  #port = 0

  constructor(serverPort: number) {
    this.#serverPort = serverPort
    this.#listener.unref()
  }

  /** The address of the server through this network. */
  get host(): string {
    return `127.0.0.1:${this.#port}`
  }

  async open(): Promise<void> {
    this.#listener.listen(this.#port, '127.0.0.1')
    await once(this.#listener, 'listening')
    this.#port = (this.#listener.address() as AddressInfo).port
  }

  /** Drops everything in transit and refuses connections until it is opened again. */
  cut(): void {
    this.#listener.close()
    for (const client of this.#clients) client.destroy()
  }

  #link(client: Socket): void {
    const server = connect({ port: this.#serverPort, host: '127.0.0.1', noDelay: true })
    this.#clients.add(client)
    client.on('data', (bytes) => server.write(bytes))
    client.on('error', () => undefined)
    client.on('close', () => {
      this.#clients.delete(client)
      server.destroy()
    })
    server.on('data', (bytes) => setTimeout(() => client.writable && client.write(bytes), latencyMs))
    server.on('error', () => undefined)
    server.on('close', () => setTimeout(() => client.end(), latencyMs))
  }
}
