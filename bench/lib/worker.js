import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A process of its own that answers one message after another.
 * @typedef {object} Worker
 * @property {number} pid
 * @property {(message: unknown) => Promise<unknown>} ask
 * @property {() => Promise<void>} stop
 */

/**
 * Starts one of the programs of `processes/`. It ends with this process at the latest, and keeps it from nothing.
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
          child.off('message', answered).off('exit', ended)
          child.channel?.unref()
          finish()
        }
        const answered = (/** @type {unknown} */ answer) => settle(() => resolve(answer))
        const ended = (/** @type {number | null} */ code) =>
          settle(() => reject(new Error(`${name} ended with ${code} and no answer`)))
        child.once('message', answered).once('exit', ended)
        child.send(/** @type {import('node:child_process').Serializable} */ (message))
      }),
    stop: async () => {
      if (child.kill()) await once(child, 'exit')
    },
  }
}

/**
 * The other side, in such a process. Where the answer fails, so does the process.
 * @param {(message: unknown) => unknown} answer
 */
export function answerEach(answer) {
  const reply = async (/** @type {unknown} */ message) => process.send?.(await answer(message))
  process.on('message', (message) => void reply(message))
}
