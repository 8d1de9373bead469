import { Fault } from '../../domain/fault.ts'
import type { Store, StoreIntegrity } from '../../domain/store.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { describeServer, type PostgresServer } from '../location.ts'
import { StoreError } from '../store-error.ts'
import type { TableReader, TableWriter } from '../tables.ts'
import { coldPorts, searchPort } from '../cold/cold-ports.ts'
import { PostgresRunner } from './cold-runner.ts'
import { Distribution, refuseOnCitus } from './citus/distribution.ts'
import { Events } from './events.ts'
import {
  checkRights,
  checkServer,
  isBeingFilled,
  migrate,
  refuseNewer,
  type MigrationOptions,
} from './migrate.ts'
import { remediationFor, PostgresFailure } from './postgres-fault.ts'
import { acceptTimeline } from './primary-fence.ts'
import { PrimaryPool, type PoolState, type PrimaryPoolOptions } from './primary-pool.ts'
import { Retry } from './retry.ts'
import { SecretKeyRetirement } from './secret-key-retirement.ts'
import { ApiTokenLookup } from './api-token-lookup.ts'
import { PostgresTableAccess } from './table-access.ts'
import { Mappings } from './mappings.ts'
import { ScopedCoalescers } from './scoped-coalescer.ts'
import { UserGroupStatements } from './user-group-statements.ts'
import { UserGroupTokens } from './user-group-tokens.ts'
import { UserGroups } from './user-groups.ts'

export interface PostgresOptions extends PrimaryPoolOptions, MigrationOptions {
  /** Deadline of an operation, including retries, in milliseconds. */
  readonly deadlineMs: number
  readonly observer?: BatchObserver | undefined
  /** Receives, once, a function that reads the state of the pool. */
  readonly watchPool?: ((read: () => PoolState) => void) | undefined
}

/** Deadline of `ping`, in milliseconds. A load balancer needs a fast response. */
const pingDeadlineMs = 1000

/** A search takes some hundredths of a second of one connection. */
const searchLimits = { rows: 2000, ms: 50, runs: 256, indexedRows: Infinity }

/** @throws StoreError */
export async function openPostgresStore(server: PostgresServer, options: PostgresOptions): Promise<Store> {
  return openWith(server, options, async (primary) => {
    await refuseUnfinished(primary)
    await checkRights(primary, ['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
    options.watchPool?.(() => primary.poolState)
    return storeOver(primary, options)
  })
}

/** @throws StoreError */
export function openPostgresToRead(server: PostgresServer, options: PostgresOptions): Promise<TableReader> {
  return openWith(server, options, async (primary) => {
    await refuseNewer(primary)
    await refuseUnfinished(primary)
    await checkRights(primary, ['SELECT'])
    return new PostgresTableAccess(primary)
  })
}

/** @throws StoreError */
export function openPostgresToWrite(server: PostgresServer, options: PostgresOptions): Promise<TableWriter> {
  return openWith(server, options, async (primary) => {
    await refuseNewer(primary)
    return new PostgresTableAccess(primary)
  })
}

/** Makes all processes accept the current primary, although it may lack acknowledged changes. @throws StoreError */
export function acceptPostgresTimeline(server: PostgresServer, options: PostgresOptions): Promise<void> {
  return openWith(server, options, async (primary) => {
    await new Retry(primary, options.deadlineMs).change(acceptTimeline, [Date.now()])
    await primary.close()
  })
}

async function refuseUnfinished(primary: PrimaryPool): Promise<void> {
  if (await isBeingFilled(primary.query)) {
    throw new StoreError(
      'a copy into this database was not finished; run `ugs store copy` again to finish it',
    )
  }
}

async function openWith<T>(
  server: PostgresServer,
  options: PostgresOptions,
  open: (primary: PrimaryPool) => Promise<T>,
): Promise<T> {
  const primary = new PrimaryPool(server, options)
  try {
    await new Retry(primary, options.deadlineMs).run(() => checkServer(primary))
    await migrate(primary, options)
    return await open(primary)
  } catch (error) {
    await primary.close()
    throw storeErrorOf(server, error)
  }
}

function storeErrorOf(server: PostgresServer, error: unknown): unknown {
  const location = describeServer(server)
  if (error instanceof StoreError) return new StoreError(`${location}: ${error.message}`)
  const code =
    error instanceof PostgresFailure
      ? error.code
      : error instanceof Fault
        ? (error.reason ?? error.code)
        : undefined
  return code === undefined ? error : new StoreError(`${location}: ${remediationFor(code)} (${code})`)
}

/** PostgreSQL has checksums and tools of its own. */
const unchecked: StoreIntegrity = {
  damage: null,
  checkIfSmall: () => true,
  check: () => Promise.resolve(),
  suspect: () => undefined,
}

/** Interval of looking for a changed distribution, in milliseconds. */
const refreshMs = 30_000

/** Returns a store that uses these connections. */
export async function storeOver(
  primary: PrimaryPool,
  { deadlineMs, observer }: Pick<PostgresOptions, 'deadlineMs' | 'observer'>,
): Promise<Store> {
  const distribution = new Distribution(primary, deadlineMs)
  await distribution.detect()
  const retry = new Retry(primary, deadlineMs, distribution)
  const [locatorKey] = await primary.query<{ key: Uint8Array }>('SELECT key FROM locator_key')
  if (locatorKey === undefined) throw new StoreError('the table locator_key is empty; restore a backup')
  const runner = new PostgresRunner(primary, retry, distribution)
  const cold = coldPorts(runner)
  const coalescers = new ScopedCoalescers(primary.poolSize, distribution, observer)
  const mappings = new Mappings(primary, coalescers)
  const statements = new UserGroupStatements(primary, coalescers, mappings)
  const tokens = new UserGroupTokens(statements)
  const events = new Events(retry, distribution)
  await events.removeForeign()
  const stopFence = primary.fence?.start(primary, () => retry.succeeded)
  // A failure leaves it to the next time.
  const refreshing = setInterval(() => void distribution.detect().catch(() => undefined), refreshMs).unref()
  return {
    ...cold,
    userGroups: new UserGroups(primary, retry, { statements, mappings, tokens, distribution }),
    userGroupSearch: searchPort(runner, searchLimits),
    dataSources: {
      ...cold.dataSources,
      resolveEntries: (scope, entries) =>
        retry.run(async () => (await mappings.resolveEntries(scope, entries)).entries),
    },
    apiTokens: { ...cold.apiTokens, find: new ApiTokenLookup(primary, retry, observer).find },
    secretKeys: { ...cold.secretKeys, retire: new SecretKeyRetirement(primary, retry, distribution).retire },
    events,
    webhookEndpoints: refusedOnCitus(distribution, cold.webhookEndpoints),
    webhookDeliveries: {
      ...refusedOnCitus(distribution, cold.webhookDeliveries, ['list', 'redeliver']),
      claim: async (claim) => (distribution.isDistributed ? null : cold.webhookDeliveries.claim(claim)),
    },
    locatorKey: locatorKey.key,
    integrity: unchecked,
    space: async () => {
      const [row] = await retry.query<{ size: number }>('SELECT pg_database_size(current_database()) AS size')
      return { size: row?.size ?? 0, log: null, free: null }
    },
    // The server does.
    shrinkLog: () => Promise.resolve(),
    ping: () =>
      new Retry(primary, pingDeadlineMs).run(async () => {
        await primary.query('SELECT 1 FROM workspace LIMIT 1')
      }),
    close: async () => {
      clearInterval(refreshing)
      await retry.idle()
      await stopFence?.()
      await primary.close()
    },
  }
}

/** Makes methods of a port refuse their work on Citus. */
function refusedOnCitus<Port extends object>(
  distribution: Distribution,
  port: Port,
  names: readonly string[] = Object.keys(port),
): Port {
  const methods = port as Record<string, (...args: unknown[]) => Promise<unknown>>
  const refusing =
    (name: string) =>
    async (...args: unknown[]) => {
      refuseOnCitus(distribution, 'Webhooks need')
      return methods[name]?.(...args)
    }
  return { ...port, ...Object.fromEntries(names.map((name) => [name, refusing(name)])) }
}
