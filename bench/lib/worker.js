import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A separate process that responds to one message after another.
 * @typedef {object} Worker
 * @property {number} pid
 * @property {(message: unknown) => Promise<unknown>} ask
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a program of `processes/`. It ends with this process at the latest and does not keep this process alive.
 * @param {string} name
 * @returns {Worker}
 */
export function startWorker(name) {
  const child = fork(fileURLToPath(new URL(`../processes/${name}`, import.meta.url)))
  child.unref()
  child.channel?.unref()
  return {
    pid: child.pid ?? 0,
    ask: (message) =>
      new Promise((resolve, reject) => {
        child.channel?.ref()
        /** @param {() => void} finish */
        const settle = (finish) => {
          child.off('message', responded).off('exit', ended)
          child.channel?.unref()
          finish()
        }
        const responded = (/** @type {unknown} */ response) => settle(() => resolve(response))
        const ended = (/** @type {number | null} */ code) =>
          settle(() => reject(new Error(`${name} ended with ${code} and without a response`)))
        child.once('message', responded).once('exit', ended)
        child.send(/** @type {import('node:child_process').Serializable} */ (message))
      }),
    stop: async () => {
      if (child.kill()) await once(child, 'exit')
    },
  }
}

/**
 * Responds to each message from the parent process. An error in the handler ends the process.
 * @param {(message: unknown) => unknown} handle
 */
export function handleMessages(handle) {
  const reply = async (/** @type {unknown} */ message) => process.send?.(await handle(message))
  process.on('message', (message) => void reply(message))
}
