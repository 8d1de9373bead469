import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp, type AppDependencies } from '../app.ts'
import { checkProvidedKeys, openKeyring } from '../config/secret-keys.ts'
import type { Config } from '../config/settings.ts'
import { EventFeed } from '../domain/event/event-feed.ts'
import { checkReadiness } from '../domain/readiness.ts'
import { fairStore } from '../domain/fair-store.ts'
import type { Keyring } from '../domain/secret-key/keyring.ts'
import type { Store } from '../domain/store.ts'
import { systemClock } from '../domain/util/clock.ts'
import { FairQueue } from '../domain/util/fair-queue.ts'
import { RepeatLimiter } from '../domain/util/repeat-limiter.ts'
import type { RequestObserver } from '../http/server/request-observer.ts'
import type { AdminServices } from '../http/admin/operation.ts'
import { adminServicesOf } from '../http/admin/services.ts'
import { AuthenticationThrottle } from '../http/authentication-throttle.ts'
import { listeningUrl } from '../http/server/listening.ts'
import { AccessLog } from '../observability/access-log.ts'
import { createLogger } from '../observability/logger.ts'
import { serveMetrics } from '../observability/metrics/metrics-server.ts'
import type { Metrics, Snapshot } from '../observability/metrics/metrics.ts'
import { slowStatementLog } from '../observability/slow-statement-log.ts'
import { describeLocation } from '../store/location.ts'
import { version } from '../version.ts'
import { logSecretKeys, startBackgroundJobs } from './background-jobs.ts'
import {
  openConfiguredStore,
  userGroupServiceOf,
  viewerSessionsOf,
  webhookManagementOf,
} from './configured-store.ts'
import { providerOf } from './identity-provider.ts'
import { findConsole } from './console-files.ts'
import { followLogSettings } from './log-settings.ts'
import { applyConfigurationFiles, readConfigurationFiles } from './configuration-at-start.ts'
import { prepareFirstStart, type FirstStart } from './first-start.ts'
import { refuseAddress, serviceAddress } from './service-address.ts'
import { UsageRecording } from './usage-recording.ts'
import { warningsOf } from './warnings.ts'

/** A running service. */
export interface Service {
  /** URL of the service, for example `http://127.0.0.1:8080`. */
  readonly origin: string
  readonly firstStart: FirstStart
  /**
   * Stops the service: `/readyz` fails, after `drainMs` the service stops listening, requests in flight have
   * `UGS_CLOSE_TIMEOUT_MS` to complete, and the store closes.
   */
  stop(drainMs: number): Promise<void>
  /** URL of the metrics, if this process serves them. */
  readonly metricsUrl?: string | undefined
  /** Set if this process has metrics. */
  readonly readMetrics?: () => Promise<Snapshot>
}

/** Tasks of a process besides serving requests. */
interface Role {
  /** True if a supervisor serves the metrics of this process. */
  readonly isSupervised: boolean
  /** True if this process runs the maintenance for all processes of the store. */
  readonly runsMaintenance: boolean
}

/**
 * Starts the service. Metrics start first and stop last, so that they show starts and stops.
 * @throws OperatorError
 */
export async function serve(
  config: Config,
  role: Role = { isSupervised: false, runsMaintenance: true },
): Promise<Service> {
  const { UGS_METRICS_PORT: port, UGS_METRICS_HOST: host } = config
  if (port === undefined) return start(config, role)
  let service: StartedService | undefined
  const isReady = () => service?.isReady() ?? Promise.resolve(false)
  // Loading prom-client takes time and memory.
  const { Metrics } = await import('../observability/metrics/metrics.ts')
  const metrics = new Metrics({ version, store: config.storeLocation.kind, isReady })
  const server = role.isSupervised
    ? undefined
    : await serveMetrics({ host, port, read: () => metrics.text() })
  const end = async () => {
    metrics.stop()
    await server?.close()
  }
  try {
    const started = (service = await start(config, role, metrics))
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

/** Slow reads take at most half of the connections of PostgreSQL. SQLite runs those of one workspace one after another. */
function servicesOf(
  config: Config,
  store: Store,
  keyring: Keyring,
): Pick<AppDependencies, 'managementStore' | 'userGroups' | 'viewerSessions' | 'webhooks'> {
  const isSqlite = config.storeLocation.kind === 'sqlite'
  const atOnce = isSqlite ? 2 : Math.floor(config.UGS_POSTGRES_POOL_SIZE / 2)
  const managementStore = fairStore(store, new FairQueue(atOnce, config.UGS_POSTGRES_DEADLINE_MS))
  return {
    managementStore,
    userGroups: userGroupServiceOf(config, store, keyring),
    viewerSessions: viewerSessionsOf(config, store, keyring),
    webhooks: webhookManagementOf(config, managementStore, keyring),
  }
}

/**
 * Returns the services of management, for what this process does without a request. Jobs are searched one after the other, so that none
 * waits for the management requests of its workspace or of another one's.
 */
function managementOf(
  store: Store,
  services: Omit<ReturnType<typeof servicesOf>, 'managementStore'>,
  { marks }: UsageRecording,
): AdminServices {
  return adminServicesOf({ store, marks, ...services, clock: systemClock, revokedIds: new Set() })
}

interface StartedService extends Service {
  readonly isReady: () => Promise<boolean>
}

async function start(config: Config, role: Role, metrics?: Metrics): Promise<StartedService> {
  const { host, logs, configurationFiles, ...published } = await prepareStart(config, role, metrics)
  const { logger, observers, traces } = logs
  const store = await openObservedStore(config, logs, metrics)
  const usage = usageRecordingOf(config, store, logger)
  const feed = new EventFeed({ store, clock: systemClock })
  const throttle = throttleOf(config, logger)
  metrics?.watch(feed, throttle, store.integrity)
  let app: FastifyInstance | undefined
  const close = () => closeAll({ app, usage, store, logs }, config.UGS_CLOSE_TIMEOUT_MS)
  try {
    const isChecked = store.integrity.damage !== null || store.integrity.checkIfSmall()
    let draining = false
    const isDraining = () => draining
    const keyring = await openKeyring(config, store)
    logSecretKeys(config, keyring, logger, 'the secret keys were read')
    const services = servicesOf(config, store, keyring)
    app = await buildApp({
      store,
      feed,
      throttle,
      logger,
      observers,
      isDraining,
      version,
      ...recordersOf(usage),
      ...services,
      clock: systemClock,
      tracer: traces?.requests ?? null,
      limits: limitsOf(config),
      ...published,
    })
    const { jobRunner, configuration } = managementOf(store, services, usage)
    await applyConfigurationFiles(configurationFiles, { store, configuration, logger })
    const origin = await listen(app, host, config.PORT)
    const firstStart = await prepareFirstStart(config, store, config.UGS_PUBLIC_URL ?? origin)
    const jobs = { config, store, keyring, usage, metrics, logger, isChecked, ...role }
    const stopJobs = startBackgroundJobs({ ...jobs, jobRunner })
    const { server } = app
    const stop = async (drainMs: number) => {
      draining = true
      // Renderers connect to another process at once.
      feed.close()
      logger.info({ drain_ms: drainMs }, 'stopping')
      await sleep(drainMs)
      const jobsStopped = stopJobs()
      // Connections close after their current response, instead of waiting for another request.
      server.keepAliveTimeout = 1
      const deadline = setTimeout(() => server.closeAllConnections(), config.UGS_CLOSE_TIMEOUT_MS)
      await jobsStopped
      await close()
      clearTimeout(deadline)
      logger.info('stopped')
    }
    const isReady = () => checkReadiness({ store, isDraining }).then(yes, no)
    return { origin, firstStart, isReady, stop }
  } catch (error) {
    await close()
    throw error
  }
}

async function openObservedStore(config: Config, logs: Logs, metrics: Metrics | undefined): Promise<Store> {
  const { logger, limiter, traces } = logs
  const logSlowStatement = slowStatementLog(logger, limiter)
  const store = await openConfiguredStore(config, {
    observers: [metrics?.store, traces?.batches],
    onSlowStatement: (statement, durationMs) => {
      metrics?.store.countSlowStatement()
      logSlowStatement(statement, durationMs)
    },
    watchPool: metrics?.store.watchPool,
    onPrimaryRefused: (isRefused) => logPrimary(logger, isRefused),
    onDamage: (reason) => logger.error({ reason }, 'the store is damaged and refuses changes'),
  })
  logger.info({ store: describeLocation(config.storeLocation) }, 'the store was opened')
  return store
}

function logPrimary(logger: Logger, isRefused: boolean): void {
  if (!isRefused) logger.warn('the primary of PostgreSQL was accepted again')
  else
    logger.error(
      { reason: 'PRIMARY_BEHIND' },
      'the primary of PostgreSQL was refused, because it lacks changes that this process saw acknowledged: make the previous primary the primary again, or accept the loss with `ugs accept-timeline`',
    )
}

type Logs = Awaited<ReturnType<typeof openLogs>>

interface Closable {
  readonly app: FastifyInstance | undefined
  readonly usage: UsageRecording
  readonly store: Store
  readonly logs: Logs
}

async function closeAll({ app, usage, store, logs }: Closable, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  try {
    await app?.close()
  } finally {
    await usage.writeLastUses()
    await usage.shareRateLimits()
    await store.close()
    await logs.close(Math.max(0, deadline - performance.now()))
  }
}

const yes = () => true
const no = () => false

async function openLogs(config: Config, metrics: Metrics | undefined) {
  const limiter = new RepeatLimiter()
  const logger = createLogger(config.LOG_LEVEL, { limiter })
  const observers: RequestObserver[] = metrics === undefined ? [] : [metrics.http]
  const accessLog = new AccessLog(logger, observers)
  const stopFollowing = followLogSettings(config, logger, accessLog)
  const traces = await openTraces(config, logger)
  const close = async (timeoutMs: number) => {
    stopFollowing()
    limiter.close()
    await accessLog.close()
    await traces?.close(timeoutMs)
  }
  return { logger, limiter, observers, traces, close }
}

async function openTraces(config: Config, logger: Logger) {
  if (config.UGS_TRACES === 'off') return null
  // Loading OpenTelemetry takes time and memory.
  const { startTraces } = await import('../observability/traces.ts')
  const onLoss = () => logger.warn('spans could not be sent: is the collector running?')
  return startTraces({ version, storeKind: config.storeLocation.kind, onLoss })
}

function usageRecordingOf(config: Config, store: Store, logger: Logger): UsageRecording {
  return new UsageRecording({
    store,
    clock: systemClock,
    warn: warningsOf(logger),
    usageMode: config.UGS_USAGE,
    rateLimit: config.UGS_RATE_LIMIT,
  })
}

/** Returns what requests record. */
function recordersOf(usage: UsageRecording) {
  const { introspections, marks, usageMode, lastUsedTracker, rateLimiter } = usage
  return { introspections, marks, usageMode, lastUsedTracker, rateLimiter }
}

function throttleOf(config: Config, logger: Logger): AuthenticationThrottle {
  return new AuthenticationThrottle({
    perMinute: config.UGS_AUTH_FAILURES_PER_MINUTE,
    trustedProxies: config.UGS_TRUSTED_PROXIES,
    clock: systemClock,
    logger,
  })
}

function limitsOf(config: Config): AppDependencies['limits'] {
  return {
    maxBody: config.UGS_MAX_BODY_BYTES,
    maxHeader: config.UGS_MAX_HEADER_BYTES,
    headersTimeout: config.UGS_HEADERS_TIMEOUT_MS,
    requestTimeout: config.UGS_REQUEST_TIMEOUT_MS,
    keepAliveTimeout: config.UGS_KEEP_ALIVE_TIMEOUT_MS,
    apiTokenCache: config.UGS_API_TOKEN_CACHE_MS,
    eventConnections: config.UGS_MAX_EVENT_CONNECTIONS,
    responseCache: config.UGS_RESPONSE_CACHE_MB * 1024 * 1024,
  }
}

/**
 * Checks settings before the store is opened, so that a wrong one leaves no new store, and opens the logs.
 * @throws OperatorError
 */
async function prepareStart(config: Config, { isSupervised }: Role, metrics: Metrics | undefined) {
  checkProvidedKeys(config)
  const configurationFiles = await readConfigurationFiles(config)
  // The workers share the port, which the supervisor has checked.
  const host = await serviceAddress(isSupervised ? { ...config, PORT: 0 } : config)
  const publicUrl = config.UGS_PUBLIC_URL ?? null
  const forwardAuth = {
    header: config.UGS_FORWARD_AUTH_HEADER,
    query: config.UGS_FORWARD_AUTH_QUERY,
    cookie: config.UGS_FORWARD_AUTH_COOKIE,
  }
  const hasConsole = config.UGS_CONSOLE === 'on'
  const pages = { consoleFolder: findConsole(), hasConsole }
  const people = {
    provider: hasConsole ? providerOf(config) : null,
    allowsTokenSignIn: config.UGS_CONSOLE_TOKEN_SIGN_IN === 'on',
  }
  const logs = await openLogs(config, metrics)
  return { host, configurationFiles, ...pages, publicUrl, forwardAuth, people, logs }
}

/** Listens and returns the service's URL. For a host name with several addresses, Fastify would create servers without the pipeline. */
async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port, backlog: 4096 }).catch(refuseAddress)
  return listeningUrl(app.server.address() as AddressInfo)
}
