import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { runProgram } from '../clients/program.ts'
import { createApiToken } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { metricsUrlOf } from '../support/metrics.ts'
import { freshRole } from '../support/role.ts'
import { startService, temporaryFolder, type RunningService } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { curl, findTool } from '../support/tool.ts'
import { readBlocks } from './blocks.ts'
import { runShell } from './shell.ts'
import { repository } from './support.ts'

const psql = { name: 'psql', hint: 'apt-get install postgresql', commands: ['psql'], probe: ['--version'] }
const promtool = {
  name: 'promtool',
  hint: 'apt-get install prometheus',
  commands: ['promtool'],
  probe: ['--version'],
}
const sales = `
  CREATE TABLE sales (customer text, month integer, amount integer);
  INSERT INTO sales VALUES ('customer-42', 1, 10), ('customer-42', 2, 20), ('customer-43', 1, 8000),
    ('sub-1', 1, 100), ('sub-2', 1, 200), ('sub-3', 1, 400)`
const salesQuery = 'SELECT sum(amount) AS amount FROM sales WHERE customer = {{ user_group.provided_id }}'

it('the README: the first request gets the documented response', async (t) => {
  if (findTool(t, curl) === undefined) return
  const [request, response] = readBlocks('README.md', 'First request', 2)
  const service = await startService(t)
  const output = await runShell(
    local(request, service).replace('uga_testing_…', service.tokens.Testing),
    temporaryFolder(t),
  )
  const parse = (json: string): unknown => JSON.parse(json.replace(/ugt_\w+/, 'token'))
  assert.deepEqual(parse(output), parse(response))
})

it('docs/embed-a-dashboard.md: a dashboard stops as soon as its viewer is cut off', async (t) => {
  const [createTokens] = readBlocks('docs/embed-a-dashboard.md', '1. Create API tokens', 1)
  const [backend] = readBlocks('docs/embed-a-dashboard.md', '2. Your backend creates sessions', 1)
  const [renderer] = readBlocks('docs/embed-a-dashboard.md', '4. The renderer runs the queries', 1)
  const [cutOff] = readBlocks('docs/embed-a-dashboard.md', '5. Cut somebody off', 1)
  const service = await startService(t)
  const settings = { UGS_DATA_DIR: service.dataFolder }
  const folder = programFolder(t, {
    'backend.mjs': local(backend, service),
    'renderer.mjs': local(renderer, service),
    'main.mjs': `
      import { execFileSync } from 'node:child_process'
      const once = (source, name) => new Promise((resolve) => source.on(name, resolve))
      process.env.UGS_API_TOKEN = process.env.BACKEND_TOKEN
      const { saveCustomer, createSession } = await import('./backend.mjs')
      process.env.UGS_API_TOKEN = process.env.RENDERER_TOKEN
      const { introspection, salesOf } = await import('./renderer.mjs')
      await saveCustomer({ id: 'customer-42', name: 'Example customer', region: 'EU' })
      const { token } = await createSession({ customerId: 'customer-42', id: 'u-7', name: 'Ada' })
      // The renderer package does not keep a process alive.
      const alive = setInterval(() => {}, 1000)
      const connected = once(introspection, 'connected')
      console.log(JSON.stringify(await salesOf(token)))
      await connected
      const changed = once(introspection, 'event')
      execFileSync('sh', ['-euc', process.env.CUT_OFF])
      await changed
      console.log(JSON.stringify(await salesOf(token)))
      clearInterval(alive)
      introspection.close()`,
  })
  const [backendToken = '', rendererToken = ''] = (await runShell(createTokens, folder, settings)).split('\n')
  const output = await runProgram('sh', ['-euc', `cd '${folder}' && '${process.execPath}' main.mjs`], '', {
    ...settings,
    BACKEND_TOKEN: backendToken,
    RENDERER_TOKEN: rendererToken,
    CUT_OFF: cutOff.replaceAll('npx ugs', `'${process.execPath}' '${join(repository, 'server/bin/ugs.js')}'`),
  })
  assert.equal(output, '[{"month":1,"amount":10},{"month":2,"amount":20}]\nnull\n')
})

it('docs/isolate-customers.md: checks and probes queries', async (t) => {
  const [check, configuration, probe] = readBlocks('docs/isolate-customers.md', 'By queries', 3)
  const folder = programFolder(t, { 'check.mjs': check, 'isolation.json': configuration })
  await runProgram(process.execPath, [join(folder, 'check.mjs')])
  const forgotten = check.replace(' WHERE customer = {{ user_group.provided_id }}', '')
  writeFileSync(join(folder, 'check.mjs'), forgotten)
  await assert.rejects(runProgram(process.execPath, [join(folder, 'check.mjs')]), /missing_variable/)

  const template = join(folder, 'dashboards/sales.sql')
  writeFileSync(template, salesQuery)
  assert.match(await runShell(probe, folder), /^ok {5}dashboards\/sales\.sql/)
  writeFileSync(template, 'SELECT sum(amount) AS amount FROM sales')
  await assert.rejects(runShell(probe, folder), /LEAK {3}dashboards\/sales\.sql/)
})

it('docs/isolate-customers.md: sets up row-level security, and verifies it', async (t) => {
  if (findTool(t, psql) === undefined) return
  const [, configuration] = readBlocks('docs/isolate-customers.md', 'By queries', 3)
  const [setUp, verify] = readBlocks('docs/isolate-customers.md', 'By row-level security', 2)
  const ADMIN_DATABASE_URL = await freshDatabase(t)
  const DATABASE_URL = await freshRole(t, ADMIN_DATABASE_URL)
  const admin = await openSession(t, ADMIN_DATABASE_URL)
  await admin.query(sales)
  const { username } = new URL(DATABASE_URL)
  const folder = programFolder(t, {
    'isolation.json': JSON.stringify({ ...JSON.parse(configuration), role: username }),
  })
  const roleExists = "sed -i '/^CREATE ROLE/d' rls.sql"
  await runShell(setUp.replace('\npsql', `\n${roleExists}\npsql`), folder, { ADMIN_DATABASE_URL })
  await runShell(verify, folder, { DATABASE_URL })
  await admin.query('ALTER TABLE sales DISABLE ROW LEVEL SECURITY')
  await assert.rejects(runShell(verify, folder, { DATABASE_URL }), /WRONG/)
})

it('docs/isolate-customers.md: finds the database of a customer', async (t) => {
  if (findTool(t, curl) === undefined) return
  const [register, map, find] = readBlocks('docs/isolate-customers.md', 'A database for each customer', 3)
  const service = await startService(t, { UGS_MAPPING: 'registered' })
  const folder = programFolder(t, {
    'find.mjs': find,
    'main.mjs': `
      import { databaseOf } from './find.mjs'
      import { introspect } from './introspect.mjs'
      const userGroup = await introspect()
      console.log(databaseOf(userGroup).prepare('SELECT owner FROM warehouse').pluck().get())
      try { databaseOf({ ...userGroup, dataSources: {} }) } catch (error) { console.log(error.message) }`,
  })
  new BetterSqlite3(join(folder, 'customer-42.db'))
    .exec("CREATE TABLE warehouse (owner text); INSERT INTO warehouse VALUES ('customer-42')")
    .close()
  await runShell(register, folder, { UGS_DATA_DIR: service.dataFolder })
  const token = tokenIn(
    await runShell(local(map, service), folder, { UGS_API_TOKEN: service.tokens.Customer }),
  )
  assert.equal(
    await introspectIn(folder, service, token),
    'customer-42\nThis customer has no database. Show no dashboard.\n',
  )
})

it('docs/holding.md: a holding sees its subsidiaries, and a session some of them', async (t) => {
  if (findTool(t, curl) === undefined) return
  const [create] = readBlocks('docs/holding.md', 'Give each user group its list', 1)
  const [query, configuration] = readBlocks('docs/holding.md', 'Write queries with `IN`', 2)
  const [narrow] = readBlocks('docs/holding.md', 'Show a person some of them', 1)
  const service = await startService(t)
  const folder = programFolder(t, {
    'isolation.json': configuration,
    'dashboards/sales.sql': query,
    'main.mjs': `
      import { readFileSync } from 'node:fs'
      import { compileSql } from '@user-group-service/renderer'
      import Database from 'better-sqlite3'
      import { introspect } from './introspect.mjs'
      const template = readFileSync('dashboards/sales.sql', 'utf8')
      const { text, values } = compileSql(template, await introspect(), { dialect: 'sqlite' })
      console.log(new Database('sales.db').prepare(text).pluck().all(values).join(' '))`,
  })
  const output = await runShell(local(create, service), folder, { UGS_API_TOKEN: service.tokens.Customer })
  const [, subsidiary = '', holding = ''] = output.match(/ugt_customer_\w+/g) ?? []
  const session = await runShell(narrow, folder, { UGS_DATA_DIR: service.dataFolder })
  const seen = []
  for (const token of [holding, subsidiary, session.trim()])
    seen.push(await introspectIn(folder, service, token))
  assert.deepEqual(seen, ['sub-1 sub-2\n', 'sub-2\n', 'sub-2\n'])
  const probed = await runShell('npx ugs-isolation probe', folder, { DATABASE_URL: 'sqlite:sales.db' })
  assert.match(probed, /^ok {5}dashboards\/sales\.sql/)
})

it('docs/go-to-production.md: each line succeeds', async (t) => {
  const tools = [curl, promtool].map((tool) => findTool(t, tool))
  if (tools.includes(undefined)) return
  const folder = programFolder(t, {})
  symlinkSync(join(repository, 'deploy'), join(folder, 'deploy'))
  mkdirSync(join(folder, 'backups'))
  const service = await startService(t, { UGS_METRICS_PORT: '0' })
  const metrics = metricsUrlOf(service).origin
  const run = (block: string) =>
    runShell(
      local(block, service)
        .replaceAll('/backups', join(folder, 'backups'))
        .replaceAll('http://127.0.0.1:9464', metrics),
      folder,
      { UGS_DATA_DIR: service.dataFolder, UGS_SECRET_KEYS_FILE: join(service.dataFolder, 'secret-keys') },
    )

  const [keys, backup] = readBlocks('docs/go-to-production.md', 'Store and keys', 2)
  assert.match(await run(keys), /^v\d+\.\d+\.\d+\n/)
  await run(backup)
  const [tokens] = readBlocks('docs/go-to-production.md', 'API tokens', 1)
  assert.match(await run(tokens), /^(uga_customer_\w+\n){3}ID /)
  const [network] = readBlocks('docs/go-to-production.md', 'Network', 1)
  assert.match(await run(network), /^\{"status":"ready"\}.*"unauthenticated".*\n401\n$/s)
  const [monitoring] = readBlocks('docs/go-to-production.md', 'Monitoring', 1)
  assert.match(await run(monitoring), /^ugs_ready 1\n.*SUCCESS/s)
  const [rehearsal] = readBlocks('docs/go-to-production.md', 'Rehearsal', 1)
  assert.match(await run(rehearsal), /user_group\.deleted.*user_group\.suspended.*user_group\.created/s)
})

/** Creates a folder with programs, `introspect.mjs`, the packages of this checkout, and a database of sales. */
function programFolder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(t)
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'dashboards'))
  new BetterSqlite3(join(folder, 'sales.db')).exec(sales).close()
  const introspect = `
    import { IntrospectionClient } from '@user-group-service/renderer'
    const { URL, API_TOKEN, TOKEN } = process.env
    export const introspect = () => new IntrospectionClient({ url: URL, apiToken: API_TOKEN }).introspect(TOKEN)`
  for (const [name, text] of Object.entries({ 'introspect.mjs': introspect, ...files }))
    writeFileSync(join(folder, name), text)
  return folder
}

/** Runs `main.mjs` of a folder, which can introspect the token. */
async function introspectIn(folder: string, service: RunningService, token: string): Promise<string> {
  const environment = {
    URL: `${service.origin}/oauth2/introspect`,
    API_TOKEN: await createApiToken(service, 'Customer', '--scopes', 'introspect'),
    TOKEN: token,
  }
  const program = `cd '${folder}' && '${process.execPath}' main.mjs`
  return runProgram('sh', ['-euc', program], '', environment)
}

/** Puts the address of the service into a block. */
function local(block: string, service: RunningService): string {
  return block.replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/user-groups\.example\.com/g, service.origin)
}

function tokenIn(json: string): string {
  return (JSON.parse(json) as { user_group: { token: string } }).user_group.token
}
