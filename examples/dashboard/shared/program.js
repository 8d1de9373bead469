import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A Node.js program that runs as a separate process.
 * @typedef {object} Program
 * @property {(pattern: RegExp) => Promise<RegExpExecArray>} waitForOutput resolves once standard output matches
 * @property {Promise<never>} failed rejects if the process ends before `stop`
 * @property {() => Promise<void>} stop stops the process
 */

/** Inherited environment, without the settings of another User Group Service on this machine. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(UGS_.*|DATABASE_URL|HOST|PORT|LOG_LEVEL)$/.test(name)),
)

/**
 * Starts a program. Keeps its standard output instead of showing it.
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
  // Callers need not handle the rejection.
  failed.catch(() => undefined)
  return {
    failed,
    waitForOutput: async (pattern) => {
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
 * @returns {Promise<string>} its standard output
 * @throws Error with its standard error if it fails
 */
export async function runProgram(file, args, settings) {
  const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
    env: { ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errorOutput = ''
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (errorOutput += text))
  const [code] = /** @type {[number | null]} */ (await once(child, 'close'))
  if (code !== 0) throw new Error(errorOutput)
  return output
}
