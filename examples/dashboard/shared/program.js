import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A Node.js program that runs as a process of its own.
 * @typedef {object} Program
 * @property {(pattern: RegExp) => Promise<RegExpExecArray>} said resolves once standard output has it
 * @property {Promise<never>} failed rejects where it ends before it is stopped
 * @property {() => Promise<void>} stop ends this process, by its id
 */

/**
 * What reaches the program besides what it is given: nothing by which a service of the person who starts the example
 * is set up (its database, its keys).
 */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(UGS_.*|DATABASE_URL|HOST|PORT|LOG_LEVEL)$/.test(name)),
)

/**
 * Standard output is kept and not shown: the service writes API tokens there.
 * @param {URL} file
 * @param {string[]} args
 * @param {Record<string, string>} settings
 * @returns {Program}
 */
export function startProgram(file, args, settings) {
  const path = fileURLToPath(file)
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text))
  let stopping = false
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    child.once('exit', (code, signal) => {
      if (!stopping) reject(new Error(`${path} ended by itself (${code ?? signal})`))
    })
  })
  // Whoever waits for it is told; nobody has to.
  failed.catch(() => undefined)
  return {
    failed,
    said: async (pattern) => {
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        await Promise.race([once(child.stdout, 'data'), failed])
      }
    },
    stop: async () => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGINT')
      await once(child, 'exit')
    },
  }
}

/**
 * Runs a program to its end.
 * @param {URL} file
 * @param {string[]} args
 * @param {Record<string, string>} settings
 * @returns {Promise<string>} what it wrote to standard output
 * @throws Error with what it wrote to standard error, where it fails
 */
export async function runProgram(file, args, settings) {
  const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
    env: { ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (complaint += text))
  const [code] = /** @type {[number | null]} */ (await once(child, 'close'))
  if (code !== 0) throw new Error(complaint)
  return output
}
