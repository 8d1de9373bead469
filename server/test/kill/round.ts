import { randomInt } from 'node:crypto'
import { Caller } from '../failover/caller.ts'
import { FeedReader } from '../failover/feed-reader.ts'
import { Ledger, type RecordedRequest } from '../failover/ledger.ts'
import { Load } from '../failover/load.ts'
import { acknowledges } from '../failover/round.ts'
import { assertLive } from '../failover/services.ts'
import { verify } from '../failover/verify.ts'
import type { KillableServices } from './services.ts'
import type { KilledStore } from './stores.ts'

/** Targets of SIGKILL, one per round in turn. */
const victims = ['one service', 'all services', 'the database', 'the database and all services'] as const
type Victim = (typeof victims)[number]

export interface KillResult {
  readonly victim: Victim
  readonly requests: number
  /** Acknowledged creations, updates and rotations. */
  readonly changes: number
  readonly inDoubt: number
  readonly refused: number
  /** Differences between responses and the store, for example lost changes. */
  readonly violations: readonly string[]
  /** Number of times that a feed said that events may be missing. */
  readonly resets: number
  /** Damage that the store's own checks find in its files. */
  readonly faults: readonly string[]
}

function victimOf(round: number, { server }: KilledStore): Victim {
  const possible = server === undefined ? 2 : victims.length
  return victims[round % possible] as Victim
}

/** Kills services under load at a random moment, restarts them, and compares the store with every response. */
export async function runKillRound(
  services: KillableServices,
  store: KilledStore,
  round: number,
): Promise<KillResult> {
  const victim = victimOf(round, store)
  const prefix = `kill-${round}-`
  services.forget()
  const caller = new Caller(services.origins, services.apiToken, new Ledger(), services.whenBack)
  const { ledger } = caller
  const feeds = await FeedReader.openAll(services)
  await new Load(caller, prefix).during(async () => {
    await acknowledges(ledger, 100 + randomInt(900))
    await killAndStart(services, store, victim)
    await acknowledges(ledger, ledger.acknowledged + 200)
  })
  assertLive(services)
  const { requests } = ledger
  const count = (isOne: (request: RecordedRequest) => boolean) => requests.filter(isOne).length
  const result = {
    requests: requests.length,
    changes: count(({ kind, outcome }) => kind !== 'read' && outcome === 'done'),
    inDoubt: count(({ outcome }) => outcome === 'in doubt'),
    refused: count(({ outcome }) => outcome === 'undone'),
  }
  const violations = await verify(caller, store.query, prefix, feeds)
  await caller.close()
  const resets = feeds.reduce((sum, feed) => sum + feed.resets, 0)
  return { victim, ...result, resets, violations, faults: await store.findFaults() }
}

async function killAndStart(
  services: KillableServices,
  { server }: KilledStore,
  victim: Victim,
): Promise<void> {
  const all = services.origins.map((_, service) => service)
  const killed = { 'one service': [randomInt(all.length)], 'the database': [] }[victim as string] ?? all
  const withServer = victim.startsWith('the database') ? server : undefined
  const [startServices] = await Promise.all([services.kill(killed), withServer?.kill()])
  await withServer?.start()
  await withServer?.writable()
  await startServices()
}
