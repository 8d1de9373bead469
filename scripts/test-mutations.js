// Puts one fault after the other into the sources, in memory, and reports which level of the tests catches it:
//   npm run test:mutations              every fault, some hours of CPU time
//   npm run test:mutations -- PATTERN   the faults of the files whose path contains PATTERN
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { mutations } from './mutations.js'

const counts = { unit: 0, fast: 0, all: 0, none: 0 }
/** Options of the test runner. @type {[level: Exclude<keyof typeof counts, 'none'>, options: string[]][]} */
const levels = [
  ['unit', ['--unit']],
  ['fast', ['--fast']],
  ['all', []],
]
const pattern = process.argv[2] ?? ''

for (const mutation of mutations.filter(({ file }) => file.includes(pattern))) {
  const { level, test } = await firstCatch(mutation)
  counts[level]++
  console.log(`${level.padEnd(4)}  ${mutation.file}: ${mutation.from.split('\n')[0]}\n      ${test}`)
}
console.log(counts)
if (counts.none !== 0) process.exitCode = 1

/**
 * Returns the first level with a test that fails, and that test.
 * @param {import('./mutations.js').Mutation} mutation
 * @returns {Promise<{ level: keyof typeof counts, test: string }>}
 */
async function firstCatch(mutation) {
  const [workspace] = mutation.file.split('/')
  for (const [level, options] of levels) {
    // Only the server has fast tests that are no unit tests.
    if (level === 'fast' && workspace !== 'server') continue
    const tests = spawn(process.execPath, ['scripts/test.js', ...options, `${workspace}/test`], {
      env: { ...process.env, TEST_MUTATION: JSON.stringify(mutation) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output = await text(tests.stdout)
    const failed = /^# Failed:\n✖ (.*)/m.exec(output)?.[1]
    if (failed !== undefined) return { level, test: failed }
  }
  return { level: 'none', test: 'no test fails' }
}
