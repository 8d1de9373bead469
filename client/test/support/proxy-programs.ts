import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, takesConnections } from '../../../server/test/support/port.ts'
import type { Scope } from '../../../server/test/support/scope.ts'
import { temporaryFolder } from '../../../server/test/support/service.ts'
import type { Tool } from '../../../server/test/support/tool.ts'

export const nginx: Tool = {
  name: 'nginx',
  hint: 'apt-get install nginx',
  commands: ['nginx', '/usr/sbin/nginx'],
  probe: ['-v'],
}

export const haproxy: Tool = {
  name: 'HAProxy',
  hint: 'apt-get install haproxy',
  commands: ['haproxy', '/usr/sbin/haproxy'],
  probe: ['-v'],
}

/** Additions to the configuration. */
interface NginxSettings {
  readonly http?: string
  readonly server?: string
  /** Follows the port. */
  readonly listen?: string
  /** Follows `proxy_pass`. */
  readonly location?: string
}

/** Starts nginx as a reverse proxy. */
export async function startNginx(
  t: Scope,
  command: string,
  target: string,
  { http = '', server = '', listen = '', location = '' }: NginxSettings = {},
): Promise<{ origin: string }> {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  // A single process in the foreground, which a signal ends completely.
  writeFileSync(
    file,
    `daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${scratch.join('\n  ')}
  ${http}
  server {
    listen 127.0.0.1:${port} ${listen};
    location / {
      proxy_pass ${target};
      ${location}
    }
    ${server}
  }
}
`,
  )
  await startProgram(t, command, ['-p', folder, '-e', join(folder, 'error.log'), '-c', file], port)
  return { origin: `http://127.0.0.1:${port}` }
}

/** Starts HAProxy as a reverse proxy, with these additions to its configuration. */
export async function startHaproxy(
  t: Scope,
  command: string,
  target: string,
  { frontend = '', backend = '' }: { frontend?: string; backend?: string } = {},
): Promise<{ origin: string }> {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend clients
  bind 127.0.0.1:${port}
  ${frontend}
  default_backend service
backend service
  ${backend}
  server service ${new URL(target).host}
`,
  )
  await startProgram(t, command, ['-db', '-f', file], port)
  return { origin: `http://127.0.0.1:${port}` }
}

async function startProgram(t: Scope, command: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null) throw new Error(`${command} has ended: ${output}`)
  }
}
