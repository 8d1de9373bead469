import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort, takesConnections } from './port.ts'
import type { Scope } from './scope.ts'
import { temporaryFolder } from './service.ts'
import type { Tool } from './tool.ts'

const modulesFolder = '/usr/lib/apache2/modules'

const moduleOf = (name: string) => `LoadModule ${name}_module ${modulesFolder}/mod_${name}.so`

export const apache: Tool = {
  name: 'Apache with mod_oauth2',
  hint: 'apt-get install apache2 libapache2-mod-oauth2',
  commands: ['apache2', '/usr/sbin/apache2'],
  probe: [
    '-t',
    ...['ErrorLog /dev/null', ...['mpm_event', 'oauth2'].map(moduleOf)].flatMap((line) => ['-C', line]),
    ...['-f', '/dev/null'],
  ],
}

export interface Gateway {
  readonly origin: string
  /** Headers of the requests that reached the application behind Apache. */
  readonly passed: readonly IncomingHttpHeaders[]
}

/**
 * Starts an Apache that forwards a request to `/protected` only with a token that introspection reports as active, with the
 * claims as headers. Its cache is off.
 */
export async function startGateway(
  t: Scope,
  command: string,
  introspection: { readonly endpoint: string; readonly clientId: string; readonly clientSecret: string },
): Promise<Gateway> {
  const passed: IncomingHttpHeaders[] = []
  const backend = createServer((request, response) => {
    passed.push(request.headers)
    response.end('from behind')
  }).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  t.after(() => {
    backend.close()
    backend.closeAllConnections()
  })

  const folder = temporaryFolder(t)
  const port = await freePort()
  const parameters = new URLSearchParams({
    'introspect.auth': 'client_secret_basic',
    client_id: introspection.clientId,
    client_secret: introspection.clientSecret,
    // Time that a response is cached, in seconds.
    expiry: '0',
  })
  const file = join(folder, 'apache.conf')
  writeFileSync(
    file,
    `ServerRoot "${folder}"
ServerName localhost
Listen 127.0.0.1:${port}
PidFile "${folder}/pid"
ErrorLog "${folder}/error.log"
# Of nobody, where it is started as root.
User "#65534"
Group "#65534"
${['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'proxy', 'proxy_http', 'oauth2'].map(moduleOf).join('\n')}
<Location /protected>
  AuthType oauth2
  Require valid-user
  OAuth2TokenVerify introspect ${introspection.endpoint} ${parameters.toString()}
  ProxyPass http://127.0.0.1:${(backend.address() as AddressInfo).port}/
</Location>
`,
  )
  // One process in the foreground, so that every signal ends all of it.
  const child = spawn(command, ['-X', '-f', file], {
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
    if (child.exitCode !== null) throw new Error(`Apache has ended: ${output}`)
  }
  return { origin: `http://127.0.0.1:${port}`, passed }
}
