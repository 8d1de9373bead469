import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from '../support/http.ts'
import type { Scope } from '../support/scope.ts'
import { temporaryFolder } from '../support/service.ts'
import type { Tool } from '../support/tool.ts'

export const haproxy: Tool = {
  name: 'HAProxy',
  hint: 'apt-get install haproxy',
  commands: ['haproxy', '/usr/sbin/haproxy'],
  probe: ['-v'],
}

export const nginx: Tool = {
  name: 'nginx',
  hint: 'apt-get install nginx',
  commands: ['nginx', '/usr/sbin/nginx'],
  probe: ['-v'],
}

interface NginxOptions {
  readonly port: number
  /** The content of the `server` block. */
  readonly server: string
  /** A path that responds once nginx is ready. */
  readonly readyPath: string
}

/** Starts nginx and waits until it is ready. */
export async function startNginx(
  t: Scope,
  command: string,
  { port, server, readyPath }: NginxOptions,
): Promise<void> {
  const folder = temporaryFolder(t)
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; events {}
     http {
       access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
       fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
       server {
         listen 127.0.0.1:${port};
         ${server}
       }
     }`,
  )
  const child = spawn(command, ['-p', folder, '-e', join(folder, 'log'), '-c', file])
  t.after(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit')
  })
  const ping = () => sendRequest(`http://127.0.0.1:${port}`, { path: readyPath })
  while ((await ping().catch(() => undefined)) === undefined) {
    assert.equal(child.exitCode, null)
    await sleep(5)
  }
}
