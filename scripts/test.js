// Runs tests with Node's own runner:
//   npm test              every test
//   npm test -- PATTERN   the files whose path contains PATTERN
//   npm run test:unit     the tests that need no other process, no PostgreSQL, no browser and no build output
//   npm run test:fast     those, and the tests of the store and over HTTP, on SQLite
//   npm run test:citus    the tests that depend on the store, on the Citus cluster of TEST_CITUS_URLS (coordinator first)
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

/** Features of the service as a whole. They run on SQLite and on PostgreSQL, but for *.sqlite.test.ts and the files below. */
const features = /^server\/test\/(cli|clients|hostile|http)\//
/** Features that behave alike on every store. They run on SQLite. */
const storeIndependent = [
  /^server\/test\/cli\/workers\.test\.ts$/,
  /^server\/test\/clients\//,
  /^server\/test\/hostile\/(bodies|delivery|framing|messages)\.test\.ts$/,
  /^server\/test\/http\/(responses|scopes)\.test\.ts$/,
  /^server\/test\/http\/admin\/(admin-input|import-connections|import-memory)\.test\.ts$/,
  /^server\/test\/http\/console\/(console-pages|oidc-provider)\.test\.ts$/,
  /^server\/test\/http\/server\/(overload|protocol-errors|timeouts)\.test\.ts$/,
  /^server\/test\/http\/user\/(body-size|introspection-input|media-type|method-override|methods|oauth-metadata|operation-paths|strict-json)\.test\.ts$/,
]

/** Files that `npm run test:fast` runs, besides unit tests, on SQLite. */
const fast = /^(server\/test\/(http|store)|console\/test\/components)\//
/** Files among them that take long, or measure the memory or the load of their process. They run alone, and not in `test:fast`. */
const long = /\/(connections|hanging-receivers|import-memory|overload)\./
/** Files that share processes, besides unit tests, unless they start processes themselves. */
const shared = /^(server\/test\/(cli|hostile|http|observability|store)|console\/test\/components)\//

/** Files that use packages of `tools/checks`. */
const withChecks = /^(client|renderer)\/|^server\/test\/(clients\/generated|http\/console\/oidc-provider)/
/** Files that use packages of `tools/browser`. */
const withPage = /^(console|examples\/dashboard)\//
/** Files among them that run a browser, which needs most CPU. */
const inBrowser = /^(console\/test\/(?!components\/)|examples\/dashboard\/)/

/** Files that run on a Citus cluster: those whose outcome can differ there. */
const onCitus = [
  /^server\/test\/(citus|http|replicas)\//,
  /^server\/test\/store\/postgres\/postgres(-paging)?\.test\.ts$/,
  /^server\/test\/store\/audit-atomic\.test\.ts$/,
]
/** Files among them that check the service's own memory, clock or validation, and nothing of the store. */
const notOnCitus = [
  /^server\/test\/http\/server\//,
  /^server\/test\/http\/admin\/import-memory\.test\.ts$/,
  /^server\/test\/http\/console\/console-clock\.test\.ts$/,
  // Events have no order there.
  /^server\/test\/http\/(events|webhooks)\//,
  /^server\/test\/http\/(admin\/audit|console\/console-session|isolation-of-operations|secrets-of-operations)\.test\.ts$/,
  /^server\/test\/http\/user\/(response-cache-limits|validation|validation-properties)\.test\.ts$/,
]

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

/** Compiles the selected tests, builds the service if one of them needs it, and returns the programs to run. */
async function compiledPrograms() {
  if (options.citus) {
    buildIfStale()
    return programsOf(await bundleTests(sources.filter(isOnCitus), 'postgres'))
  }
  const onOneNode = sources.filter((source) => !source.startsWith('server/test/citus/'))
  const all = await bundleTests(onOneNode, 'sqlite')
  const isFast = (/** @type {string} */ source) => fast.test(source) && !long.test(source)
  const selected = all.filter(
    ({ source, isUnit }) => isUnit || (!options.unit && (!options.fast || isFast(source))),
  )
  const others = selected.filter(({ isUnit }) => !isUnit)
  if (others.length > 0) buildIfStale()
  // Test files that run at once would disturb each other's installation.
  if (others.some(({ source }) => withPage.test(source))) installPackages('tools/browser')
  if (others.some(({ source }) => /^(isolation|renderer)\//.test(source))) installPackages('tools/databases')
  if (others.some(({ source }) => source.startsWith('examples/adapters/'))) installPackages('tools/adapters')
  if (others.some(({ source }) => withChecks.test(source))) installPackages('tools/checks')
  const onPostgres = others
    .map(({ source }) => source)
    .filter((source) => !options.fast && features.test(source) && dependsOnStore(source))
  return programsOf([...(await bundleTests(onPostgres, 'postgres')), ...selected])
}

/**
 * Returns the programs to run. Files share a process if they can. Spreads the files that need most CPU over those that wait, and
 * puts the short unit tests last, so that no long file runs alone at the end.
 * @param {import('./bundle-tests.js').TestFile[]} files
 */
function programsOf(files) {
  const units = files.filter(({ isUnit }) => isUnit)
  const others = files.filter(({ isUnit }) => !isUnit)
  const together = others.filter(
    ({ source, startsProcesses }) => shared.test(source) && !long.test(source) && !startsProcesses,
  )
  const alone = others.filter((file) => !together.includes(file) && !inBrowser.test(file.source))
  const programs = [...alone.map(({ compiled }) => compiled), ...groupTests(together, 8, fileTimeoutMs)]
  const withBrowser = others.filter(({ source }) => inBrowser.test(source))
  const distance = Math.ceil(programs.length / Math.max(1, withBrowser.length))
  withBrowser.forEach(({ compiled }, i) => programs.splice(i * (distance + 1), 0, compiled))
  return [...programs, ...groupTests(units, 40, fileTimeoutMs)]
}

/** @param {string} source */
function dependsOnStore(source) {
  return !source.endsWith('.sqlite.test.ts') && !storeIndependent.some((subject) => subject.test(source))
}

/** @param {string} source */
function isOnCitus(source) {
  return (
    onCitus.some((subject) => subject.test(source)) &&
    !notOnCitus.some((subject) => subject.test(source)) &&
    dependsOnStore(source)
  )
}

/** @param {string[]} files */
async function runFiles(files) {
  const tests = run({
    files,
    // Many files wait for processes and time-outs more than they compute.
    concurrency: 2 * availableParallelism(),
    // Of a process, which may have several files.
    timeout: 2 * fileTimeoutMs,
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
