import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Belongings } from '../../failover/belongings.ts'
import { poll } from '../../failover/poll.ts'
import { freePort, takesConnections } from '../../support/port.ts'

const startMs = 10_000
// Debian installs them in folders that are only in root's path.
const env = { PATH: `${process.env.PATH}:/usr/sbin`, LC_ALL: 'C' }
const deployFolder = new URL('../../../../deploy/', import.meta.url)

export const proxies = ['haproxy', 'nginx'] as const
export type ProxyName = (typeof proxies)[number]

interface Proxy {
  readonly origin: string
  readonly version: string
}

/**
 * Starts a proxy with its configuration in `deploy/` and other ports.
 * @throws Error if it is not installed
 */
export async function startProxy(
  belongings: Belongings,
  name: ProxyName,
  replicaPorts: readonly [number, number],
): Promise<Proxy> {
  const folder = belongings.folder()
  const port = await freePort()
  const ports = { 8080: port, 8081: replicaPorts[0], 8082: replicaPorts[1] }
  const { command, args } = name === 'haproxy' ? haproxy(folder, ports) : nginx(folder, ports)
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.on('error', (error) => (output += error.message))
  if (child.pid !== undefined) belongings.child(child, 'SIGKILL')
  await poll(`${name} listens`, startMs, async () => {
    if (child.pid === undefined || child.exitCode !== null) throw new Error(`${name} has ended: ${output}`)
    return (await takesConnections(port)) || undefined
  })
  return { origin: `http://127.0.0.1:${port}`, version: versionOf(command) }
}

type Ports = Readonly<Record<8080 | 8081 | 8082, number>>

function haproxy(folder: string, ports: Ports): { command: string; args: string[] } {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, configuration('haproxy/haproxy.cfg', ports))
  return { command: 'haproxy', args: ['-db', '-f', file] }
}

function nginx(folder: string, ports: Ports): { command: string; args: string[] } {
  const file = join(folder, 'nginx.conf')
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  // One process in the foreground, so that every signal ends all of it.
  writeFileSync(
    file,
    `daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${scratch.join('\n  ')}
  ${configuration('nginx/user-group-service.conf', ports)}
}
`,
  )
  return { command: 'nginx', args: ['-p', folder, '-e', join(folder, 'error.log'), '-c', file] }
}

function configuration(path: string, ports: Ports): string {
  const text = readFileSync(new URL(path, deployFolder), 'utf8')
  return Object.entries(ports).reduce(
    (text, [from, to]) => text.replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`),
    text,
  )
}

function versionOf(command: string): string {
  const { stdout, stderr } = spawnSync(command, ['-v'], { env, encoding: 'utf8' })
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'of an unknown version'
}
