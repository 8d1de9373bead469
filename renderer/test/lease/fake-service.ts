import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IntrospectionClientOptions, IntrospectionClient } from '../../src/index.ts'
import { active, activeSession } from '../introspection-server.ts'
import { SettableClock } from '../support.ts'
import { client } from '../test-client.ts'

/** Part of `TestContext`, which a group of tests has too. */
interface Scope {
  after(fn: () => void): void
}

interface Stream {
  readonly response: ServerResponse
  readonly startedAt: number
}

interface KnownToken {
  teamId: number
  isActive: boolean
  expiresAt?: number
  region?: string
  /** Set for a session. */
  resources?: readonly string[]
}

/** The introspection endpoint and the event feed of a service, under the control of a test. */
export class FakeService {
  readonly clock = new SettableClock()
  readonly tokens = new Map<string, KnownToken>()
  /** Tokens of the received introspection requests. */
  readonly introspections: string[] = []
  readonly feedRequests: IncomingMessage[] = []
  store = 'store1'
  /** Number of events. */
  count = 0
  /** Position in introspection responses. Default: of the newest event. */
  header: ((service: FakeService) => string | undefined) | undefined = (service) => service.position
  /** Responds to a feed request instead of the feed. */
  refuseFeed: ((response: ServerResponse) => void) | undefined
  /** Set to keep computed introspection responses back until `releaseIntrospections`. */
  isHoldingIntrospections = false
  readonly #streams = new Set<Stream>()
  readonly #events: { position: string; text: string }[] = []
  readonly #held: (() => void)[] = []
  readonly #server = createServer((request, response) => this.#respond(request, response))

  static async start(t: Scope): Promise<FakeService> {
    const service = new FakeService()
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    t.after(() => service.stop())
    return service
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/oauth2/introspect`
  }

  get position(): string {
    return `${this.store}-${this.count}`
  }

  get streams(): number {
    return this.#streams.size
  }

  get responses(): ServerResponse[] {
    return [...this.#streams].map(({ response }) => response)
  }

  get heldIntrospections(): number {
    return this.#held.length
  }

  /** Adds an active token. */
  issue(token: string, details: Partial<KnownToken> = {}): KnownToken {
    const known = { teamId: 7, isActive: true, ...details }
    this.tokens.set(token, known)
    return known
  }

  /** Adds an event and sends it. */
  publish(type: string, data: object): void {
    this.count++
    const timestamp = new Date(this.clock.now()).toISOString()
    const text = `id: ${this.position}\nevent: ${type}\ndata: ${JSON.stringify({ type, timestamp, data })}\n\n`
    this.#events.push({ position: this.position, text })
    this.send(text)
  }

  /** Says that the feed is complete up to now. */
  heartbeat(): void {
    for (const stream of this.#streams) this.#sendHeartbeat(stream)
  }

  send(text: string): void {
    for (const { response } of this.#streams) response.write(text)
  }

  endStreams(): void {
    for (const { response } of this.#streams) response.end()
  }

  destroyStreams(): void {
    for (const { response } of this.#streams) response.destroy()
  }

  /** Forgets the events so far, so that earlier positions are reset. */
  forgetEvents(): void {
    this.#events.length = 0
  }

  releaseIntrospections(): void {
    for (const release of this.#held.splice(0)) release()
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET') return this.#stream(request, response)
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => this.#introspect(new URLSearchParams(body), response))
  }

  #introspect(form: URLSearchParams, response: ServerResponse): void {
    const token = form.get('token') ?? ''
    this.introspections.push(token)
    const known = this.tokens.get(token)
    const { teamId, isActive, expiresAt, region, resources } = known ?? { teamId: 0, isActive: false }
    const resource = form.get('resource')
    const isValid =
      isActive &&
      (expiresAt === undefined || this.clock.now() < expiresAt) &&
      (resource === null || (resources?.includes(resource) ?? true))
    const content = isValid
      ? {
          ...(resources ? { ...activeSession, resources } : active),
          team_id: teamId,
          properties: { region: region ?? 'EU' },
          ...(expiresAt !== undefined && { exp: expiresAt / 1000 }),
        }
      : { active: false }
    const position = this.header?.(this)
    const send = () => {
      response
        .writeHead(200, {
          'content-type': 'application/json',
          date: new Date(this.clock.now()).toUTCString(),
          ...(position !== undefined && { 'x-event-position': position }),
        })
        .end(JSON.stringify(content))
    }
    if (this.isHoldingIntrospections) this.#held.push(send)
    else send()
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    this.feedRequests.push(request)
    if (this.refuseFeed) return this.refuseFeed(response)
    const stream = { response, startedAt: this.clock.monotonic() }
    this.#streams.add(stream)
    response.on('close', () => this.#streams.delete(stream))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 1000\n\n')
    const after = request.headers['last-event-id']?.toString()
    if (after !== undefined && after !== this.position) {
      const index = this.#events.findIndex(({ position }) => position === after)
      const missed = this.#events.slice(index + 1)
      if (index === -1 && !isBefore(after, missed[0]?.position)) this.#reset(response)
      else for (const { text } of missed) response.write(text)
    }
    this.#sendHeartbeat(stream)
  }

  #reset(response: ServerResponse): void {
    response.write(`id: ${this.position}\nevent: reset\ndata: {}\n\n`)
  }

  #sendHeartbeat({ response, startedAt }: Stream): void {
    const elapsed = Math.floor(this.clock.monotonic() - startedAt)
    response.write(`: complete ${elapsed}\nid: ${this.position}\nevent: heartbeat\ndata: {}\n\n`)
  }
}

/** Returns whether `after` is the position right before `first`. */
function isBefore(after: string, first: string | undefined): boolean {
  const [store, number] = after.split('-')
  return first === `${store}-${Number(number) + 1}`
}

export const leaseMs = 5000

/** Returns a client with a lease whose feed connection has begun. */
export async function leasedClient(
  t: Scope,
  service: FakeService,
  options: Partial<IntrospectionClientOptions> = {},
): Promise<IntrospectionClient> {
  const leased = client(service.url, {
    cache: { lease: true, maxEntries: 100, leaseMs },
    clock: service.clock,
    ...options,
  })
  t.after(() => void leased.close())
  await leased.introspect('unknown')
  await until(() => leased.hasLease)
  service.introspections.length = 0
  return leased
}

export async function until(condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${condition.toString()}`)
    await sleep(1)
  }
}

export function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Publishes an event and waits until the client has processed it. */
export async function publishTo(
  leased: IntrospectionClient,
  service: FakeService,
  type: string,
  data: object,
): Promise<void> {
  const received = new Promise<void>((resolve) => {
    const listener = () => {
      leased.off('event', listener)
      resolve()
    }
    leased.on('event', listener)
  })
  service.publish(type, data)
  await received
}

/** Sends a heartbeat and waits until it has restored the lease. */
export async function renewLease(leased: IntrospectionClient, service: FakeService): Promise<void> {
  service.heartbeat()
  await until(() => leased.hasLease)
}
