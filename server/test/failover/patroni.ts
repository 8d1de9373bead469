// Kills and pauses the leader of a Patroni cluster under load: `npm run test:patroni -- --rounds 5`. See docs/reliability.md.
// The exit code is 1 if anything was lost that the services did not notice.
import { parseArgs } from 'node:util'
import { Belongings } from './belongings.ts'
import { hasPatroni, PatroniCluster } from './patroni-cluster.ts'
import { runPatroniRound, type Fault, type PatroniResult } from './patroni-round.ts'
import { database, startServicesOn } from './services.ts'

const { values: options } = parseArgs({
  options: {
    faults: { type: 'string', default: 'crash,kill,freeze,takeover' },
    rounds: { type: 'string', default: '5' },
    /** Duration of a pause, in seconds. */
    frozen: { type: 'string', default: '45' },
    /** With three, the configuration of docs/postgresql.md but for the watchdog. */
    servers: { type: 'string', default: '2' },
    ttl: { type: 'string', default: '8' },
    loop: { type: 'string', default: '2' },
    retry: { type: 'string', default: '3' },
  },
})
const faults = options.faults.split(',') as Fault[]
const rounds = Number(options.rounds)

if (!hasPatroni()) {
  console.error('SKIPPED: the Patroni suite needs the Debian packages patroni and etcd-server')
  process.exit(process.env.CI === 'true' ? 1 : 0)
}

/** Ends the run if something hangs. */
const boundMs = 60_000 + faults.length * rounds * 180_000
setTimeout(() => {
  console.error(`not over within ${boundMs} ms`)
  process.exit(1)
}, boundMs).unref()

const servers = Number(options.servers)
const configuration = {
  ttl: Number(options.ttl),
  loop_wait: Number(options.loop),
  retry_timeout: Number(options.retry),
  synchronous_mode_strict: servers > 2,
  failsafe_mode: servers > 2,
}
for (let round = 1; round <= rounds; round++) {
  for (const fault of faults) await run(fault, round)
}

/** Runs a fault on a new cluster: after some faults, Patroni 3.0.2 can no longer update the name of the synchronous standby. */
async function run(fault: Fault, round: number): Promise<void> {
  const belongings = new Belongings()
  try {
    const cluster = await PatroniCluster.start(belongings, servers, configuration)
    await (await cluster.healthy()).query(`CREATE DATABASE ${database}`)
    const url = cluster.url(database)
    const services = await startServicesOn(belongings, [url, url])
    const frozenMs = Number(options.frozen) * 1000
    report(
      fault,
      round,
      await runPatroniRound(cluster, services, { fault, frozenMs, prefix: `${fault}-${round}-` }),
    )
  } finally {
    await belongings.end()
  }
}

function report(fault: Fault, round: number, result: PatroniResult): void {
  const { lost, revived, wrong, isRefused, electionMs, recoveryMs, outageMs } = result
  console.log(
    `${fault} ${round}: ${lost} lost, ${revived} revived, ${isRefused ? 'primary refused' : 'primary accepted'}; new primary after ${seconds(electionMs)}, services ${Math.round(recoveryMs)} ms later, longest outage ${seconds(outageMs)}`,
  )
  const unnoticed = isRefused ? [] : wrong
  for (const title of unnoticed.slice(0, 10)) console.log(`  ${title}`)
  if ((!isRefused && lost + revived > 0) || unnoticed.length > 0) process.exitCode = 1
  if (fault === 'takeover' && !isRefused) {
    console.log('  the services did not refuse the old leader')
    process.exitCode = 1
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
