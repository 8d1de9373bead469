import type { Logger } from 'pino'
import type { Config } from '../config/settings.ts'
import { areSecretKeysExposed, SecretKeyError, watchSecretKeys } from '../config/secret-keys.ts'
import { sharingIntervalMs } from '../domain/api-token/rate-limiter.ts'
import { deleteExpired } from '../domain/expiry.ts'
import type { Keyring } from '../domain/secret-key/keyring.ts'
import { countEncryptedTokens } from '../domain/reencryption/reencryption.ts'
import { sessionIdleMs } from '../domain/console-session/console-sessions.ts'
import type { Store } from '../domain/store.ts'
import { dayOf, monthOf, monthsBefore } from '../domain/usage/calendar.ts'
import { restorableMs } from '../domain/user-group/user-group.ts'
import { systemClock } from '../domain/util/clock.ts'
import type { Metrics } from '../observability/metrics/metrics.ts'
import { collectWhenIdle } from './idle-collection.ts'
import type { JobRunner } from '../domain/job/job-runner.ts'
import { startJobs } from './jobs.ts'
import { mebibyte, SpaceWarnings } from './space-warnings.ts'
import type { UsageRecording } from './usage-recording.ts'
import { reasonOf, warningsOf } from './warnings.ts'
import { startWebhooks } from './webhooks.ts'

const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Interval of looking for a large write-ahead log, in milliseconds. */
const shrinkingMs = 10_000

/** Interval of updates of the search index, in milliseconds. */
const indexingMs = 10_000

export interface BackgroundJobsDependencies {
  readonly config: Config
  readonly store: Store
  readonly keyring: Keyring
  readonly usage: UsageRecording
  readonly jobRunner: JobRunner
  readonly metrics: Metrics | undefined
  readonly logger: Logger
  /** True if this process runs the maintenance for all processes of the store. */
  readonly runsMaintenance: boolean
  /** True if the store was checked before the start. */
  readonly isChecked: boolean
}

/** Starts everything that runs periodically, and the delivery of webhooks. Returns a function that stops it. */
export function startBackgroundJobs(dependencies: BackgroundJobsDependencies): () => Promise<void> {
  const { config, store, keyring, usage, metrics, logger, runsMaintenance } = dependencies
  const warn = warningsOf(logger)
  const writing = setInterval(() => void usage.writeLastUses(), minuteMs)
  const sharing = setInterval(() => void usage.shareRateLimits(), sharingIntervalMs)
  const stops: (() => unknown)[] = [
    () => [writing, sharing].forEach((timer) => clearInterval(timer)),
    collectWhenIdle(),
    watchSecretKeys(
      config,
      { store, keyring },
      {
        onChange: () => logSecretKeys(config, keyring, logger, 'the secret keys were read again'),
        onFailure: (error) =>
          logger.error(
            { reason: error instanceof SecretKeyError ? error.message : reasonOf(error) },
            'the secret keys have changed and cannot be used; the previous ones stay in use',
          ),
      },
    ),
  ]
  if (runsMaintenance) {
    stops.push(startJobs(dependencies.jobRunner, warn('Jobs could not go on')))
    stops.push(startWebhooks({ config, store, keyring, logger, metrics: metrics?.webhooks }))
    // The disk of PostgreSQL is out of reach, so that only the metrics need the size.
    if (metrics !== undefined || config.storeLocation.kind === 'sqlite') stops.push(watchSpace(dependencies))
    if (config.storeLocation.kind === 'sqlite') {
      stops.push(watchIntegrity(dependencies))
      stops.push(
        runEvery(shrinkingMs, () => store.shrinkLog(), warn('The write-ahead log could not be shrunk')),
      )
    }
    stops.push(
      runEvery(
        indexingMs,
        () => store.userGroupSearch.updateIndex(),
        warn('The search index could not be updated'),
      ),
      runEvery(
        hourMs,
        () => store.userGroupSearch.eraseFromIndex(),
        warn('Removed names could not be erased from the search index'),
      ),
      runEvery(hourMs, () => deleteAllExpired(store, config), warn('Expired rows could not be deleted')),
    )
    if (metrics !== undefined)
      stops.push(
        runEvery(
          hourMs,
          async (signal) => {
            const counts = await countEncryptedTokens(store, signal)
            metrics.setEncryptedTokens(new Map([...keyring.keyIds.map((id) => [id, 0] as const), ...counts]))
          },
          warn('Encrypted tokens could not be counted'),
        ),
      )
  }
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** Logs which secret key encrypts, and warns if other users can read it. */
export function logSecretKeys(config: Config, keyring: Keyring, logger: Logger, message: string): void {
  logger.info({ sealing_key_id: keyring.sealingKeyId }, message)
  if (areSecretKeysExposed(config))
    logger.warn(
      { file: config.secretKeyFile },
      'other users can read the file of secret keys and decrypt all tokens: run `chmod 600` on it and, if it belongs to another user, `chown`',
    )
}

/** Reads the size of the store and the free space of its disk every minute. */
function watchSpace({ config, store, metrics, logger }: BackgroundJobsDependencies): () => void {
  const warningBytes = config.UGS_DISK_WARNING_MB * mebibyte
  const warnings = new SpaceWarnings(warningBytes, logger, systemClock)
  return runEvery(
    minuteMs,
    async () => {
      const space = await store.space()
      metrics?.space.set(space, warningBytes)
      warnings.check(space)
    },
    warningsOf(logger)('The size of the store could not be read'),
  )
}

/** A check of the whole store takes at most this share of a core. */
const checkShare = 0.001

/** Checks the whole store every hour, or more rarely if that would take too much of a core. */
function watchIntegrity({ store, logger, isChecked }: BackgroundJobsDependencies): () => void {
  const onFailure = warningsOf(logger)('The store could not be checked for damage')
  let timer: NodeJS.Timeout
  const wait = (durationMs: number) => {
    timer = setTimeout(check, durationMs)
  }
  const check = () => {
    const startedAt = systemClock.monotonic()
    void store.integrity
      .check()
      .catch(onFailure)
      .then(() => wait(Math.max(hourMs, (systemClock.monotonic() - startedAt) / checkShare)))
  }
  wait(isChecked ? hourMs : 0)
  return () => clearTimeout(timer)
}

/** Runs a job now and at each interval. Returns a function that stops it. */
function runEvery(
  intervalMs: number,
  job: (signal: AbortSignal) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const run = () => {
    job(signal).catch((error: unknown) => {
      if (!signal.aborted) onFailure(error)
    })
  }
  run()
  const timer = setInterval(run, intervalMs)
  return () => {
    clearInterval(timer)
    controller.abort()
  }
}

function deleteAllExpired(store: Store, config: Config): Promise<number> {
  const now = systemClock.now()
  return deleteExpired(store, {
    now,
    deletedBefore: now - restorableMs,
    usedBefore: now - sessionIdleMs,
    changedBefore: now - config.UGS_EVENT_RETENTION * dayMs,
    usageBefore: monthsBefore(monthOf(dayOf(now)), config.UGS_USAGE_RETENTION),
  })
}
