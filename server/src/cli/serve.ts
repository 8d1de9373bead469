import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'
import { isatty } from 'node:tty'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { readConfig, settings, type Config } from '../config/settings.ts'
import { findUnknownSettings } from '../config/unknown-settings.ts'
import { serviceAddress } from '../runtime/service-address.ts'
import type { Service } from '../runtime/service.ts'
import { serveMetrics } from '../observability/metrics/metrics-server.ts'
import {
  isFirstWorker,
  reportListening,
  stopRequestedBySupervisor,
  superviseWorkers,
} from '../runtime/workers.ts'
import { describeLocation } from '../store/location.ts'
import { reportError } from './exit-code.ts'
import { parseCount } from './options.ts'
import { startBanner, startLines } from './start-output.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the service until SIGTERM or SIGINT.')
    .addOption(
      new Option('--workers <count>', 'number of processes that share the port, or auto for one per core')
        .argParser(parseWorkers)
        .default(1),
    )
    .addHelpText('after', settingsHelp())
    .action(async ({ workers }: { workers: number }) => {
      const config = readConfig(process.env)
      if (cluster.isWorker) return serveAsWorker(config)
      await warnOfUnknownSettings(config)
      await (workers > 1 ? serveByWorkers(config, workers) : serveAlone(config))
    })
}

async function warnOfUnknownSettings({ LOG_LEVEL }: Config): Promise<void> {
  const unknown = findUnknownSettings(process.env)
  if (unknown.length === 0) return
  const { createLogger } = await import('../observability/logger.ts')
  const logger = createLogger(LOG_LEVEL)
  for (const { name, nearest } of unknown)
    logger.warn(`${name} is not a setting and has no effect. Did you mean ${nearest}?`)
}

async function serveAlone(config: Config): Promise<void> {
  // Loaded on demand: loading the service takes longer than most other commands run.
  const { serve } = await import('../runtime/service.ts')
  // Handle signals before the start, so that a signal during the start also stops the service gracefully.
  const stopRequested = firstSignal(config.UGS_DRAIN_MS)
  const service = await serve(config)
  printStarted(config, service)
  await service.stop(await stopRequested)
  // Do not wait for a trace collector that does not respond.
  process.exit()
}

async function serveByWorkers(config: Config, count: number): Promise<void> {
  const { createLogger } = await import('../observability/logger.ts')
  const stopRequested = firstSignal(config.UGS_DRAIN_MS)
  const metrics = await serveWorkerMetrics(config)
  try {
    await serviceAddress(config)
    process.exitCode = await superviseWorkers({
      count,
      logger: createLogger(config.LOG_LEVEL),
      onListening: (listening) => printStarted(config, { ...listening, metricsUrl: metrics?.url }),
      onWorker: (worker) => metrics?.add(worker),
      stopRequested,
    })
  } finally {
    await metrics?.close()
  }
}

async function serveWorkerMetrics({ UGS_METRICS_HOST: host, UGS_METRICS_PORT: port }: Config) {
  if (port === undefined) return undefined
  const { WorkerMetrics } = await import('../observability/metrics/worker-metrics.ts')
  const metrics = new WorkerMetrics()
  const server = await serveMetrics({ host, port, read: () => metrics.text() })
  return { ...server, add: (worker: Worker) => metrics.add(worker) }
}

async function serveAsWorker(config: Config): Promise<void> {
  // Ctrl-C and process managers signal all processes. The supervisor passes the signal on.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => undefined)
  const stopRequested = stopRequestedBySupervisor()
  try {
    const { serve } = await import('../runtime/service.ts')
    const service = await serve(config, { isSupervised: true, runsMaintenance: isFirstWorker() })
    if (service.readMetrics !== undefined) {
      const { respondToSupervisor } = await import('../observability/metrics/worker-metrics.ts')
      respondToSupervisor(service.readMetrics)
    }
    reportListening(service)
    await service.stop(await stopRequested)
  } catch (error) {
    process.exitCode = reportError(error)
  }
  // The message channel to the supervisor would keep the process alive.
  process.exit()
}

function printStarted(config: Config, { origin, firstStart, metricsUrl }: Omit<Service, 'stop'>): void {
  const started = {
    origin,
    metricsUrl,
    firstStart,
    store: describeLocation(config.storeLocation),
    hasConsole: config.UGS_CONSOLE === 'on',
    publicUrl: config.UGS_PUBLIC_URL,
  }
  console.log(isatty(1) ? startBanner(started) : startLines(started, Date.now()))
}

function parseWorkers(text: string): number {
  return text === 'auto' ? availableParallelism() : parseWorkerCount(text)
}

function parseWorkerCount(text: string): number {
  const count = parseCount(text)
  if (count > 256) throw new InvalidArgumentError('It must be auto or a whole number from 1 to 256.')
  return count
}

/**
 * Resolves with the drain time at the first SIGTERM or SIGINT. SIGINT comes from a person at a terminal without a load
 * balancer, so its drain time is 0.
 */
function firstSignal(drainMs: number): Promise<number> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      // A second signal ends the process immediately.
      process.off('SIGTERM', stop).off('SIGINT', stop)
      resolve(signal === 'SIGTERM' ? drainMs : 0)
    }
    process.on('SIGTERM', stop).on('SIGINT', stop)
  })
}

function settingsHelp(): string {
  const rows = Object.entries(settings).map(([name, { description, default: byDefault }]) => {
    const title = byDefault === undefined ? `${name} (unset)` : `${name} (${byDefault})`
    return `  ${title}\n      ${description}`
  })
  return `\nEnvironment variables and their defaults:\n\n${rows.join('\n')}\n`
}
