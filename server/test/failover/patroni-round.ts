import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from '../support/http.ts'
import { Caller } from './caller.ts'
import { Ledger } from './ledger.ts'
import { Load } from './load.ts'
import type { PatroniCluster, PatroniMember } from './patroni-cluster.ts'
import { poll } from './poll.ts'
import { acknowledges, longestGap } from './round.ts'
import { assertLive, database, readiness, type Services } from './services.ts'
import { verify } from './verify.ts'

/**
 * - `crash`: the server of the leader is killed, and its Patroni continues.
 * - `kill`: the machine of the leader is lost.
 * - `freeze`: the machine of the leader is paused and continues.
 * - `takeover`: the same, and the old leader owns the leader key when it continues.
 */
export type Fault = 'crash' | 'kill' | 'freeze' | 'takeover'

export interface PatroniResult {
  readonly lost: number
  readonly revived: number
  /** Other differences between responses and database. */
  readonly wrong: readonly string[]
  /** True if the services refused the primary. */
  readonly isRefused: boolean
  /** Time from the fault until another server accepted writes, in milliseconds. */
  readonly electionMs: number
  /** Time from then until every service had acknowledged a change, in milliseconds. */
  readonly recoveryMs: number
  /** Longest time without an acknowledged request of a service, in milliseconds. */
  readonly outageMs: number
}

const isPause = (fault: Fault) => fault === 'freeze' || fault === 'takeover'

/** Time that a service may need after the first possible write, in milliseconds. */
const recoveryBoundMs = 10_000
/** Time for which the effects of a continued leader are watched, in milliseconds. */
const watchMs = 10_000

/** Ends a load without retries. */
class Refused extends Error {}

/** Runs a fault under load, and compares the database with the acknowledged requests. */
export async function runPatroniRound(
  cluster: PatroniCluster,
  services: Services,
  { fault, frozenMs, prefix }: { fault: Fault; frozenMs: number; prefix: string },
): Promise<PatroniResult> {
  const leader = await cluster.healthy()
  const caller = new Caller(services.origins, services.apiToken, new Ledger())
  let electionMs = 0
  let recoveryMs = 0
  const load = new Load(caller, prefix, 50)
  const isRefused = await load
    .during(async () => {
      ;({ electionMs, recoveryMs } = await failOver(cluster, leader, caller, { fault, frozenMs }))
      if (fault === 'kill') leader.start()
      if (isPause(fault)) {
        if (fault === 'takeover') await cluster.giveLeaderKey(leader)
        leader.thaw()
        if (await isRefusedWithin(services, fault === 'takeover' ? 3 * watchMs : watchMs)) throw new Refused()
      }
      await acknowledges(caller.ledger, caller.ledger.acknowledged + 100)
      return false
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) return true
      throw error
    })
  const outageMs = longestOutage(caller)
  const primary = await cluster.synchronous()
  if (isRefused) await acceptLoss(services, caller.ledger)
  const violations = await verify(caller, primary.queryOf(database), prefix)
  assertLive(services)
  return { ...classified(violations), isRefused, electionMs, recoveryMs, outageMs }
}

function longestOutage(caller: Caller): number {
  const done = caller.ledger.requests.filter(({ outcome }) => outcome === 'done')
  return Math.max(
    ...caller.each((service) => longestGap(done.filter((request) => request.service === service))),
  )
}

async function failOver(
  cluster: PatroniCluster,
  leader: PatroniMember,
  { ledger, services }: Caller,
  { fault, frozenMs }: { fault: Fault; frozenMs: number },
): Promise<Pick<PatroniResult, 'electionMs' | 'recoveryMs'>> {
  await acknowledges(ledger, 300)
  const startedAt = performance.now()
  if (fault === 'crash') await leader.killServer()
  else if (fault === 'kill') await leader.kill()
  else await leader.freeze()
  const { at } = await cluster.writable(leader)
  const hasChanged = () =>
    Array.from({ length: services }).every((_, service) => (ledger.changedAt[service] ?? 0) > at)
  assert.ok(await ledger.until(hasChanged, recoveryBoundMs), 'a service does not use the new primary')
  const recoveryMs = performance.now() - at
  // Long enough for each service to write a mark.
  if (isPause(fault)) await sleep(Math.max(3000, startedAt + frozenMs - performance.now()))
  return { electionMs: at - startedAt, recoveryMs }
}

async function isRefusedWithin({ running }: Services, boundMs: number): Promise<boolean> {
  const refusals = () =>
    running.map(({ stderr }) => stderr().split('primary of PostgreSQL was ').at(-1) ?? '')
  return poll('a refusal', boundMs, () =>
    refusals().every((last) => last.startsWith('refused')) ? true : undefined,
  ).catch(() => false)
}

/** Asserts that the services serve nothing from the primary until it is accepted. */
async function acceptLoss(services: Services, ledger: Ledger): Promise<void> {
  const { acknowledged } = ledger
  const [first] = services.running
  await Promise.all(
    services.origins.map(async (origin) => {
      assert.equal((await sendRequest(origin, { path: '/readyz' })).status, 503)
    }),
  )
  assert.equal(ledger.acknowledged, acknowledged)
  const { code, stderr } = (await first?.ugs('accept-timeline')) ?? {}
  assert.equal(code, 0, stderr)
  await readiness(services, 200, recoveryBoundMs)
}

const isLoss =
  /was acknowledged and is not there|an update was lost|the token of an acknowledged rotation is not/
const isRevival = 'a token whose replacement was acknowledged is not superseded'

function classified(violations: readonly string[]): Pick<PatroniResult, 'lost' | 'revived' | 'wrong'> {
  const lost = violations.filter((title) => isLoss.test(title))
  const revived = violations.filter((title) => title.endsWith(isRevival))
  const wrong = violations.filter((title) => !lost.includes(title) && !revived.includes(title))
  return { lost: lost.length, revived: revived.length, wrong }
}
