// Runs the suites that take long, which CI runs every night: `npm run test:soak`.
// `npm run test:soak -- kill [OPTIONS]`, `npm run test:kill [-- OPTIONS]` and so on run one suite.
import { spawnSync } from 'node:child_process'
import { buildIfStale } from './current-build.js'

const typeScript = ['--import', 'tsx', '--test-reporter=spec']

/** Programs, and the arguments of each run. @type {Record<string, { program: string[], runs: string[][] }>} */
const suites = {
  hostile: { program: ['scripts/test-hostile.js'], runs: [[]] },
  kill: {
    program: [...typeScript, 'server/test/kill/kill.ts'],
    runs: [
      ['--store', 'sqlite'],
      ['--store', 'postgres'],
    ],
  },
  failover: { program: [...typeScript, 'server/test/failover/failover.ts'], runs: [[]] },
  patroni: { program: [...typeScript, 'server/test/failover/patroni.ts'], runs: [[]] },
  packages: {
    program: ['scripts/test-packages.js'],
    // Addons compiled with the headers of Node.js 24.19 to 24.21 abort (nodejs/node#65446).
    runs: [['22', '24.18.1', 'npm', 'pnpm', 'yarn', 'bun']],
  },
  // Some tests have more cases in a long run.
  cases: { program: ['scripts/test.js'], runs: [[]] },
  'rolling-restart': {
    program: [...typeScript, 'server/test/deploy/rolling-restart/rolling-restart.ts'],
    runs: [[]],
  },
}

const [name, ...options] = process.argv.slice(2)
process.env.LONG_TESTS = 'true'
if (name !== undefined && suites[name] === undefined) {
  console.error(`use: test-soak.js [${Object.keys(suites).join(' | ')}]`)
  process.exit(2)
}
buildIfStale()
for (const [suite, { program, runs }] of Object.entries(suites)) {
  if (name !== undefined && name !== suite) continue
  for (const args of options.length > 0 ? [options] : runs) {
    console.log(`\n# ${[suite, ...args].join(' ')}`)
    const { status } = spawnSync(process.execPath, [...program, ...args], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
