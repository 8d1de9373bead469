import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('test-database-process.js', import.meta.url))

/**
 * Starts a PostgreSQL of its own, empty and on a free port of this machine. It ends with this process, however that
 * ends, and leaves nothing behind.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} `url` is that of a superuser
 */
export async function startPostgres() {
  // In a session of its own, so that Ctrl-C ends the tests first.
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const exited = once(child, 'exit')
  const failed = exited.then(() => {
    throw new Error('no PostgreSQL could be started for the tests; TEST_DATABASE_URL can name one that runs')
  })
  const [url] = /** @type {[Buffer]} */ (await Promise.race([once(child.stdout, 'data'), failed]))
  return {
    url: url.toString().trim(),
    stop: async () => {
      child.stdin.end()
      await exited
    },
  }
}
