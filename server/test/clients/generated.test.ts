import assert from 'node:assert/strict'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../../scripts/install-packages.js'
import { createApiToken } from '../support/command.ts'
import { sharedService, temporaryFolder, type RunningService } from '../support/service.ts'
import { shortRun } from './go-and-java.ts'
import { findTool } from '../support/tool.ts'
import { runProgram } from './program.ts'

// Generators and compilers run as a user runs them, on the document that the service serves.
describe('a client generated from the OpenAPI document', () => {
  const service = sharedService()

  it('in TypeScript calls the service', async (t) => {
    const folder = await folderWithDocument(t, service())
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'client.ts'), typescriptClient)
    const types = join(folder, 'openapi.ts')
    await runPackage(folder, 'openapi-typescript/bin/cli.js', join(folder, 'openapi.json'), '--output', types)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await runPackage(folder, 'typescript/bin/tsc', '--project', folder)
    const files = { imported: 2, exported: ['First', 'Zweite Größe'] }
    await assertCalls('typescript', service(), files, process.execPath, join(folder, 'client.js'))
  })

  it('in Java calls the service', async (t) => {
    const tool = findTool(t, {
      name: 'A JDK, RESTEasy or the annotations of Swagger',
      hint: 'apt-get install default-jdk-headless libresteasy3.0-java libswagger-core-java',
      commands: ['javap'],
      probe: ['-cp', javaLibraries, 'org.jboss.resteasy.client.jaxrs.ResteasyClient', `${swagger}.Operation`],
    })
    if (tool === undefined) return
    const folder = await folderWithDocument(t, service())
    const configuration = join(folder, 'generator.yml')
    writeFileSync(configuration, javaGenerator(folder))
    await runPackage(folder, 'openapi-generator-plus/bin/ogplus.js', '-c', configuration)
    removeNewAnnotations(join(folder, 'java'))
    const program = fileURLToPath(new URL('GeneratedClient.java', import.meta.url))
    const classes = join(folder, 'classes')
    const sources = ['-encoding', 'UTF-8', '-sourcepath', join(folder, 'java'), program]
    await runProgram('javac', [
      ...shortRun.map((option) => `-J${option}`),
      '-proc:none',
      '-nowarn',
      '-cp',
      javaLibraries,
      '-d',
      classes,
      ...sources,
    ])
    await assertCalls(
      'java',
      service(),
      {},
      'java',
      ...shortRun,
      '-cp',
      `${javaLibraries}:${classes}`,
      'GeneratedClient',
    )
  })
})

/** Returns a new folder with the document, in which the packages of `tools/checks` are installed. */
async function folderWithDocument(t: TestContext, { origin }: RunningService): Promise<string> {
  const folder = temporaryFolder(t)
  symlinkSync(join(installPackages('tools/checks'), 'node_modules'), join(folder, 'node_modules'))
  const response = await fetch(`${origin}/openapi.json`)
  writeFileSync(join(folder, 'openapi.json'), await response.text())
  return folder
}

/** Runs a script of an installed package. */
const runPackage = (folder: string, script: string, ...args: string[]) =>
  runProgram(process.execPath, [join(folder, 'node_modules', script), ...args])

/** Runs a client, which gets the origin and an API token as arguments, and checks what it received. */
async function assertCalls(
  id: string,
  service: RunningService,
  more: object,
  command: string,
  ...args: string[]
) {
  const token = await createApiToken(service, 'Testing', '--scopes', 'write,introspect,admin')
  const stdout = await runProgram(command, [...args, service.origin, token])
  assert.deepEqual(JSON.parse(stdout), {
    created: true,
    properties: { plan: 'gold' },
    updated: 'Renamed',
    rotated: true,
    active: id,
    superseded: false,
    managed: 'Renamed',
    ...more,
    error: 'user_group_not_found',
  })
}

const compilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'nodenext', skipLibCheck: true },
}

const typescriptClient = `
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.js'

declare const process: { argv: string[] }
const [, , baseUrl = '', apiToken] = process.argv
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Token \${apiToken}\` } })

type Result<T> = { data?: T; error?: unknown }
function dataOf<T>({ data, error }: Result<T>): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const body = { user_group_id: 'typescript', name: '顧客', properties: { plan: 'gold' } }
const created = dataOf(await client.POST('/api/user/get-or-create', { body }))
const renamed = { user_group_id: 'typescript', name: 'Renamed' }
const updated = dataOf(await client.POST('/api/user/update', { body: renamed }))

const { team_id, token } = created.user_group
const rotate = async () => {
  const header = { 'Idempotency-Key': 'key-of-typescript' }
  const rotation = { params: { header }, body: { current_token: token } }
  return dataOf(await client.POST('/api/user/rotate-token', rotation)).user_group.token
}
const rotated = await rotate()
const retried = await rotate()

const introspect = async (token: string) => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  return dataOf(await client.POST('/oauth2/introspect', { body: { token }, headers }))
}
const active = await introspect(rotated)
const superseded = await introspect(token)

const path = { team_id }
const managed = dataOf(await client.GET('/admin/v1/user-groups/{team_id}', { params: { path } }))

const rows = '{"user_group_id":"row 1","name":"First"}\\n{"user_group_id":"row 2","name":"Zweite Größe"}\\n'
const file = { body: rows, headers: { 'Content-Type': 'application/x-ndjson' }, parseAs: 'text' } as const
const bodySerializer = (body: string) => body
const imported = dataOf(await client.POST('/admin/v1/user-groups/import', { ...file, bodySerializer }))
const exported = dataOf(await client.GET('/admin/v1/user-groups/export', { parseAs: 'text' }))
// The types must be those of texts.
const rowsIn = (text: string) => text.trim().split('\\n').map((line) => JSON.parse(line))

const { error } = await client.POST('/api/user/update', { body: { user_group_id: 'unknown' } })
const code: components['schemas']['ErrorResponse']['error']['code'] | undefined = error?.error.code

console.log(
  JSON.stringify({
    created: created.new_user_group,
    properties: created.user_group.properties,
    updated: updated.user_group.name,
    rotated: rotated !== token && rotated === retried,
    active: active.active && active.sub,
    superseded: superseded.active,
    managed: managed.user_group.name,
    imported: rowsIn(imported).at(-1).summary.created,
    exported: rowsIn(exported).filter(({ user_group_id: id }) => id.startsWith('row ')).map(({ name }) => name),
    error: code,
  }),
)

// Wrong names must not compile. The compiler reports each of these comments that is not needed.
export const mistakes = () => {
  // @ts-expect-error
  client.POST('/api/user/update', { body: { user_group_ID: 'typescript' } })
  // @ts-expect-error
  client.POST('/api/user/updat', { body: renamed })
  // @ts-expect-error
  console.log(created.user_group.tokn, error?.error.cod)
}
`

const javaGenerator = (folder: string) => `
inputPath: openapi.json
outputPath: java
generator: ${folder}/node_modules/@openapi-generator-plus/java-jaxrs-client-generator
package: com.example
useBeanValidation: false
dateTimeImplementation: java.lang.String
`

const swagger = 'io.swagger.v3.oas.annotations'
const javaLibraries = [
  ...['commons-io', 'commons-logging', 'geronimo-annotation-1.3-spec', 'httpclient', 'httpcore'],
  ...['jackson-annotations', 'jackson-core', 'jackson-databind', 'jackson-jaxrs-base'],
  ...[
    'jackson-jaxrs-json-provider',
    'jackson-module-jaxb-annotations',
    'jaxb-api',
    'jaxrs-api',
    'jboss-logging',
  ],
  ...['resteasy-client', 'resteasy-jaxrs', 'swagger-annotations'],
]
  .map((name) => `/usr/share/java/${name}.jar`)
  .join(':')

/** Removes an attribute of annotations that Debian's version of Swagger does not have. It does not affect clients. */
function removeNewAnnotations(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(, )?requiredMode = [\w.]+/g, ''))
  }
}
