import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { readConfig, settings, type Config } from '../config/settings.ts'
import type { Service } from '../runtime/service.ts'
import { serveMetrics } from '../observability/metrics/metrics-server.ts'
import { isFirstWorker, superviseWorkers, tellSupervisor, toldBySupervisor } from '../runtime/workers.ts'
import { errorMessageOf } from './exit-code.ts'
import { parseCount } from './options.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the service until SIGTERM or SIGINT.')
    .addOption(
      new Option('--workers <count>', 'processes that share the port, or auto: one for each core')
        .argParser(parseWorkers)
        .default(1),
    )
    .addHelpText('after', settingsHelp())
    .action(async ({ workers }: { workers: number }) => {
      const config = readConfig(process.env)
      if (cluster.isWorker) await serveAsWorker(config)
      else if (workers > 1) await serveByWorkers(config, workers)
      else await serveAlone(config)
    })
}

async function serveAlone(config: Config): Promise<void> {
  // Only now: no other command needs the HTTP server, and loading it takes most of the time that they take.
  const { serve } = await import('../runtime/service.ts')
  // From here on a signal stops the service in good order, even one that comes while it starts.
  const toldToStop = firstSignal(config.UGS_DRAIN_MS)
  const service = await serve(config)
  tellWhere(service)
  await service.stop(await toldToStop)
  // A collector of traces that does not answer would keep it for longer than it may take.
  process.exit()
}

async function serveByWorkers(config: Config, count: number): Promise<void> {
  const { createLogger } = await import('../observability/logger.ts')
  const toldToStop = firstSignal(config.UGS_DRAIN_MS)
  const metrics = await serveMetricsOfWorkers(config)
  try {
    process.exitCode = await superviseWorkers({
      count,
      logger: createLogger(config.LOG_LEVEL),
      onListening: (listening) => tellWhere({ ...listening, metricsUrl: metrics?.url }),
      onWorker: (worker) => metrics?.add(worker),
      toldToStop,
    })
  } finally {
    await metrics?.close()
  }
}

async function serveMetricsOfWorkers({ UGS_METRICS_HOST: host, UGS_METRICS_PORT: port }: Config) {
  if (port === undefined) return undefined
  const { WorkerMetrics } = await import('../observability/metrics/worker-metrics.ts')
  const metrics = new WorkerMetrics()
  const server = await serveMetrics({ host, port, read: () => metrics.text() })
  return { ...server, add: (worker: Worker) => metrics.add(worker) }
}

async function serveAsWorker(config: Config): Promise<void> {
  // A signal to all processes at once, as Ctrl-C and supervisors send it, is the supervising one's to pass on.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => undefined)
  const toldToStop = toldBySupervisor()
  try {
    const { serve } = await import('../runtime/service.ts')
    const service = await serve(config, { isSupervised: true, runsMaintenance: isFirstWorker() })
    if (service.readMetrics !== undefined) {
      const { respondToSupervisor } = await import('../observability/metrics/worker-metrics.ts')
      respondToSupervisor(service.readMetrics)
    }
    tellSupervisor(service)
    await service.stop(await toldToStop)
  } catch (error) {
    process.exitCode = errorMessageOf(error)
  }
  // It would not end by itself as long as it may be told anything.
  process.exit()
}

function tellWhere({ origin, notes, metricsUrl }: Omit<Service, 'stop'>): void {
  const lines = [
    `User Group Service listens on ${origin}`,
    ...(metricsUrl === undefined ? [] : [`Metrics are at ${metricsUrl}`]),
    ...(notes === '' ? [] : [notes]),
  ]
  console.log(lines.join('\n'))
}

function parseWorkers(text: string): number {
  return text === 'auto' ? availableParallelism() : parseWorkerCount(text)
}

function parseWorkerCount(text: string): number {
  const count = parseCount(text)
  if (count > 256) throw new InvalidArgumentError('It must be auto, or a whole number from 1 to 256.')
  return count
}

/** Resolves with how long to drain: SIGINT is a person at a terminal, whom no load balancer stands in front of. */
function firstSignal(drainMs: number): Promise<number> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      // A second signal then ends the process at once.
      process.off('SIGTERM', stop).off('SIGINT', stop)
      resolve(signal === 'SIGTERM' ? drainMs : 0)
    }
    process.on('SIGTERM', stop).on('SIGINT', stop)
  })
}

function settingsHelp(): string {
  const rows = Object.entries(settings).map(([name, { meaning, default: byDefault }]) => {
    const title = byDefault === undefined ? `${name} (unset)` : `${name} (${byDefault})`
    return `  ${title}\n      ${meaning}`
  })
  return `\nSettings, from the environment, with their defaults:\n\n${rows.join('\n')}\n`
}
