// Runs everything that a change must pass: `npm run check`. The linter takes as long as the other checks together, so they run
// at the same time. The tests use all cores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { buildIfStale } from './current-build.js'
import { installPackages } from './install-packages.js'

const others = [
  'format',
  'types',
  'cycles',
  'dead-code',
  'dependencies',
  'openapi',
  'client-types',
  'scopes',
  'site',
]

// The linter and the compiler read types of the build and of this package.
buildIfStale()
installPackages('tools/browser')
const passed = await Promise.all([runAll(['check:lint']), runAll(others.map((name) => `check:${name}`))])
if (passed.includes(false)) process.exitCode = 1
else process.exitCode = await run(['test'])

/**
 * Runs npm scripts one after the other until one fails, and prints the output of each at its end. Returns false if one fails.
 * @param {string[]} scripts
 */
async function runAll(scripts) {
  for (const script of scripts) {
    const child = spawn('npm', ['run', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    process.stdout.write(stdout)
    process.stderr.write(stderr)
    if (code !== 0) return false
  }
  return true
}

/**
 * Returns the exit code of an npm command.
 * @param {string[]} args
 */
async function run(args) {
  const [code] = /** @type {[number | null]} */ (await once(spawn('npm', args, { stdio: 'inherit' }), 'exit'))
  return code ?? 1
}
