// Restarts two replicas behind a proxy one after the other under load, and counts lost requests. See docs/deployment.md. The exit
// code is 1 if any request was lost.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgresBroker } from '../../../../scripts/postgres-broker.js'
import { Belongings } from '../../failover/belongings.ts'
import { poll } from '../../failover/poll.ts'
import { createApiToken } from '../../support/command.ts'
import { freshDatabase } from '../../support/database.ts'
import { sendRequest } from '../../support/http.ts'
import { freePort } from '../../support/port.ts'
import { startNewProcess as startService, type RunningService } from '../../support/service.ts'
import { Load, type Sample } from './load.ts'
import { proxies, startProxy, type ProxyName } from './proxy.ts'

const clients = { busy: 16, idle: 8 }
/**
 * Pause before the first restart and after each one, so that the proxy notices the replica: longer than nginx's `fail_timeout` and
 * than HAProxy's `inter` times `rise`. In milliseconds.
 */
const settleMs = 4000
const readyMs = 15_000
const askPauseMs = 20
/** Ends the run if something hangs. */
const boundMs = 10 * 60_000

interface Restart {
  readonly replica: string
  readonly beganAt: number
  /** Time from the signal to the end of the process, and from the restart to `/readyz`. */
  readonly stopMs: number
  readonly startMs: number
  readonly exitCode: number | null
  endedAt: number
}

const { values: options } = parseArgs({
  options: {
    proxy: { type: 'string', multiple: true, default: [...proxies] },
    rounds: { type: 'string', default: '5' },
    signal: { type: 'string', default: 'SIGTERM' },
    'drain-ms': { type: 'string', default: '1000' },
  },
})

setTimeout(() => {
  console.error(`not over within ${boundMs} ms`)
  process.exit(1)
}, boundMs).unref()

const belongings = new Belongings()
const broker = await startPostgresBroker()
process.env.TEST_POSTGRES_BROKER = broker.url
const cleanups: (() => void | Promise<void>)[] = []
try {
  for (const name of options.proxy) {
    if (!(await isLossless(name as ProxyName))) process.exitCode = 1
  }
} finally {
  await belongings.end()
  for (const done of cleanups) await done()
  await broker.stop()
}

async function isLossless(name: ProxyName): Promise<boolean> {
  const environment = {
    DATABASE_URL: await freshDatabase({ after: (done) => cleanups.unshift(done) }),
    UGS_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    UGS_DATA_DIR: belongings.folder(),
    UGS_DRAIN_MS: options['drain-ms'],
  }
  const start = async (port: number) => {
    const service = await startService(
      // `belongings` ends it.
      { after: () => undefined },
      { ...environment, PORT: String(port) },
    )
    belongings.process(service.pid, 'SIGKILL')
    return service
  }
  const ports = [await freePort(), await freePort()] as const
  const replicas = [await start(ports[0]), await start(ports[1])]
  const { origin, version } = await startProxy(belongings, name, ports)
  const load = new Load(origin, await createApiToken(replicas[0] as RunningService, 'Testing'), clients)
  await sleep(settleMs)

  const restarts: Restart[] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [i, port] of ports.entries()) {
      const old = replicas[i] as RunningService
      const beganAt = performance.now()
      const stopping = old.stop(options.signal as NodeJS.Signals)
      if (name === 'nginx') await askUntil(stopping, origin)
      const exitCode = await stopping
      const stopMs = performance.now() - beganAt
      const service = await start(port)
      replicas[i] = service
      await poll('/readyz says 200', readyMs, async () => {
        const { status } = await sendRequest(service.origin, { path: '/readyz' })
        return status === 200 || undefined
      })
      const startMs = performance.now() - beganAt - stopMs
      await sleep(settleMs)
      restarts.push({
        replica: 'ab'[i] ?? '',
        beganAt,
        stopMs,
        startMs,
        exitCode,
        endedAt: performance.now(),
      })
    }
  }
  await load.stop()
  await Promise.all(replicas.map((replica) => replica.stop()))
  return report(`${name} ${version}`, load.samples, restarts)
}

/** Sends requests, because nginx notices a missing replica only when it forwards one. */
async function askUntil(stopping: Promise<unknown>, origin: string): Promise<void> {
  const over = new AbortController()
  void stopping.then(() => over.abort())
  while (!over.signal.aborted) {
    await sendRequest(origin, { path: '/readyz' })
    await sleep(askPauseMs)
  }
}

function report(title: string, samples: readonly Sample[], restarts: readonly Restart[]): boolean {
  const lost = samples.filter(({ failure }) => failure !== undefined)
  const unclean = restarts.filter(({ exitCode }) => exitCode !== 0)
  console.log(`\n${title}: ${restarts.length} restarts, ${samples.length} requests, ${lost.length} lost`)
  console.table(
    restarts.map(({ replica, beganAt, stopMs, startMs, endedAt, exitCode }) => {
      const during = samples.filter(({ sentAt }) => sentAt >= beganAt && sentAt < endedAt)
      return {
        replica,
        'stop, ms': Math.round(stopMs),
        'start, ms': Math.round(startMs),
        'exit code': exitCode,
        requests: during.length,
        lost: during.filter(({ failure }) => failure !== undefined).length,
        ...latencies(during),
      }
    }),
  )
  console.table(
    Object.fromEntries(
      (['create', 'read', 'update', 'rotate'] as const).map((operation) => {
        const those = samples.filter((sample) => sample.operation === operation)
        return [
          operation,
          {
            requests: those.length,
            lost: those.filter(({ failure }) => failure).length,
            ...latencies(those),
          },
        ]
      }),
    ),
  )
  for (const { operation, failure } of lost.slice(0, 10)) console.log(`lost: ${operation}: ${failure}`)
  return lost.length === 0 && unclean.length === 0
}

function latencies(samples: readonly Sample[]): Record<string, number> {
  const sorted = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  const at = (share: number) => Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? NaN) * 10) / 10
  return { 'p50, ms': at(0.5), 'p99, ms': at(0.99), 'max, ms': at(1) }
}
