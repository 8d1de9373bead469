import { setTimeout as sleep } from 'node:timers/promises'
import { lookup } from 'node:dns/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.ts'
import type { Config } from '../config/settings.ts'
import type { ApiToken } from '../domain/api-token/api-token.ts'
import { systemClock } from '../domain/util/clock.ts'
import { sessionIdleMs } from '../domain/session/console-sessions.ts'
import { Fault } from '../domain/fault.ts'
import type { Keyring } from '../domain/secret-key/keyring.ts'
import { RateLimiter, sharingIntervalMs } from '../domain/api-token/rate-limit.ts'
import { checkReadiness } from '../domain/readiness.ts'
import { countEncryptedTokens } from '../domain/secret-key/secret-key-management.ts'
import type { Store } from '../domain/store.ts'
import { deleteExpired } from '../domain/expiry.ts'
import { LastUsedTracker } from '../domain/api-token/last-used-tracker.ts'
import { restorableMs, type TokenlessUserGroup } from '../domain/user-group/user-group.ts'
import { prepareFirstCall } from './first-start.ts'
import { listeningUrl } from '../http/server/listening-url.ts'
import { createAccessLogger, createLogger } from '../observability/logger.ts'
import { serveMetrics } from '../observability/metrics/metrics-server.ts'
import type { Metrics, Snapshot } from '../observability/metrics/metrics.ts'
import { openConfiguredStore, userGroupServiceOf } from './configured-store.ts'
import { areSecretKeysExposed, openKeyring, SecretKeyError, watchSecretKeys } from '../config/secret-keys.ts'
import { version } from '../version.ts'

const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs

/** A running service. */
export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8080`. */
  readonly origin: string
  /** What to tell the person who started it; may hold API tokens, so that it belongs on no log. */
  readonly notes: string
  /**
   * Stops: `/readyz` fails, after `drainMs` nothing new is taken, what is under way is finished within
   * `UGS_CLOSE_TIMEOUT_MS`, and the store is closed.
   */
  stop(drainMs: number): Promise<void>
  /** Where it serves metrics, where it does. */
  readonly metricsUrl?: string | undefined
  /** Where anything is measured. */
  readonly readMetrics?: () => Promise<Snapshot>
}

/** What a process does besides answering calls. */
interface Role {
  /** Whoever supervises this process serves its metrics. */
  readonly isSupervised: boolean
  /** It does, now and then, what one process does for all that share the store. */
  readonly runsMaintenance: boolean
}

/**
 * Starts the service: configuration, store, application, listener; before all of it the metrics, which end last.
 * @throws MetricsServerError, StoreError, SecretKeyError, or the system's error where it cannot listen
 */
export async function serve(
  config: Config,
  { isSupervised, runsMaintenance }: Role = { isSupervised: false, runsMaintenance: true },
): Promise<Service> {
  const { UGS_METRICS_PORT: port, UGS_METRICS_HOST: host } = config
  if (port === undefined) return start(config, runsMaintenance)
  let service: StartedService | undefined
  const isReady = () => service?.isReady() ?? Promise.resolve(false)
  // As with traces: loaded where it is asked for.
  const { Metrics } = await import('../observability/metrics/metrics.ts')
  const metrics = new Metrics({ version, store: config.storeLocation.kind, isReady })
  const server = isSupervised ? undefined : await serveMetrics({ host, port, read: () => metrics.text() })
  const end = async () => {
    metrics.stop()
    await server?.close()
  }
  try {
    const started = (service = await start(config, runsMaintenance, metrics))
    return {
      ...started,
      metricsUrl: server?.url,
      readMetrics: () => metrics.snapshot(),
      stop: async (drainMs) => {
        try {
          await started.stop(drainMs)
        } finally {
          await end()
        }
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

interface StartedService extends Service {
  /** What `/readyz` tells. */
  readonly isReady: () => Promise<boolean>
}

async function start(config: Config, runsMaintenance: boolean, metrics?: Metrics): Promise<StartedService> {
  const logger = createLogger(config.LOG_LEVEL)
  const accessLog =
    config.UGS_ACCESS_LOG === undefined
      ? null
      : { ...createAccessLogger(logger), share: config.UGS_ACCESS_LOG }
  const traces =
    config.UGS_TRACES === 'on'
      ? // Loading OpenTelemetry takes time and memory, which most do without.
        (await import('../observability/traces.ts')).startTraces({
          version,
          storeKind: config.storeLocation.kind,
          onLoss: () => logger.warn('spans could not be sent: is the collector there?'),
        })
      : null
  const store = await openConfiguredStore(config, {
    observers: [metrics?.store, traces?.batches],
    watchPool: metrics?.store.watchPool,
  })
  const warn = (message: string) => (error: unknown) => logger.warn({ reason: reasonOf(error) }, message)
  const introspections = new LastUsedTracker<Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>>({
    clock: systemClock,
    idOf: ({ teamId }) => teamId,
    record: (uses) =>
      store.introspections.record(uses.map(({ of, usedAt }) => ({ ...of, introspectedAt: usedAt }))),
    onLoss: warn('the times of introspections could not be written'),
  })
  const lastUsedTracker = new LastUsedTracker<Pick<ApiToken, 'id'>>({
    clock: systemClock,
    idOf: ({ id }) => id,
    record: (uses) => store.apiTokens.recordUses(uses.map(({ of, usedAt }) => ({ id: of.id, usedAt }))),
    onLoss: warn('the times of uses of API tokens could not be written'),
  })
  const rateLimiter = new RateLimiter(config.UGS_RATE_LIMIT, systemClock)
  const warnOfLimits = warn('the use of API tokens could not be told to other processes')
  const shareLimits = () =>
    rateLimiter.share((usageReports) => store.apiTokens.reportUsage(usageReports)).catch(warnOfLimits)
  const writeUses = () => Promise.all([introspections.write(), lastUsedTracker.write()])
  let app: FastifyInstance | undefined
  const close = async () => {
    const deadline = performance.now() + config.UGS_CLOSE_TIMEOUT_MS
    try {
      await app?.close()
    } finally {
      await writeUses()
      await shareLimits()
      await store.close()
      await accessLog?.close()
      await traces?.close(Math.max(0, deadline - performance.now()))
    }
  }
  try {
    let draining = false
    const isDraining = () => draining
    const keyring = await openKeyring(config, store)
    const tellOfKeys = (message: string) => {
      logger.info({ sealing_key_id: keyring.sealingKeyId }, message)
      if (areSecretKeysExposed(config))
        logger.warn(
          { file: config.secretKeyFile },
          'others than its owner may read the file of secret keys, and open all tokens: run `chmod 600` on it',
        )
    }
    tellOfKeys('the secret keys were read')
    const listening = await buildApp({
      store,
      userGroups: userGroupServiceOf(config, store, keyring),
      introspections,
      lastUsedTracker,
      rateLimiter,
      clock: systemClock,
      logger,
      accessLog,
      tracer: traces?.calls ?? null,
      isDraining,
      limits: {
        maxBody: config.UGS_MAX_BODY_BYTES,
        maxHeader: config.UGS_MAX_HEADER_BYTES,
        headersTimeout: config.UGS_HEADERS_TIMEOUT_MS,
        requestTimeout: config.UGS_REQUEST_TIMEOUT_MS,
        keepAliveTimeout: config.UGS_KEEP_ALIVE_TIMEOUT_MS,
        apiTokenCache: config.UGS_API_TOKEN_CACHE_MS,
        responseCache: config.UGS_RESPONSE_CACHE_MB * 1024 * 1024,
      },
      version,
      consoleFolder: config.UGS_CONSOLE === 'on' ? findConsole() : null,
      requestObserver: metrics?.http ?? null,
    })
    app = listening
    // One address: for a name with several, Fastify makes more servers, and those lack what is set on the first.
    const { address: host } = await lookup(config.HOST)
    await listening.listen({ host, port: config.PORT, backlog: 4096 })
    const { server } = listening
    const origin = listeningUrl(server.address() as AddressInfo)
    const notes = await prepareFirstCall(config, store, origin)
    const housekeeping = runsMaintenance
      ? runMaintenance(store, warn('what has expired could not be removed'))
      : undefined
    const writing = setInterval(() => void writeUses(), minuteMs)
    const sharing = setInterval(() => void shareLimits(), sharingIntervalMs)
    const counting = countEncryptedTokensHourly(
      { store, keyring, metrics: runsMaintenance ? metrics : undefined },
      warn('the sealed tokens could not be counted'),
    )
    const stopWatching = watchSecretKeys(
      config,
      { store, keyring },
      {
        onChange: () => tellOfKeys('the secret keys were read anew'),
        onFailure: (error) =>
          logger.error(
            { reason: error instanceof SecretKeyError ? error.message : reasonOf(error) },
            'the secret keys were changed, and cannot be used; those before stay in use',
          ),
      },
    )
    return {
      origin,
      notes,
      isReady: () =>
        checkReadiness({ store, isDraining }).then(
          () => true,
          () => false,
        ),
      stop: async (drainMs) => {
        draining = true
        logger.info({ drain_ms: drainMs }, 'stopping')
        await sleep(drainMs)
        clearInterval(housekeeping)
        clearInterval(writing)
        clearInterval(sharing)
        counting.abort()
        stopWatching()
        // A connection whose answer is still under way closes right after it, and not when it has been idle for long.
        server.keepAliveTimeout = 1
        const deadline = setTimeout(() => server.closeAllConnections(), config.UGS_CLOSE_TIMEOUT_MS)
        await close()
        clearTimeout(deadline)
        logger.info('stopped')
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function reasonOf(error: unknown): string | undefined {
  return error instanceof Fault ? error.reason : undefined
}

/** The built files of the console. Without it, they need not be there. */
function findConsole(): string {
  return fileURLToPath(new URL('dist/', import.meta.resolve('@user-group-service/console/package.json')))
}

/** Removes what has expired, now and every hour. */
function runMaintenance(store: Store, onFailure: (error: unknown) => void): NodeJS.Timeout {
  const forget = () => {
    const now = systemClock.now()
    const expiry = { now, deletedBefore: now - restorableMs, usedBefore: now - sessionIdleMs }
    deleteExpired(store, expiry).catch(onFailure)
  }
  forget()
  return setInterval(forget, hourMs)
}

/** Tells the metrics, where there are any, now and every hour. It reads all that is sealed, some at a time. */
function countEncryptedTokensHourly(
  { store, keyring, metrics }: { store: Store; keyring: Keyring; metrics: Metrics | undefined },
  onFailure: (error: unknown) => void,
): AbortController {
  const over = new AbortController()
  const { signal } = over
  if (metrics === undefined) return over
  const none = () => keyring.keyIds.map((id) => [id, 0] as const)
  const count = async () => {
    try {
      metrics.setEncryptedTokens(new Map([...none(), ...(await countEncryptedTokens(store, signal))]))
    } catch (error) {
      if (!signal.aborted) onFailure(error)
    }
  }
  void count()
  const timer = setInterval(() => void count(), hourMs)
  signal.addEventListener('abort', () => clearInterval(timer))
  return over
}
