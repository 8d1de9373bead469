import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { failureIn, runUgsInNewProcess, temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder({ after })

/** Returns options of Node.js that run code before the program. */
function before(name: string, code: string): { NODE_OPTIONS: string } {
  const file = join(folder, `${name}.cjs`)
  writeFileSync(file, code)
  return { NODE_OPTIONS: `--require=${file}` }
}

/** Makes the native module fail to load, as Node.js reports it. */
function failing(name: string, message: string, code?: string): { NODE_OPTIONS: string } {
  const error = `Object.assign(new Error(${JSON.stringify(message)}), ${JSON.stringify({ code })})`
  return before(
    name,
    `const Module = require('node:module')
     const load = Module._load
     Module._load = (name, ...rest) => { if (name === 'bindings') throw ${error}; return load(name, ...rest) }`,
  )
}

const major = process.versions.node.split('.')[0]
const remedy = (rest: string) =>
  `: run \`npm rebuild better-sqlite3${rest}, or set DATABASE_URL to PostgreSQL`
const faults = {
  'was not built': {
    settings: failing('missing', 'Could not locate the bindings file. Tried:\n → /app/better_sqlite3.node'),
    problem: `better-sqlite3 is not built for Node ${major}${remedy('` (pnpm: `pnpm approve-builds`)')}`,
  },
  'was built for another Node.js': {
    settings: failing(
      'other-node',
      "The module '/app/better_sqlite3.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 1.",
      'ERR_DLOPEN_FAILED',
    ),
    problem: `better-sqlite3 is not built for Node ${major}${remedy('` (pnpm: `pnpm rebuild better-sqlite3`)')}`,
  },
  'was built for another C library': {
    settings: failing(
      'other-library',
      "/lib/libm.so.6: version `GLIBC_2.38' not found (required by /app/better_sqlite3.node)\n",
      'ERR_DLOPEN_FAILED',
    ),
    problem: `better-sqlite3 is not built for this system (/lib/libm.so.6: version \`GLIBC_2.38' not found (required by /app/better_sqlite3.node))${remedy(' --build-from-source`')}`,
  },
}

describe('a native module', () => {
  for (const [name, { settings, problem }] of Object.entries(faults)) {
    it(`that ${name} is named with its remedy`, async () => {
      const data = join(folder, 'data')
      const { code, stderr } = await runUgsInNewProcess(['serve'], {
        ...settings,
        PORT: '0',
        UGS_DATA_DIR: data,
      })
      assert.deepEqual([code, failureIn(stderr)], [1, `${data}/ugs.db: ${problem}`])
      assert.ok(!existsSync(join(data, 'ugs.db')))
    })
  }

  it('that does not load is a finding of doctor', async () => {
    const settings = { ...faults['was not built'].settings, UGS_DATA_DIR: folder }
    writeFileSync(join(folder, 'ugs.db'), '')
    const { code, stdout } = await runUgsInNewProcess(['doctor'], settings)
    assert.equal(code, 1)
    assert.match(stdout, /better-sqlite3 is not built for Node \d+\.\n +Run `npm rebuild better-sqlite3`/)
  })
})

describe('an old Node.js', () => {
  const bin = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../bin/${name}`, import.meta.url)), 'utf8')

  it('can parse the commands', () => {
    // A script has no import declarations and no await, which the oldest versions do not know.
    for (const name of ['ugs.js', 'serve.js']) assert.ok(new Script(bin(name).replace(/^#!.*/, '')))
  })

  for (const version of ['18.20.8', '20.18.3'])
    it(`gets one sentence: ${version}`, async () => {
      const settings = before(
        'old',
        `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
      )
      const { code, stdout, stderr } = await runUgsInNewProcess(['--version'], settings)
      assert.deepEqual(
        [code, stdout, stderr],
        [1, '', `ugs: needs Node.js 20.19 or newer, but this is ${version}\n`],
      )
    })
})

describe('a defect', () => {
  const program = (statement: string) =>
    before('defect', `setImmediate(() => process.once('beforeExit', () => { ${statement} }))`)

  it('is reported with its message, unless it may quote a secret', async () => {
    const outputs: Record<string, string> = {
      'throw new TypeError("x is not a function")': 'ugs: internal error: x is not a function (TypeError)\n',
      "require('node:fs').readFileSync('/absent/file')":
        "ugs: ENOENT: no such file or directory, open '/absent/file'\n",
      'JSON.parse(`hunter2`)': 'ugs: internal error (SyntaxError)\n',
    }
    for (const [statement, output] of Object.entries(outputs)) {
      const { code, stderr } = await runUgsInNewProcess(['completion', 'bash'], program(statement))
      assert.deepEqual([code, stderr], [1, output])
    }
  })
})
