import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('test-database-process.js', import.meta.url))

/**
 * Starts an empty PostgreSQL server on a free local port. It ends with this process, even after SIGKILL, and deletes its files.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} `url` names a superuser
 */
export async function startPostgres() {
  // In a new session, so that Ctrl-C ends the tests first.
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const exited = once(child, 'exit')
  const failed = exited.then(() => {
    throw new Error('PostgreSQL for the tests did not start. Set TEST_DATABASE_URL to use a running server.')
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
