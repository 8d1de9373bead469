import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { installPackages } from '../../scripts/install-packages.js'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

describe('packed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'renderer-package-'))
  const renderer = join(folder, 'renderer')
  let tarball: string
  let files: readonly string[]
  after(() => rmSync(folder, { recursive: true }))

  const run = (args: readonly string[]) =>
    execFileSync(process.execPath, args, {
      cwd: renderer,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  before(() => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const output = execFileSync('npm', args, { cwd: packageFolder, encoding: 'utf8', stdio: 'pipe' })
    // npm 12 returns an object by package name, earlier versions a list.
    const [packed] = Object.values(JSON.parse(output) as Record<string, Packed>)
    assert.ok(packed)
    files = packed.files.map(({ path }) => path)
    tarball = join(folder, packed.filename)
    const installed = join(renderer, 'node_modules/@user-group-service/renderer')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    // The packages that the package and the README import.
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })

  it('contains its license, both builds and the sources of their maps', () => {
    for (const file of ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'cjs/dist/index.js'])
      assert.ok(files.includes(file), file)
    assert.deepEqual(
      files.filter(
        (file) => !/^(LICENSE|README\.md|(cjs\/)?package\.json|(cjs\/)?dist\/.*|src\/.*\.ts)$/.test(file),
      ),
      [],
    )
    for (const map of files.filter((file) => file.endsWith('.map'))) {
      const { sources } = JSON.parse(readFileSync(join(packageFolder, map), 'utf8')) as { sources: string[] }
      for (const source of sources) assert.ok(files.includes(join(dirname(map), source)), `${map}: ${source}`)
    }
  })

  const loads = {
    'renderer.mjs': `import { compileSql } from '@user-group-service/renderer'
import { keepSession } from '@user-group-service/renderer/browser'`,
    'renderer.cjs': `const { compileSql } = require('@user-group-service/renderer')
const { keepSession } = require('@user-group-service/renderer/browser')`,
  }
  for (const [file, load] of Object.entries(loads)) {
    it(`is loaded by ${file}`, () => {
      const program = `${load}
const userGroup = { providedId: 'customer-42', name: 'A', properties: null }
console.log(compileSql('SELECT {{ user_group.provided_id }}', userGroup, { dialect: 'sqlite' }).values[0])
const fetchSession = () => Promise.reject({ status: 401 })
keepSession({ fetchSession, onToken: console.log, onEnded: () => console.log('ended') })`
      writeFileSync(join(renderer, file), program)
      const flags = ['--no-experimental-require-module', '--throw-deprecation']
      assert.equal(run([...flags, file]), 'customer-42\nended\n')
    })
  }

  /** Declarations of names that the programs use without defining them. */
  const declarations = `declare const token: string
import type { UserGroup } from '@user-group-service/renderer'
declare const openDashboards: Iterable<{
  token: string
  teamId: number
  update: (userGroup: UserGroup | null) => void
  showError: () => void
}>
declare const dashboard: { setToken: (token: string) => void; showSignIn: () => void }`

  it('the programs of the README compile under strict TypeScript', () => {
    const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8')
    const programs = [...readme.matchAll(/^```[jt]s\n([^]*?)^```/gm)]
      .map(([, program = '']) => program)
      .filter((program) => !program.startsWith('{'))
    writeFileSync(join(renderer, 'readme.mts'), `${declarations}\n${programs.join('\n')}`)
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck']
    const target = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node']
    run([join(root, 'node_modules/typescript/bin/tsc'), ...options, ...target, 'readme.mts'])
  })

  it('compiles templates without Node.js', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: "export * from '@user-group-service/renderer/templates'",
        resolveDir: renderer,
      },
      ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'neutral' },
      logLevel: 'silent',
    })
    const bundle = outputFiles[0]?.text ?? ''
    assert.match(bundle, /user_group/)
    assert.doesNotMatch(bundle, /node:|\b(Buffer|process)\b|\brequire\(/)
  })

  it('keeps sessions in a browser with less than 1 kB', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: "export * from '@user-group-service/renderer/browser'",
        resolveDir: renderer,
      },
      ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser' },
      logLevel: 'silent',
    })
    const bundle = outputFiles[0]?.text ?? ''
    assert.doesNotMatch(bundle, /node:|\b(Buffer|process)\b|\brequire\(|[sS]torage|cookie|indexedDB/)
    const { length } = gzipSync(bundle)
    assert.ok(length > 100 && length < 1000, `${length} bytes`)
  })

  it('has types for browsers without those of Node.js', () => {
    const program = `import { keepSession, type KeptSession } from '@user-group-service/renderer/browser'
const kept: KeptSession = keepSession({
  fetchSession: (signal) =>
    fetch('/dashboard-session', { method: 'POST', signal }).then((r) => (r.ok ? r.json() : Promise.reject(r))),
  onToken: (token) => token.length,
})
document.addEventListener('pagehide', kept.stop)
keepSession({ fetchSession: async () => ({ token: 'a', expiresInSeconds: 900 }), onToken: () => undefined }).stop()
// @ts-expect-error: the lifetime is missing
keepSession({ fetchSession: async () => ({ token: 'a' }), onToken: () => undefined })
// @ts-expect-error: onToken is missing
keepSession({ fetchSession: async () => ({ token: 'a', expires_in_seconds: 900 }) })`
    for (const [file, resolution] of [
      ['browser.mts', { module: 'nodenext' }],
      ['browser.ts', { module: 'esnext', moduleResolution: 'bundler' }],
    ] as const) {
      writeFileSync(join(renderer, file), program)
      const compilerOptions = {
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        // The libraries of TypeScript are correct, and their checks take most of the time.
        skipDefaultLibCheck: true,
        types: [],
        target: 'es2023',
        lib: ['es2023', 'dom'],
        ...resolution,
      }
      writeFileSync(join(renderer, 'browser.json'), JSON.stringify({ compilerOptions, files: [file] }))
      run([join(root, 'node_modules/typescript/bin/tsc'), '--project', 'browser.json'])
    }
  })

  it('leaves the introspection client out of a bundle that does not use it', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: "export { compileSql } from '@user-group-service/renderer'",
        resolveDir: renderer,
      },
      ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'node', logLevel: 'silent' },
    })
    assert.doesNotMatch(outputFiles[0]?.text ?? '', /node:|oauth2/)
  })

  it('passes publint and attw', () => {
    const checks = installPackages('tools/checks')
    const output = execFileSync(process.execPath, ['check-package.js', tarball], {
      cwd: checks,
      encoding: 'utf8',
    })
    assert.deepEqual(JSON.parse(output), { publint: [], attw: [] })
  })
})
