// Sends many generated requests and reads many generated texts, on both stores or on one:
// `npm run test:hostile -- [--cases 100000] [--seed NUMBER] [--store sqlite|postgres]`.
// The seed that it prints generates the same cases again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { startPostgresBroker } from './postgres-broker.js'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 30) },
    store: { type: 'string' },
  },
})
const stores = values.store === undefined ? ['sqlite', 'postgres'] : [values.store]
console.log(`${values.cases} cases, seed ${values.seed}`)

const broker = await startPostgresBroker()
try {
  await run('server/test/unit/contract/json/strict-json.property.test.ts', {})
  for (const store of stores) {
    console.log(`\n# ${store}`)
    await run('server/test/hostile/user-api.property.test.ts', { UGS_TEST_STORE: store })
  }
} finally {
  await broker.stop()
}

/**
 * @param {string} file
 * @param {Record<string, string>} environment
 */
async function run(file, environment) {
  const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=spec', file], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_POSTGRES_BROKER: broker.url,
      HOSTILE_CASES: values.cases,
      HOSTILE_SEED: values.seed,
      HOSTILE_GAMES: '6',
      ...environment,
    },
  })
  const [code] = /** @type {[number | null]} */ (await once(child, 'exit'))
  if (code !== 0) process.exitCode = 1
}
