import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import { freshDatabase } from '../../server/test/support/database.ts'
import { dialects } from '../src/sql/dialects.ts'
import { realDatabases } from './databases.ts'
import { active, json, serve } from './introspection-server.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(folder, 'README.md'), 'utf8')

const sales = `
  CREATE TABLE sales (customer text, region text, month int, amount int);
  INSERT INTO sales VALUES ('customer-42', 'EU', 1, 10), ('customer-42', 'US', 1, 1), ('customer-42', 'EU', 2, 20),
    ('customer-42', 'Asia', 2, 400), ('customer-43', 'EU', 1, 8000);
`

it('the programs of the README work with the built package', async (t) => {
  const response = { ...active, properties: { regions: ['EU', 'US'] } }
  const { url, received } = await serve(t, json(response))
  const DATABASE_URL = await freshDatabase(t)
  const client = new Client(DATABASE_URL)
  await client.connect()
  await client.query(sales)
  await client.end()
  const temporary = mkdtempSync(join(tmpdir(), 'renderer-readme-'))
  t.after(() => rmSync(temporary, { recursive: true }))
  const SALES_FILE = join(temporary, 'sales.db')
  new BetterSqlite3(SALES_FILE).exec(sales).close()

  const programs = [...readme.matchAll(/^```js\n([^]*?)^```/gm)]
    .map(([, program = '']) => program)
    .filter((program) => !program.startsWith('{'))
  assert.equal(programs.length, 11)
  const program = [
    "const token = 'ugt_customer_x'",
    'const openDashboards = []',
    ...programs.map((program) => program.replace('http://127.0.0.1:8080/oauth2/introspect', url)),
    'const isLeased = (await leasedClient.introspect(token)) !== null',
    'leasedClient.close()',
    'const pair = [await cachingClient.introspect(token), await cachingClient.introspect(token)]',
    'console.log(JSON.stringify({ userGroup, text, values, rows, total, title, isLeased, isCached: pair[0] === pair[1] }))',
  ].join('\n')
  const result = JSON.parse(
    await run(program, { DATABASE_URL, SALES_FILE, UGS_API_TOKEN: 'uga_customer_x' }),
  ) as Record<string, unknown>

  assert.match(
    result.text as string,
    /WHERE \(customer = \$1 AND \(customer\)::text COLLATE "C" = \$2\)\s+AND \(region IN \(\$3, \$4\) AND /,
  )
  assert.deepEqual(result.values, ['customer-42', 'customer-42', 'EU', 'US', 'EU', 'US'])
  assert.deepEqual(result.rows, [
    { month: 1, amount: '11' },
    { month: 2, amount: '20' },
  ])
  assert.deepEqual(result.total, { amount: 431 })
  assert.equal(result.title, 'Sales of Example customer')
  assert.deepEqual({ ...(result.userGroup as object), properties: { region: 'EU' } }, documentedUserGroup())
  assert.deepEqual([result.isLeased, result.isCached], [true, true])
  assert.equal(received.filter(({ url }) => url === '/oauth2/introspect').length, 4)
})

it('the table of dialects matches the code', () => {
  const rows = [...readme.matchAll(/^\| `(\w+)` +\| `(\S+)` +\| +(\d+) \| (run|compiled, not run) +\|/gm)]
  assert.deepEqual(
    rows.map(([, name, placeholder, maxValues, tests]) => [name, placeholder, Number(maxValues), tests]),
    Object.entries(dialects).map(([name, { placeholder, maxValues }]) => [
      name,
      placeholder(1, ''),
      maxValues,
      realDatabases.some((real) => real === name) ? 'run' : 'compiled, not run',
    ]),
  )
})

function documentedUserGroup(): unknown {
  const [, shown = ''] = /^```js\n(\{[^]*?^\})\n```/m.exec(readme) ?? []
  const json = shown
    .replace(/ *\/\/.*$/gm, '')
    .replace(/(\w+):/g, '"$1":')
    .replaceAll("'", '"')
    .replace(/,(\s*\})/g, '$1')
  return JSON.parse(json)
}

/** Runs as a module of this package, which can import the package by name. */
async function run(program: string, environment: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...environment },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, stderr)
  return stdout
}
