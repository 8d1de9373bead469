import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freshDatabase } from '../../../server/test/support/database.ts'
import { openSession } from '../../../server/test/support/session.ts'
import { temporaryFolder } from '../../../server/test/support/temporary-folder.ts'
import { issuer, sharedHost } from './support.ts'

const cubeFile = fileURLToPath(new URL('../cube/cube.js', import.meta.url))
const serverFile = fileURLToPath(new URL('cube-server.js', import.meta.url))

const byCustomer = { measures: ['sales.amount'], dimensions: ['sales.customer'] }

describe('Cube', () => {
  const host = sharedHost()

  it('shows the rows of the user group from its database, until its sessions end', async (t) => {
    const { ugs, createSession, endSessions, introspectionToken, introspectionUrl } = host()
    await ugs('schema', 'create', '--provided-id', 'sales', '--name', 'Sales')
    for (const id of ['eu', 'us', 'unconnected'])
      await ugs('data-source', 'create', '--schema', 'sales', '--provided-id', id, '--name', id)
    const createUserGroup = (id: string, dataSource: string) =>
      ugs('user-group', 'get-or-create', id, '--name', id, '--mapping', JSON.stringify({ sales: dataSource }))
    await createUserGroup('42', 'eu')
    await createUserGroup('43', 'eu')
    await createUserGroup('44', 'us')
    await createUserGroup('45', 'unconnected')
    await ugs('user-group', 'get-or-create', '46', '--name', 'unmapped')
    const load = await startCube(t, model(), {
      CUBE_FILE: cubeFile,
      CONNECTIONS: JSON.stringify({ eu: await createWarehouse(t, 1), us: await createWarehouse(t, 1000) }),
      UGS_API_TOKEN: introspectionToken,
      UGS_INTROSPECTION_URL: introspectionUrl,
    })

    const session = await createSession('42')
    assert.deepEqual(await load(session, byCustomer), { status: 200, rows: [['42', '3']] })
    assert.deepEqual(await load(`Bearer ${await createSession('43')}`, byCustomer), {
      status: 200,
      rows: [['43', '4']],
    })
    assert.deepEqual(await load(await createSession('44'), byCustomer), {
      status: 200,
      rows: [['44', '8000']],
    })
    // Filters of the page narrow the rows, and never replace the condition.
    const other = { member: 'sales.customer', operator: 'equals', values: ['43'] }
    const own = { member: 'sales.customer', operator: 'set' }
    for (const [filters, rows] of [
      [[other], []],
      [[{ or: [other, own] }], [['42', '3']]],
      [[{ member: 'sales.region', operator: 'equals', values: ['EU', 'plans.x'] }], [['42', '1']]],
    ] as const)
      assert.deepEqual(await load(session, { ...byCustomer, filters }), { status: 200, rows })

    const refused = async (token: string, query: object, message: RegExp) => {
      const { status, rows } = await load(token, query)
      assert.equal(status, 500)
      assert.match(String(rows), message)
    }
    for (const query of [
      { measures: ['plans.count'] },
      { ...byCustomer, filters: [{ and: [{ member: 'plans.name', operator: 'equals', values: ['x'] }] }] },
      { ...byCustomer, timeDimensions: [{ dimension: 'plans.day' }] },
      { ...byCustomer, segments: ['plans.large'] },
      { ...byCustomer, order: { 'plans.name': 'asc' } },
      { ...byCustomer, order: [['plans.name', 'asc']] },
    ])
      await refused(session, query, /may not query plans/)
    await refused(await createSession('42', { resources: ['other'] }), byCustomer, /may not query sales/)
    await refused(await createSession('45'), byCustomer, /has no connection/)
    await refused(await createSession('46'), byCustomer, /has no data source for sales/)
    for (const token of ['', 'garbage', `${session}x`]) await refused(token, byCustomer, /not valid/)

    await endSessions('42')
    await untilRefused(async () => (await load(session, byCustomer)).status)
    await refused(session, byCustomer, /not valid/)
  })

  it('refuses expressions in SQL, which may read from any cube', async () => {
    const { introspectionToken, introspectionUrl } = host()
    // As the REST API for SQL passes them on. It is part of the native part of Cube.
    const expression = { cubeName: 'sales', name: 'n', expression: ['plans', 'return `COUNT(*)`'] }
    const join = { sql: 'SELECT 1', alias: 'a' }
    for (const query of [{ measures: [expression] }, { ...byCustomer, subqueryJoins: [join] }]) {
      const program = `require(${JSON.stringify(cubeFile)}).queryRewrite(${JSON.stringify(query)},
        { securityContext: { providedId: '42', resources: null } })`
      const env = { UGS_API_TOKEN: introspectionToken, UGS_INTROSPECTION_URL: introspectionUrl }
      const run = promisify(execFile)(process.execPath, ['-e', program], { env })
      await assert.rejects(run, /may not query SQL/)
    }
  })

  it('verifies the signature of a session alone, and trusts its claims until it expires', async (t) => {
    const { ugs, createSession, jwksUrl } = host()
    await ugs('user-group', 'get-or-create', '42', '--name', 'A')
    const { host: hostname, ...connection } = await createWarehouse(t, 1)
    const policy = `access_policy: [{
      group: '*',
      row_level: { filters: [{ member: 'customer', operator: 'equals', values: [securityContext.sub] }] },
    }],`
    const load = await startCube(t, model(policy), {
      CUBEJS_JWK_URL: jwksUrl,
      CUBEJS_JWT_AUDIENCE: 'cube',
      CUBEJS_JWT_ISSUER: issuer,
      CUBEJS_JWT_ALGS: 'ES256',
      CUBEJS_DB_TYPE: 'postgres',
      CUBEJS_DB_HOST: hostname,
      CUBEJS_DB_PORT: connection.port,
      CUBEJS_DB_NAME: connection.database,
      CUBEJS_DB_USER: connection.user,
      CUBEJS_DB_PASS: connection.password,
    })
    const session = await createSession('42', { audience: 'cube' })
    assert.deepEqual(await load(session, byCustomer), { status: 200, rows: [['42', '3']] })
    const elsewhere = await createSession('42', { audience: 'other' })
    for (const token of ['', 'garbage', `${session.slice(0, -4)}AAAA`, elsewhere])
      assert.equal((await load(token, byCustomer)).status, 403)
  })
})

const model = (accessPolicy = '') => `
  cube('sales', {
    sql_table: 'sales',
    measures: { amount: { sql: 'amount', type: 'sum' } },
    dimensions: { customer: { sql: 'customer', type: 'string' }, region: { sql: 'region', type: 'string' } },
    ${accessPolicy}
  })
  cube('plans', {
    sql_table: 'sales',
    measures: { count: { type: 'count' } },
    dimensions: { name: { sql: 'region', type: 'string' }, day: { sql: 'now()', type: 'time' } },
    segments: { large: { sql: 'true' } },
  })`

/** Creates a database with sales of three customers, and returns its connection. */
async function createWarehouse(t: TestContext, amount: number) {
  const url = await freshDatabase(t)
  const session = await openSession(t, url)
  await session.query('CREATE TABLE sales (customer text, region text, amount integer)')
  await session.query(
    `INSERT INTO sales SELECT customer, region, amount * $1 FROM (VALUES
       ('42', 'EU', 1), ('42', 'US', 2), ('43', 'EU', 4), ('44', 'EU', 8)) AS s (customer, region, amount)`,
    [amount],
  )
  const { hostname, port, username, password, pathname } = new URL(url)
  return { host: hostname, port, user: username, password, database: pathname.slice(1) }
}

/** Starts Cube with a model, and returns a function that sends a query to it. */
async function startCube(t: TestContext, source: string, environment: Record<string, string>) {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'model'))
  writeFileSync(join(folder, 'model/sales.js'), source)
  const child = spawn(process.execPath, [serverFile], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      CUBEJS_API_SECRET: 'not used',
      CUBEJS_CACHE_AND_QUEUE_DRIVER: 'memory',
      // The other planner is native.
      CUBEJS_TESSERACT_SQL_PLANNER: 'false',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(async () => {
    if (child.kill()) await once(child, 'exit')
  })
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('http://')) resolve(line)
    })
    child.on('exit', (code) => reject(new Error(`Cube ended with ${code}`)))
  })
  return async (token: string, query: object) => {
    const url = `${origin}/cubejs-api/v1/load?query=${encodeURIComponent(JSON.stringify(query))}`
    const response = await fetch(url, { headers: { authorization: token } })
    const { rows, error } = (await response.json()) as { rows?: unknown; error?: unknown }
    return { status: response.status, rows: rows ?? error }
  }
}

/** Repeats a request until a cached result is dropped. The test's own time-out is the limit. */
async function untilRefused(status: () => Promise<number>): Promise<void> {
  while ((await status()) === 200);
}
