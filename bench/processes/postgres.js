// Runs a PostgreSQL, from the programs of a folder that is given, until standard input ends, then removes it. This is a
// process of its own because its input ends however the process that started it ends, by SIGKILL too. Writes a line of
// JSON once connections are taken.
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

// Whoever signals all processes at once ends the one that started this one too.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
const inputEnded = once(process.stdin.resume(), 'end')
const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-postgres-'))
try {
  const port = await freePort()
  const password = randomUUID()
  writeFileSync(join(folder, 'password'), password)
  // Without the environment: it may name another PostgreSQL, or another language.
  const options = { cwd: folder, env: { LC_ALL: 'C' }, ...giveFolderAway() }
  const data = join(folder, 'data')
  execFileSync(
    join(programs, 'initdb'),
    [
      ...[`--pgdata=${data}`, '--encoding=UTF8', '--locale=C', '--no-instructions'],
      ...['--username=postgres', `--pwfile=${join(folder, 'password')}`, '--auth=scram-sha-256'],
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
        throw new Error('PostgreSQL ended at once')
      }),
    ])
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
    console.log(JSON.stringify({ url, pid: server.pid }))
    await Promise.race([inputEnded, ended])
  } finally {
    // At once: nothing is to be kept.
    if (server.exitCode === null) server.kill('SIGQUIT')
    await ended
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** PostgreSQL refuses to run as root; then the folder becomes that of its own user, who runs it. */
function giveFolderAway() {
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
  throw new Error('PostgreSQL takes no connections')
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
