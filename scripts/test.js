// Runs every test with Node's own runner: `npm test`, or `npm test -- PATTERN` for the files whose path has PATTERN in it.
// Those that use the service as a whole run on SQLite, and then once more on PostgreSQL.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './test-database.js'

const pattern = process.argv[2] ?? ''
const files = ['server/test', 'renderer/test', 'client/test', 'console/test', 'examples', 'bench']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => /\.test\.(ts|js)$/.test(file) && !file.includes('node_modules') && file.includes(pattern))
  .sort()
if (files.length === 0) {
  console.error(`no test file has "${pattern}" in its path`)
  process.exit(1)
}
// In *.sqlite.test.ts is what only SQLite has: a file, and a first start that needs no settings.
const onEachStore = files.filter(
  (file) => /^server\/test\/(cli|clients|hostile|http)\//.test(file) && !file.endsWith('.sqlite.test.ts'),
)

/** @type {import('node:child_process').ChildProcess | undefined} */
let runner
const interruption = new AbortController()
for (const signal of /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    interruption.abort()
    runner?.kill(signal)
  })
}

const reports = mkdtempSync(join(tmpdir(), 'ugs-test-'))
const postgres = process.env.TEST_DATABASE_URL ? undefined : await startPostgres()
try {
  const results = [await run('sqlite', files)]
  if (onEachStore.length > 0 && !interruption.signal.aborted) {
    console.log('\n# Once more, on PostgreSQL:')
    results.push(await run('postgres', onEachStore))
  }
  const failed = results.filter(({ passed }) => !passed)
  for (const { store, failures } of failed) console.log(`\n# Failed (${store}):\n${failures}`)
  process.exitCode = failed.length > 0 ? 1 : 0
} finally {
  await postgres?.stop()
  rmSync(reports, { recursive: true })
}

/**
 * @param {'sqlite' | 'postgres'} store what `startService` has the service keep its data in
 * @param {string[]} files
 */
async function run(store, files) {
  const report = join(reports, store)
  writeFileSync(report, '')
  const options = [
    // Many files wait for processes and time-outs more than they compute.
    ...['--test', '--test-timeout=600000', `--test-concurrency=${Math.ceil(1.5 * availableParallelism())}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/failures-reporter.js', `--test-reporter-destination=${report}`],
  ]
  runner = spawn(process.execPath, ['--import', 'tsx', ...options, ...files], {
    stdio: 'inherit',
    env: { ...process.env, ...(postgres && { TEST_DATABASE_URL: postgres.url }), UGS_TEST_STORE: store },
  })
  const [code] = /** @type {[number | null]} */ (await once(runner, 'exit'))
  return { store, passed: code === 0, failures: readFileSync(report, 'utf8') }
}
