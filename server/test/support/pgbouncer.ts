import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverUrl } from './database.ts'
import type { Scope } from './scope.ts'
import { temporaryFolder } from './service.ts'
import type { Tool } from './tool.ts'

export const pgbouncer: Tool = {
  name: 'PgBouncer',
  hint: 'apt-get install pgbouncer',
  commands: ['pgbouncer', '/usr/sbin/pgbouncer'],
  probe: ['--version'],
}

/**
 * Starts a PgBouncer with transaction pooling that listens on a socket in a new folder. It refuses start-up parameters unless `more`
 * settings ignore them. It connects with the user and password of `roleUrl`, by default a superuser. Returns a function that turns the
 * URL of a database into its URL through PgBouncer.
 */
export async function startPgBouncer(
  t: Scope,
  command: string,
  poolSize: number,
  more: Record<string, string> = {},
  roleUrl?: string,
): Promise<(databaseUrl: string) => string> {
  const folder = temporaryFolder(t)
  // PgBouncer refuses to run as root, and must own its folder.
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const { hostname, port, username, password } = new URL(roleUrl ?? (await serverUrl()))
  const server = {
    host: hostname,
    port: port || '5432',
    user: decodeURIComponent(username),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  }
  const settings = {
    listen_port: 6432,
    unix_socket_dir: folder,
    pool_mode: 'transaction',
    auth_type: 'any',
    default_pool_size: poolSize,
    max_client_conn: 500,
    ...more,
  }
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, iniOf({ databases: { '*': parametersOf(server) }, pgbouncer: settings }))
  const child = spawn(command, [file], {
    ...user,
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await new Promise<void>((resolve, reject) => {
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('process up')) resolve()
    })
    child.on('error', reject)
    child.on('close', () => reject(new Error(`PgBouncer has ended: ${log}`)))
  })
  return (databaseUrl) =>
    `postgres://anybody@${encodeURIComponent(folder)}:${settings.listen_port}${new URL(databaseUrl).pathname}`
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, 'nobody']))
}

function iniOf(sections: Record<string, Record<string, string | number>>): string {
  return Object.entries(sections)
    .flatMap(([name, entries]) => [
      `[${name}]`,
      ...Object.entries(entries).map(([key, value]) => `${key} = ${value}`),
    ])
    .join('\n')
}

function parametersOf(server: Record<string, string>): string {
  return Object.entries(server)
    .map(([key, value]) => `${key}='${value.replaceAll("'", "''")}'`)
    .join(' ')
}
