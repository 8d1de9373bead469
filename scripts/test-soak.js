// Runs the suites that take long: `npm run test:soak [-- --short]`. `--short` is what CI runs.
// `npm run test:soak -- kill [OPTIONS]`, `npm run test:kill [-- OPTIONS]` and so on run one suite, in its long form without options.
import { spawnSync } from 'node:child_process'
import { buildIfStale } from './current-build.js'

const typeScript = ['--import', 'tsx', '--test-reporter=spec']

/** @type {Record<string, { program: string[], long: string[][], short: string[][] }>} */
const suites = {
  hostile: {
    program: ['scripts/test-hostile.js'],
    long: [[]],
    short: [['--cases', '2000']],
  },
  kill: {
    program: [...typeScript, 'server/test/kill/kill.ts'],
    long: [
      ['--store', 'sqlite'],
      ['--store', 'postgres'],
    ],
    short: [
      ['--store', 'sqlite', '--rounds', '4'],
      ['--store', 'postgres', '--rounds', '4'],
    ],
  },
  failover: {
    program: [...typeScript, 'server/test/failover/failover.ts'],
    long: [[]],
    short: [[]],
  },
  patroni: {
    program: [...typeScript, 'server/test/failover/patroni.ts'],
    long: [[]],
    // A pause ends as soon as the services have marked the new primary.
    short: [['--rounds', '1', '--faults', 'kill,takeover', '--frozen', '0']],
  },
  packages: {
    program: ['scripts/test-packages.js'],
    // Addons compiled with the headers of Node.js 24.19 to 24.21 abort (nodejs/node#65446).
    long: [['22', '24.18.1', 'npm', 'pnpm', 'yarn', 'bun']],
    short: [['npm', 'pnpm', 'yarn', 'bun']],
  },
  // The tests that have more cases in a long run.
  cases: {
    program: ['scripts/test.js'],
    long: [['property'], ['exact-comparison'], ['generated-files']],
    short: [],
  },
  'rolling-restart': {
    program: [...typeScript, 'server/test/deploy/rolling-restart/rolling-restart.ts'],
    long: [[]],
    short: [['--rounds', '2']],
  },
}

const [first, ...rest] = process.argv.slice(2)
const one = suites[first ?? '']
if (first !== '--short') process.env.LONG_TESTS = 'true'
buildIfStale()
if (one !== undefined) runSuite(first ?? '', one, rest.length > 0 ? [rest] : one.long)
else if (first === undefined || first === '--short') {
  const form = first === undefined ? 'long' : 'short'
  for (const [name, suite] of Object.entries(suites)) runSuite(name, suite, suite[form])
} else {
  console.error(`use: test-soak.js [--short | ${Object.keys(suites).join(' | ')}]`)
  process.exitCode = 2
}

/**
 * @param {string} name
 * @param {(typeof suites)[string]} suite
 * @param {string[][]} forms arguments of each run
 */
function runSuite(name, { program }, forms) {
  for (const args of forms) {
    console.log(`\n# ${[name, ...args].join(' ')}`)
    const { status } = spawnSync(process.execPath, [...program, ...args], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
