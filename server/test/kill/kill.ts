// Kills services and PostgreSQL under load with SIGKILL, and compares the store with every response:
// `npm run test:kill -- --store sqlite --rounds 50`. See docs/reliability.md. The exit code is 1 if anything was lost.
import { parseArgs } from 'node:util'
import { Belongings } from '../failover/belongings.ts'
import { runKillRound, type KillResult } from './round.ts'
import { KillableServices } from './services.ts'
import { ownPostgresStore, sqliteStore } from './stores.ts'

/** Ends the run if something hangs. */
const boundMsOfRound = 60_000

const { values: options } = parseArgs({
  options: { store: { type: 'string', default: 'sqlite' }, rounds: { type: 'string', default: '50' } },
})
const rounds = Number(options.rounds)
if (!['sqlite', 'postgres'].includes(options.store) || !Number.isInteger(rounds) || rounds < 1) {
  console.error('use: npm run test:kill -- [--store sqlite|postgres] [--rounds NUMBER]')
  process.exit(2)
}

setTimeout(
  () => {
    console.error(`not over within ${boundMsOfRound} ms a round`)
    process.exit(1)
  },
  (rounds + 1) * boundMsOfRound,
).unref()

const belongings = new Belongings()
const results: KillResult[] = []
try {
  const store =
    options.store === 'sqlite' ? sqliteStore(belongings.folder()) : await ownPostgresStore(belongings)
  const services = await KillableServices.start(
    { keep: (pid) => belongings.process(pid, 'SIGKILL') },
    { databaseUrl: store.databaseUrl, dataFolder: belongings.folder(), count: 2 },
  )
  for (let round = 0; round < rounds; round++) {
    const result = await runKillRound(services, store, round)
    results.push(result)
    const { victim, requests, changes, inDoubt, refused, resets, violations, faults } = result
    console.log(
      `round ${round + 1}: kill -9 of ${victim}; ${requests} requests, ${changes} changes acknowledged, ${inDoubt} in doubt, ${refused} × 503, ${resets} resets of event feeds; ${violations.length} lost or wrong, ${faults.length} faults of the files`,
    )
    for (const title of [...violations, ...faults].slice(0, 10)) console.log(`  ${title}`)
  }
} finally {
  await belongings.end()
}

const total = (of: (result: KillResult) => number) => results.reduce((sum, result) => sum + of(result), 0)
const wrong = total(({ violations, faults }) => violations.length + faults.length)
console.log(
  `${options.store}: ${rounds} kills, ${total(({ requests }) => requests)} requests, ${total(({ changes }) => changes)} changes acknowledged, ${total(({ inDoubt }) => inDoubt)} in doubt; lost or wrong: ${wrong}`,
)
if (wrong > 0) process.exitCode = 1
