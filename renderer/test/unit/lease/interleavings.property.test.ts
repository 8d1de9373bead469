import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import type { IntrospectionClient } from '../../../src/index.ts'
import { cases } from '../../../../server/test/support/cases.ts'
import { FakeService, leasedClient, leaseMs, sha256, until } from '../../lease/fake-service.ts'
import { TcpProxy } from '../../lease/tcp-proxy.ts'

const tokens = ['a', 'b', 'c', 'd']
const teamOf = (token: string) => (token < 'c' ? 1 : 2)

/** A client, a service and a network between them, and the times at which each token was active. */
class World {
  readonly service: FakeService
  readonly client: IntrospectionClient
  readonly #proxy: TcpProxy
  readonly #revokedAt = new Map<string, number>()
  readonly #calls = new Set<Promise<void>>()
  cached = 0
  lateMs = 0

  private constructor(service: FakeService, proxy: TcpProxy, client: IntrospectionClient) {
    this.service = service
    this.client = client
    this.#proxy = proxy
    for (const token of tokens) service.issue(token, { teamId: teamOf(token) })
  }

  static async create(t: { after(fn: () => void): void }): Promise<World> {
    const service = await FakeService.start(t)
    const proxy = await TcpProxy.start(t, service.port)
    return new World(service, proxy, await leasedClient(t, service, { eventsUrl: proxy.eventsUrl }))
  }

  change(token: string, type: 'rotated' | 'suspended' | 'resumed' | 'updated'): void {
    const team = { team_id: teamOf(token) }
    const ofTeam = tokens.filter((other) => teamOf(other) === teamOf(token))
    if (type === 'rotated') {
      this.#set([token], false)
      this.service.publish('user_group.token_rotated', { ...team, token_sha256: [sha256(token)] })
    } else {
      if (type !== 'updated') this.#set(ofTeam, type === 'resumed')
      this.service.publish(`user_group.${type}`, team)
    }
  }

  introspect(token: string): void {
    const start = this.service.clock.monotonic()
    const before = this.service.introspections.length
    const call = this.client.introspect(token).then((userGroup) => {
      if (this.service.introspections.length === before) this.cached++
      const revokedAt = this.#revokedAt.get(token)
      if (userGroup === null || revokedAt === undefined) return
      const lateMs = start - revokedAt
      this.lateMs = Math.max(this.lateMs, lateMs)
      assert.ok(lateMs < leaseMs, `${token} was accepted ${lateMs} ms after it had been revoked`)
    })
    this.#calls.add(call.finally(() => this.#calls.delete(call)))
  }

  holdFeed(): void {
    this.#proxy.hold()
  }

  async releaseFeed(chunks: number): Promise<void> {
    await this.#proxy.release(chunks)
  }

  resumeFeed(): void {
    this.#proxy.resume()
  }

  /** Ends the feed connection, and waits for the next one. */
  async interrupt(way: 'cut' | 'half-close' | 'end'): Promise<void> {
    const { length } = this.service.feedRequests
    if (way === 'cut') this.#proxy.cut()
    else if (way === 'half-close') this.#proxy.halfClose()
    else this.service.endStreams()
    // The end of the stream may be held back.
    if (way === 'end') this.#proxy.resume()
    await until(() => this.service.feedRequests.length > length && this.service.streams > 0)
  }

  /** Ends all disturbances. Then every response must be right, also from the cache. */
  async settle(): Promise<void> {
    this.service.isHoldingIntrospections = false
    this.service.releaseIntrospections()
    this.#proxy.resume()
    await Promise.all(this.#calls)
    this.service.clock.pass(leaseMs)
    await until(() => {
      this.service.clock.pass(100)
      this.service.heartbeat()
      return this.client.hasLease
    })
    for (const token of [...tokens, ...tokens]) {
      const isActive = (await this.client.introspect(token)) !== null
      assert.equal(isActive, this.service.tokens.get(token)?.isActive, token)
    }
  }

  #set(changed: readonly string[], isActive: boolean): void {
    for (const token of changed) {
      const known = this.service.tokens.get(token) ?? assert.fail()
      if (known.isActive && !isActive) this.#revokedAt.set(token, this.service.clock.monotonic())
      if (isActive) this.#revokedAt.delete(token)
      known.isActive = isActive
    }
  }
}

type Step = (world: World) => void | Promise<void>

const token = fc.constantFrom(...tokens)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: token.map((token): Step => (world) => world.introspect(token)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(token, fc.constantFrom('rotated', 'suspended', 'resumed', 'resumed', 'updated'))
      .map(([token, type]): Step => (world) => world.change(token, type)),
  },
  {
    weight: 6,
    arbitrary: fc.constant<Step>(async ({ service }) => {
      service.heartbeat()
      for (let turn = 0; turn < 4; turn++) await nextTurn()
    }),
  },
  { weight: 4, arbitrary: fc.nat(2500).map((ms): Step => ({ service }) => service.clock.pass(ms)) },
  {
    weight: 6,
    arbitrary: fc.nat(4).map((turns): Step => async () => {
      for (let turn = 0; turn <= turns; turn++) await nextTurn()
    }),
  },
  {
    weight: 3,
    // A response that the service sends only after the token has changed.
    arbitrary: fc.tuple(token, fc.nat(10), fc.nat(10)).map(([token, before, after]): Step => async (world) => {
      world.service.isHoldingIntrospections = true
      world.client.invalidate(token)
      world.introspect(token)
      for (let turn = 0; turn < before; turn++) await nextTurn()
      world.change(token, 'suspended')
      for (let turn = 0; turn < after; turn++) await nextTurn()
      world.service.isHoldingIntrospections = false
      world.service.releaseIntrospections()
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.holdFeed()) },
  { weight: 2, arbitrary: fc.nat(3).map((chunks): Step => (world) => world.releaseFeed(chunks)) },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.resumeFeed()) },
  { weight: 2, arbitrary: fc.boolean().map((isHolding): Step => ({ service }) => void (service.isHoldingIntrospections = isHolding)) },
  { weight: 2, arbitrary: fc.constant<Step>(({ service }) => service.releaseIntrospections()) },
  {
    weight: 1,
    arbitrary: fc.nat(3).map((behind): Step => ({ service }) => {
      // A process of the service that has not read the newest events yet.
      service.header = ({ store, count }) => `${store}-${Math.max(0, count - behind)}`
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom('cut', 'half-close', 'end').map((way): Step => (world) => world.interrupt(way)) },
  { weight: 1, arbitrary: fc.constant<Step>(({ service }) => service.forgetEvents()) },
  { weight: 1, arbitrary: fc.integer({ min: -60_000, max: 60_000 }).map((ms): Step => ({ service }) => void (service.clock.time += ms)) },
) // prettier-ignore

it('a revoked token is never accepted after the lease, and every token is right once the feed works', async (t) => {
  let cached = 0
  let late = 0
  const run = async (steps: Step[]) => {
    await withScope(async (scope) => {
      const world = await World.create(scope)
      // Cached from the beginning, so that steps have something to invalidate.
      for (const token of tokens) await world.client.introspect(token)
      for (const step of steps) await step(world)
      await world.settle()
      cached += world.cached
      late = Math.max(late, world.lateMs)
    })
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), run), {
    numRuns: cases(60),
    endOnFailure: true,
  })
  t.diagnostic(`${cached} responses from the cache; the latest ${late} ms after a revocation`)
  assert.ok(cached > 0)
})

/** Ends what a run started right after it. */
async function withScope(body: (scope: { after(fn: () => void): void }) => Promise<void>): Promise<void> {
  const ends: (() => void)[] = []
  try {
    await body({ after: (end) => void ends.push(end) })
  } finally {
    for (const end of ends.reverse()) end()
  }
}
