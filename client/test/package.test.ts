import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { installPackages } from '../../scripts/install-packages.js'
import { temporaryFolder } from '../../server/test/support/service.ts'
import { runNode } from './support/programs.ts'
import { created, fault, json, serve, type ScriptedServer } from './support/scripted-server.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
/** The libraries of TypeScript are correct, and their checks take most of the time. */
const strict = ['--noEmit', '--strict', '--skipDefaultLibCheck']

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

describe('packed package', () => {
  let folder: string
  let tarball: string
  let files: readonly string[]
  /** Folder of a backend that installed the package. */
  let backend: string
  const cleanups: (() => void | Promise<void>)[] = []
  after(async () => {
    for (const done of cleanups) await done()
  })

  before(() => {
    folder = temporaryFolder({ after: (done) => cleanups.push(done) })
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const output = execFileSync('npm', args, { cwd: packageFolder, encoding: 'utf8', stdio: 'pipe' })
    // npm 12 returns an object by package name, earlier versions a list.
    const [packed] = Object.values(JSON.parse(output) as Record<string, Packed>)
    assert.ok(packed)
    files = packed.files.map(({ path }) => path).sort()
    tarball = join(folder, packed.filename)
    backend = join(folder, 'backend')
    const installed = join(backend, 'node_modules/@user-group-service/client')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  })

  it('contains the build output, its sources and nothing else', () => {
    const modules = files.filter((file) => file.endsWith('.js')).map((file) => file.replace(/\.js$/, ''))
    const sources = readdirSync(join(packageFolder, 'src')).map((file) => `src/${file}`)
    assert.ok(modules.includes('dist/index') && modules.includes('cjs/dist/index'))
    assert.deepEqual(
      files,
      [
        ...['LICENSE', 'README.md', 'cjs/package.json', 'package.json', ...sources],
        ...modules.flatMap((module) => ['.js', '.js.map', '.d.ts'].map((ending) => module + ending)),
      ].sort(),
    )
  })

  it('has source maps that point into the package', () => {
    for (const map of files.filter((file) => file.endsWith('.map'))) {
      const { sources } = JSON.parse(readFileSync(join(packageFolder, map), 'utf8')) as { sources: string[] }
      for (const source of sources) assert.ok(files.includes(join(dirname(map), source)), `${map}: ${source}`)
    }
  })

  it('leaves the management API out of a bundle that does not use it', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: "export { UserGroupClient } from '@user-group-service/client'",
        resolveDir: backend,
      },
      ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'neutral' },
      ...{ external: ['node:*'], conditions: ['node'] },
    })
    const bundle = outputFiles[0]?.contents ?? new Uint8Array()
    assert.doesNotMatch(Buffer.from(bundle).toString(), /admin\/v1|AdminUserGroup/)
    assert.ok(gzipSync(bundle).length < 5500, `${gzipSync(bundle).length} bytes`)
  })

  it('has no dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as object
    assert.equal('dependencies' in manifest || 'peerDependencies' in manifest, false)
  })

  const programs = {
    'an ES module imports it': {
      file: 'backend.mjs',
      load: "import { ServiceError, UserGroupClient, UserGroupManagement } from '@user-group-service/client'",
    },
    'CommonJS requires it': {
      file: 'backend.cjs',
      load: "const { ServiceError, UserGroupClient, UserGroupManagement } = require('@user-group-service/client')",
    },
  }
  for (const [name, { file, load }] of Object.entries(programs)) {
    it(name, async (t) => {
      const page = json({ success: 1, user_groups: [], next_cursor: null })
      const server: ScriptedServer = await serve(t, json(created), fault(404, 'user_group_not_found'), page)
      writeFileSync(
        join(backend, file),
        `${load}
const client = new UserGroupClient({ origin: process.env.ORIGIN, apiToken: 'uga_testing_x' })
client.getOrCreate({ userGroupId: 'customer-42', name: 'A' }).then(async ({ userGroup }) => {
  const error = await client.update({ userGroupId: 'a' }).catch((error) => error)
  console.log(userGroup.providedId, error instanceof ServiceError, error.code)
  const management = new UserGroupManagement({ origin: process.env.ORIGIN, apiToken: 'uga_testing_x' })
  for await (const { name } of management.searchUserGroups()) console.log(name)
})
`,
      )
      const args = ['--no-experimental-require-module', '--throw-deprecation', file]
      const output = await runNode(args, backend, { ORIGIN: server.origin })
      assert.equal(output, 'customer-42 true user_group_not_found\n')
      assert.deepEqual(
        server.received.map(({ method }) => method),
        ['GET', 'PUT', 'GET'],
      )
    })
  }

  it('provides types to both module systems under strict checks', async () => {
    const program = (load: string) => `${load}
const client = new UserGroupClient({ origin: 'http://localhost', apiToken: 'uga_testing_x' })
async function tokenOf(name: string | undefined): Promise<string> {
  try {
    const { newUserGroup, userGroup } = await client.getOrCreate({ userGroupId: 'a', name, properties: { a: [1] } })
    const isNew: boolean = newUserGroup
    return isNew ? userGroup.token : (await client.update({ userGroupId: 'a', mapping: null })).environment
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'token_superseded') return error.requestId
    // @ts-expect-error: unknown code
    if (error instanceof ServiceError && error.code === 'token_superceded') return ''
    throw error
  }
}
const management = new UserGroupManagement({ origin: 'http://localhost', apiToken: 'uga_testing_x' })
async function revisions(): Promise<number[]> {
  const all: number[] = []
  for await (const { revision } of management.searchUserGroups({ propertyValue: 5 })) all.push(revision)
  const leaked = await management.reportLeakedToken({ token: 'a' })
  if (leaked.kind === 'user_group_token') all.push(leaked.userGroup.revision)
  // @ts-expect-error: exists only for a user group token
  void leaked.userGroup
  return all
}
void revisions
// @ts-expect-error: unknown scope
void management.createApiToken({ name: 'a', scopes: ['write', 'root'] })
// @ts-expect-error: mapping values are strings
void client.update({ userGroupId: 'a', mapping: { 40: 213 } })
// @ts-expect-error: unknown field
void client.update({ userGroupId: 'a', colour: 'red' })
interface Plan { readonly region: string; readonly seats?: number }
const plan: Plan = { region: 'EU' }
void client.update({ userGroupId: 'a', properties: plan })
// @ts-expect-error: properties are an object
void client.update({ userGroupId: 'a', properties: ['EU'] })
// @ts-expect-error: properties are an object
void client.update({ userGroupId: 'a', properties: () => plan })
// @ts-expect-error: properties are a JSON object
void client.update({ userGroupId: 'a', properties: new Date() })
void tokenOf
interface Profile { readonly role: string }
const profile: Profile = { role: 'manager' }
const narrow = { properties: { regions: ['EU', 7, null] }, schemas: ['sales'] } as const
const session: Promise<{ readonly token: string; readonly expiresAt: number }> = client.createSession(
  'a', { id: 'u-7', name: undefined, properties: profile, timeZone: 'Europe/Berlin' }, { narrow, resources: ['a'] },
)
void session
// @ts-expect-error: a viewer has an id
void client.createSession('a', { name: 'Ada' })
// @ts-expect-error: unknown member of a viewer
void client.createSession('a', { id: 'u-7', time_zone: 'Europe/Berlin' })
// @ts-expect-error: values of narrowed properties are in lists
void client.createSession('a', { id: 'u-7' }, { narrow: { properties: { region: 'EU' } } })
const nothing: Promise<void> = client.endSessions('a', undefined, { deadlineMs: 1000 })
void nothing
`
    const names = '{ ServiceError, UserGroupClient, UserGroupManagement }'
    writeFileSync(join(backend, 'types.mts'), program(`import ${names} from '@user-group-service/client'`))
    const required = `import client_ = require('@user-group-service/client')\nconst ${names} = client_\n`
    writeFileSync(join(backend, 'types.cts'), program(required))
    for (const name of ['@types/node', 'undici-types']) {
      const source = dirname(require.resolve(`${name}/package.json`))
      cpSync(source, join(backend, 'node_modules', name), { recursive: true })
    }
    const options = [...strict, '--exactOptionalPropertyTypes', '--module', 'nodenext']
    const tsc = require.resolve('typescript/bin/tsc')
    await runNode([tsc, ...options, '--types', 'node', 'types.mts', 'types.cts'], backend)
  })

  it('has types that need no types of Node.js', async () => {
    const program = `import { UserGroupClient } from '@user-group-service/client'
export const client = new UserGroupClient({ origin: 'http://localhost', apiToken: 'uga_testing_x' })
// @ts-expect-error: not an agent
export const other = new UserGroupClient({ origin: 'http://localhost', apiToken: 'uga_testing_x', agent: {} })
`
    writeFileSync(join(backend, 'worker.ts'), program)
    const options = [...strict, '--module', 'esnext', '--moduleResolution', 'bundler']
    const tsc = require.resolve('typescript/bin/tsc')
    await runNode([tsc, ...options, '--lib', 'es2023,dom', 'worker.ts'], backend)
  })

  it('passes publint and attw', async () => {
    const folder = installPackages('tools/checks')
    const output = await runNode(['check-package.js', tarball], folder)
    assert.deepEqual(JSON.parse(output), { publint: [], attw: [] })
  })
})
