import assert from 'node:assert/strict'
import { Caller } from '../failover/caller.ts'
import { Ledger, type RecordedRequest } from '../failover/ledger.ts'
import { Load } from '../failover/load.ts'
import { acknowledges } from '../failover/round.ts'
import { assertLive, type Services } from '../failover/services.ts'
import { verify } from '../failover/verify.ts'
import { createApiToken } from '../support/command.ts'
import { assertInactive, introspector } from '../support/introspection.ts'
import type { RunningService } from '../support/service.ts'
import type { CitusCluster } from './citus-cluster.ts'

/** Maximum time until the services are affected by a fault or recover from it, in milliseconds. */
const boundMs = 30_000
/** Same as `Retry-After`, because the service refuses requests at once while a node is down. */
const retryAfterMs = 1000
const introspectionsAtOnce = 16

/**
 * Disturbs the cluster while clients create, change and rotate without a pause. Then compares all responses with the store: nothing
 * acknowledged is lost, no replaced token is current again, and all errors are 503 with `Retry-After`. Returns what `disturb` returns.
 */
export async function underLoad<Result>(
  cluster: CitusCluster,
  services: Services,
  prefix: string,
  disturb: (ledger: Ledger) => Promise<Result>,
): Promise<Result> {
  const caller = new Caller(services.origins, services.apiToken, new Ledger())
  const { ledger } = caller
  const load = new Load(caller, prefix, retryAfterMs)
  const disturbWhileServing = async () => {
    await acknowledges(ledger, 300)
    const result = await disturb(ledger)
    await acknowledges(ledger, ledger.acknowledged + 300)
    return result
  }
  const result = await load.during(disturbWhileServing).finally(() => assertLive(services))
  const violations = await verify(caller, cluster.query, prefix)
  await caller.close()
  assert.deepEqual(violations.slice(0, 10), [], `${violations.length} violations`)
  await assertReplacedTokensInactive(services, ledger)
  return result
}

/** Introspects each token that was replaced without a grace period. */
export async function assertReplacedTokensInactive(
  { running, origins }: Services,
  { requests }: Ledger,
): Promise<void> {
  const [service] = running as [RunningService]
  const introspect = introspector(
    origins[0] as string,
    await createApiToken(service, 'Testing', '--scopes', 'introspect'),
  )
  const replaced = requests.filter(({ outcome, graceSeconds }) => outcome === 'done' && graceSeconds === 0)
  assert.ok(replaced.length > 0)
  const rest = replaced.values()
  const introspectOnes = async () => {
    for (const { from } of rest) assertInactive(await introspect(from as string))
  }
  await Promise.all(Array.from({ length: introspectionsAtOnce }, introspectOnes))
}

/** Resolves when a request sent from now on meets the condition. */
export async function until(
  ledger: Ledger,
  event: string,
  condition: (request: RecordedRequest) => boolean,
): Promise<void> {
  const now = performance.now()
  let seen = ledger.requests.length
  const isMet = () => {
    const isNew = ledger.requests.slice(seen).some((request) => request.startedAt > now && condition(request))
    seen = ledger.requests.length
    return isNew
  }
  assert.ok(await ledger.until(isMet, boundMs), `not within ${boundMs} ms: ${event}`)
}

export const isRefused = ({ outcome }: RecordedRequest) => outcome === 'undone' || outcome === 'in doubt'
