// Runs `ugs` commands one after the other in one process, for tests that run many. Each message is a command, each response
// its exit code. The output goes to the files that are standard output and standard error of this process. The entry module
// is evaluated again for each command; the modules that it imports are not.
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'

/** @typedef {{ args: string[], environment: Record<string, string>, stdin: string }} Command */

const entry = pathToFileURL(process.argv[2] ?? '').href
let commands = 0

process.on('message', (/** @type {Command} */ command) => {
  void run(command).then((code) => process.send?.(code))
})
process.on('disconnect', () => process.exit())

/** @param {Command} command */
async function run({ args, environment, stdin }) {
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true })
  process.argv = [process.execPath, entry, ...args]
  process.env = environment
  process.exitCode = 0
  commands += 1
  await import(`${entry}?command=${commands}`)
  process.removeAllListeners('uncaughtException')
  return process.exitCode
}
