import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from './caller.ts'
import { FeedReader } from './feed-reader.ts'
import { Ledger, type RecordedRequest, type Outcome } from './ledger.ts'
import { Load } from './load.ts'
import type { PostgresServer } from './postgres-server.ts'
import { assertLive, database, readiness, type Services } from './services.ts'
import { verify } from './verify.ts'

/** Default of UGS_POSTGRES_DEADLINE_MS. It applies to the lookup of the API token and to the operation separately. */
const deadlineMs = 5000
/** Allowance for a busy machine, in milliseconds. */
const marginMs = 2000
/** Maximum time from the database's recovery to the service's, in milliseconds. */
const recoveryBoundMs = 5000
/** Shorter outages may end before the next request to `/readyz`. */
const noticedMs = 1500

export interface Round {
  readonly name: string
  /** Prefix of the ids of its user groups. */
  readonly prefix: string
  /** Length of each outage, one per kill. */
  readonly outagesMs: readonly number[]
  /** The server to kill. */
  readonly victim: PostgresServer
  /** Restores the database, and resolves with the server that accepts writes. */
  readonly bringBack: () => Promise<PostgresServer>
}

export interface Result {
  readonly caller: Caller
  readonly inDoubt: number
}

/** Kills and restores the database under load, and compares it with the acknowledged requests. */
export async function runRound(services: Services, round: Round): Promise<Result> {
  const caller = new Caller(services.origins, services.apiToken, new Ledger())
  const feeds = await FeedReader.openAll(services)
  const load = new Load(caller, round.prefix)
  const outage = await load
    .during(() => takeAway(services, round, caller.ledger))
    .finally(() => assertLive(services))
  const violations = await verify(caller, outage.server.queryOf(database), round.prefix, feeds)
  const { line, slowestMs, counts } = figures(caller, outage)
  console.log(`${round.name}: ${line}`)
  assert.deepEqual(violations.slice(0, 10), [], `${violations.length} violations`)
  assert.ok(outage.isOver, `not every service made a change within ${recoveryBoundMs} ms of the database`)
  assert.ok(slowestMs < 2 * deadlineMs + marginMs, `a response took ${slowestMs} ms`)
  if (Math.max(...round.outagesMs) > deadlineMs + 1000) assert.ok(counts.undone + counts['in doubt'] > 0)
  return { caller, inDoubt: counts['in doubt'] }
}

interface Outage {
  /** Time of the first kill. */
  readonly killedAt: number
  /** Time at which a direct connection could write, and its server. */
  readonly writableAt: number
  readonly server: PostgresServer
  /** True if each service made a change soon afterwards. */
  readonly isOver: boolean
}

async function takeAway(services: Services, round: Round, ledger: Ledger): Promise<Outage> {
  await acknowledges(ledger, 300 + randomInt(1500))
  let last = await takeAwayOnce(services, round, round.outagesMs[0] ?? 0)
  for (const downMs of round.outagesMs.slice(1)) {
    // Before the services have restored all of their connections.
    await acknowledges(ledger, ledger.acknowledged + 1 + randomInt(30))
    last = { ...(await takeAwayOnce(services, round, downMs)), killedAt: last.killedAt }
  }
  const { writableAt } = last
  const hasChanged = () =>
    services.origins.every((_, service) => (ledger.changedAt[service] ?? 0) > writableAt)
  const isOver = await ledger.until(hasChanged, recoveryBoundMs)
  if (isOver) await readiness(services, 200, writableAt + recoveryBoundMs - performance.now())
  await acknowledges(ledger, ledger.acknowledged + 500)
  return { ...last, isOver }
}

async function takeAwayOnce(
  services: Services,
  { victim, bringBack }: Round,
  downMs: number,
): Promise<Omit<Outage, 'isOver'>> {
  await victim.kill()
  const killedAt = performance.now()
  if (downMs > noticedMs) await readiness(services, 503, downMs)
  await sleep(Math.max(0, killedAt + downMs - performance.now()))
  const server = await bringBack()
  return { killedAt, writableAt: await server.writable(), server }
}

export async function acknowledges(ledger: Ledger, count: number): Promise<void> {
  assert.ok(await ledger.until(() => ledger.acknowledged >= count, 60_000), 'the load does not get on')
}

function figures(caller: Caller, { killedAt, writableAt }: Outage) {
  const { requests } = caller.ledger
  const counts: Record<Outcome, number> = { done: 0, undone: 0, 'in doubt': 0, superseded: 0 }
  for (const { outcome } of requests) counts[outcome]++
  const slowestMs = Math.max(...requests.map(({ startedAt, endedAt }) => endedAt - startedAt))
  const responded = caller.each((service) =>
    requests.filter((request) => request.service === service && request.outcome === 'done'),
  )
  const gaps = responded.map(longestGap)
  const recoveries = responded.map((requests) => {
    const first = requests.find(({ kind, endedAt }) => kind !== 'read' && endedAt > writableAt)
    return first === undefined ? 'never' : `${Math.round(first.endedAt - writableAt)} ms`
  })
  const line = [
    `down for ${seconds(writableAt - killedAt)}`,
    `${requests.length} responses: ${counts.done} × 200, ${counts.superseded} × 409, ${counts.undone + counts['in doubt']} × 503 (${counts['in doubt']} in doubt)`,
    `slowest response ${seconds(slowestMs)}`,
    `longest gap ${gaps.map(seconds).join(' and ')}`,
    `back ${recoveries.join(' and ')} after the database`,
  ].join('; ')
  return { line, slowestMs, counts }
}

export function longestGap(requests: readonly RecordedRequest[]): number {
  return Math.max(
    ...requests.slice(1).map(({ endedAt }, i) => endedAt - (requests[i] as RecordedRequest).endedAt),
  )
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
