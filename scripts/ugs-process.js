// Runs `ugs` commands one after the other, `serve` included, for tests (scripts/ugs-processes.js). Each message is a command or
// a request to stop the service that runs, each response an exit code. The output goes to the files that are standard output
// and standard error of this process. The entry module is evaluated again for each command; the modules that it imports are not.
import { pathToFileURL } from 'node:url'

/** @typedef {{ args: string[], environment: Record<string, string> }} UgsCommand */

const entry = pathToFileURL(process.argv[2] ?? '').href
let commands = 0
let isStopping = false

const exit = process.exit.bind(process)
// A stopped service exits. This process continues with the next command instead.
process.exit = /** @type {typeof process.exit} */ (
  (code) => {
    if (!isStopping) exit(code)
  }
)
process.on('message', (/** @type {UgsCommand | 'stop'} */ message) => {
  if (message === 'stop') stop()
  else void run(message).then((code) => process.send?.(code))
})
process.on('disconnect', () => exit())

/** @param {UgsCommand} command */
async function run({ args, environment }) {
  process.argv = [process.execPath, entry, ...args]
  // Node.js reads some variables from the environment of the process, which another object would leave unchanged.
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, environment)
  process.exitCode = 0
  commands += 1
  await import(`${entry}?command=${commands}`)
  process.removeAllListeners('uncaughtException')
  isStopping = false
  return process.exitCode
}

function stop() {
  isStopping = process.emit('SIGINT')
  if (!isStopping) exit(1)
}
