// Runs PostgreSQL from a program folder until standard input closes, then removes its data. As a separate process it notices
// every end of its parent, even SIGKILL. Prints a line of JSON when PostgreSQL accepts connections.
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const programs = process.argv[2] ?? ''
const startMs = 30_000

// A signal to the whole process group also ends the parent, which closes standard input.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
const inputEnded = once(process.stdin.resume(), 'end')
const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-postgres-'))
try {
  const port = await freePort()
  const password = randomUUID()
  writeFileSync(join(folder, 'password'), password)
  // Environment variables could select another PostgreSQL or another locale.
  const options = { cwd: folder, env: { LC_ALL: 'C' }, ...changeOwner() }
  const data = join(folder, 'data')
  execFileSync(
    join(programs, 'initdb'),
    [
      `--pgdata=${data}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
      '--username=postgres',
      `--pwfile=${join(folder, 'password')}`,
      '--auth=scram-sha-256',
    ],
    { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'log_min_messages=panic'],
    { ...options, stdio: ['ignore', 'ignore', 'inherit'], detached: true },
  )
  const ended = once(server, 'exit')
  try {
    await Promise.race([
      accepts(join(programs, 'pg_isready'), port),
      ended.then(() => {
        throw new Error('PostgreSQL exited during its start.')
      }),
    ])
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
    console.log(JSON.stringify({ url, pid: server.pid }))
    await Promise.race([inputEnded, ended])
  } finally {
    // Immediate shutdown: the data is not needed any more.
    if (server.exitCode === null) server.kill('SIGQUIT')
    await ended
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** Gives the folder to the user `postgres` and returns its ids, because PostgreSQL refuses to run as root. */
function changeOwner() {
  if (process.getuid?.() !== 0) return {}
  const id = (/** @type {string} */ option) => Number(execFileSync('id', [option, 'postgres']))
  const user = { uid: id('-u'), gid: id('-g') }
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
  return user
}

/**
 * @param {string} isReady
 * @param {number} port
 */
async function accepts(isReady, port) {
  const end = performance.now() + startMs
  while (performance.now() < end) {
    try {
      execFileSync(isReady, ['-q', '-h', '127.0.0.1', '-p', String(port)])
      return
    } catch {
      await sleep(50)
    }
  }
  throw new Error('PostgreSQL does not accept connections.')
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
