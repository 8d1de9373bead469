// Runs tests with Node's own runner. The folder of a test file is its level:
//   npm test              every test
//   npm test -- PATTERN   the files whose path contains PATTERN
//   npm run test:unit     test/unit: no other process, no PostgreSQL, no browser and no build output
//   npm run test:fast     those, and the store and HTTP on SQLite
//   npm run test:citus    *.stores.test.ts and what else depends on the store, on the Citus cluster of TEST_CITUS_URLS (coordinator first)
import { setMaxListeners } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec as SpecReporter } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { bundleTests, groupTests, removeBundles } from './bundle-tests.js'
import { buildIfStale } from './current-build.js'
import { installPackages } from './install-packages.js'
import { startPostgresBroker } from './postgres-broker.js'
import { FailureList } from './test-failures.js'

/** @param {string} source */
const isUnit = (source) => source.includes('/test/unit/')
const fast = /\/test\/unit\/|^server\/test\/(http|store)\/(?!postgres\/)/
/** Files that run in a browser, which needs most CPU. */
const inBrowser = /^(console|examples\/dashboard)\/test\/(?!components|unit)/
/** Files with a process of their own: a browser's, and those that measure the memory or the load of their process. */
const alone = new RegExp(`^server/test/load/|${inBrowser.source}`)
/** Features that can differ between stores. They run on SQLite, PostgreSQL and Citus, all others on SQLite. */
const onEachStore = '.stores.test.ts'
/** Other files that run on a Citus cluster. */
const onCitus = /^server\/test\/(citus|replicas|store\/postgres\/postgres(-paging|-audit-atomic)?\.)/
/** There are no events there, so no webhooks. Commands have tests of their own in `server/test/citus`. */
const notOnCitus = /\/(cli|events|webhooks)\//

/** Packages of `tools` that the tests of a workspace use, besides unit tests. @type {Record<string, string[]>} */
const toolsOf = {
  server: ['checks'],
  client: ['checks'],
  renderer: ['checks', 'databases'],
  isolation: ['databases'],
  console: ['browser'],
  'examples/dashboard': ['browser'],
  'examples/adapters': ['adapters'],
}

const { values: options, positionals } = parseArgs({
  options: {
    unit: { type: 'boolean', default: false },
    fast: { type: 'boolean', default: false },
    citus: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
/** Maximum time of a file, in milliseconds. On a busy machine, the slowest take some minutes; on Citus, three times as long. */
const fileTimeoutMs = options.citus ? 900_000 : 300_000
/** Maximum number of files that share a process, apart from unit tests. */
const filesTogether = 6
const pattern = positionals[0] ?? ''
const sources = [
  'server/test',
  'renderer/test',
  'isolation/test',
  'client/test',
  'console/test',
  'examples',
  'bench',
]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => /\.test\.(ts|js)$/.test(file) && !file.includes('node_modules') && file.includes(pattern))

const citusUrls = options.citus
  ? (process.env.TEST_CITUS_URLS ?? '').split(' ').filter((url) => url !== '')
  : []
if (options.citus && citusUrls.length === 0) {
  console.error('SKIPPED: the tests on Citus need the URLs of a cluster in TEST_CITUS_URLS')
  process.exit(process.env.CI === 'true' ? 1 : 0)
}

const interruption = new AbortController()
// Each process that runs tests listens.
setMaxListeners(0, interruption.signal)
for (const signal of /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM'])) {
  process.on(signal, () => interruption.abort())
}

const broker = await startPostgresBroker(citusUrls)
try {
  const files = await compiledPrograms()
  if (files.length === 0) throw new Error(`no test file has "${pattern}" in its path`)
  process.env.TEST_POSTGRES_BROKER = broker.url
  await runFiles(files)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await broker.stop()
  removeBundles()
}

/** Compiles the selected tests, builds and installs what they need, and returns the programs to run. */
async function compiledPrograms() {
  if (options.citus) {
    buildIfStale()
    const selected = sources.filter((source) => source.endsWith(onEachStore) || onCitus.test(source))
    return programsOf(
      await bundleTests(
        selected.filter((source) => !notOnCitus.test(source)),
        'postgres',
      ),
    )
  }
  const isSelected = (/** @type {string} */ source) =>
    options.unit
      ? isUnit(source)
      : options.fast
        ? fast.test(source)
        : !source.startsWith('server/test/citus/')
  const selected = sources.filter(isSelected)
  const others = selected.filter((source) => !isUnit(source))
  if (others.length > 0) buildIfStale()
  const tools = Object.entries(toolsOf).flatMap(([workspace, names]) =>
    others.some((source) => source.startsWith(`${workspace}/`)) ? names : [],
  )
  // Test files that run at once would disturb each other's installation.
  for (const name of new Set(tools)) installPackages(`tools/${name}`)
  const onPostgres = options.fast ? [] : others.filter((source) => source.endsWith(onEachStore))
  return programsOf([
    ...(await bundleTests(onPostgres, 'postgres')),
    ...(await bundleTests(selected, 'sqlite')),
  ])
}

/**
 * Returns the programs to run. Files share a process if they can. Spreads the files that need most CPU over those that wait, and
 * puts the short unit tests last, so that no long file runs alone at the end.
 * @param {import('./bundle-tests.js').TestFile[]} files
 */
function programsOf(files) {
  const units = files.filter(({ source }) => isUnit(source))
  const together = files.filter(({ source }) => !isUnit(source) && !alone.test(source))
  const measuring = files.filter(({ source }) => alone.test(source) && !inBrowser.test(source))
  const programs = [
    ...measuring.map(({ compiled }) => compiled),
    ...groupTests(together, filesTogether, fileTimeoutMs),
  ]
  const withBrowser = files.filter(({ source }) => inBrowser.test(source))
  const distance = Math.ceil(programs.length / Math.max(1, withBrowser.length))
  withBrowser.forEach(({ compiled }, i) => programs.splice(i * (distance + 1), 0, compiled))
  return [...programs, ...groupTests(units, 40, fileTimeoutMs)]
}

/** @param {string[]} files */
async function runFiles(files) {
  const tests = run({
    files,
    // Many files wait for processes and time-outs more than they compute.
    concurrency: 2 * availableParallelism(),
    // Of a process.
    timeout: filesTogether * fileTimeoutMs,
    signal: interruption.signal,
  })
  const failures = new FailureList(tests)
  if (process.env.TEST_MUTATION !== undefined) tests.on('test:fail', () => interruption.abort())
  const report = /** @type {AsyncIterable<Uint8Array>} */ (tests.compose(new SpecReporter()))
  for await (const text of report) process.stdout.write(text)
  if (failures.texts.length > 0) {
    console.log(`\n# Failed:\n${failures.texts.join('\n')}`)
    process.exitCode = 1
  }
}
