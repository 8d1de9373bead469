import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { createDatabase, dialects } from './databases.ts'
import { run, writeFiles } from './probe-command.ts'
import { config, isolated, shop, sqliteShop } from './shop.ts'

const leaking = '\nSELECT id, amount\nFROM sales ORDER BY id'
const notJudged = `\n${isolated.replace('sales', 'main.sales')}`

const templates = { 'sql/a.sql': isolated, 'sql/b.sql': leaking, 'sql/deep/c.sql': notJudged }

describe('ugs-isolation probe', () => {
  it('prints a line for each template, a summary and its limits', async (t) => {
    const database = await sqliteShop(t, templates)
    const { output, exitCode } = await run(database, ['probe'])
    assert.deepEqual(output.split('\n').slice(0, 5), [
      'ok     sql/a.sql         2 customers, 1 stranger',
      "LEAK   sql/b.sql         acme_corp: 18 of 24 rows differ if other customers' rows are hidden",
      "?      sql/deep/c.sql:2  names sales with its schema, so that no shadow can hide other customers' rows: write sales",
      '3 templates, 1 leak, 1 not judged',
      '',
    ])
    assert.match(output, /a leak that needs a value which no row has is not seen/)
    assert.equal(exitCode, 1)
  })

  it('exits with 0 if all are isolated, and with 2 if one is not judged', async (t) => {
    const database = await sqliteShop(t, { 'sql/a.sql': isolated })
    assert.equal((await run(database, ['probe'])).exitCode, 0)
    writeFiles(database.folder, { 'sql/c.sql': notJudged })
    assert.equal((await run(database, ['probe'])).exitCode, 2)
  })

  it('prints JSON', async (t) => {
    const { output } = await run(await sqliteShop(t, templates), ['probe', '--format', 'json'])
    const report = JSON.parse(output) as {
      templates: Record<string, unknown>[]
      summary: unknown
      limits: string[]
    }
    assert.deepEqual(report.summary, { templates: 3, ok: 1, leak: 1, not_judged: 1, user_groups: 2 })
    assert.deepEqual(report.templates[1], {
      path: 'sql/b.sql',
      judgement: 'leak',
      reason: "acme_corp: 18 of 24 rows differ if other customers' rows are hidden",
      line: null,
      rows: 24,
      user_group_id: 'acme_corp',
      differing_rows: 18,
      examples: [],
    })
    assert.equal(report.limits.length, 2)
  })

  it('prints JUnit and SARIF', async (t) => {
    const database = await sqliteShop(t, { ...templates, 'sql/<&\'".sql': leaking })
    const { output: junit } = await run(database, ['probe', '--format', 'junit'])
    assert.match(junit, /<testsuite name="ugs-isolation" tests="4" failures="2" errors="1">/)
    assert.match(junit, /<testcase classname="isolation" name="sql\/a.sql"\/>/)
    assert.match(junit, /name="sql\/&lt;&amp;'&quot;.sql"><failure message="acme_corp: 18 of 24/)
    const { output: sarif } = await run(database, ['probe', '--format', 'sarif'])
    const { runs } = JSON.parse(sarif) as { runs: [{ results: { ruleId: string; locations: unknown[] }[] }] }
    assert.deepEqual(
      runs[0].results.map(({ ruleId }) => ruleId),
      ['leak', 'leak', 'not_judged'],
    )
    assert.deepEqual(runs[0].results[2]?.locations, [
      { physicalLocation: { artifactLocation: { uri: 'sql/deep/c.sql' }, region: { startLine: 2 } } },
    ])
  })

  it('names in SARIF the file of a template, also of a module, from the current folder', async (t) => {
    const database = await sqliteShop(
      t,
      { 'sql/#1 %.sql': leaking, 'list.mjs': "export default { all: 'SELECT id FROM sales' }" },
      { templates: ['sql/*.sql', '*.mjs'] },
    )
    t.mock.method(process, 'cwd', () => dirname(database.folder))
    const { output } = await run(database, ['probe', '--format', 'sarif'])
    const { runs } = JSON.parse(output) as {
      runs: [{ results: { message: unknown; locations: { physicalLocation: unknown }[] }[] }]
    }
    const folder = basename(database.folder)
    const region = { startLine: 1 }
    assert.deepEqual(
      runs[0].results.map(({ locations }) => locations[0]?.physicalLocation),
      [
        { artifactLocation: { uri: `${folder}/list.mjs` }, region },
        { artifactLocation: { uri: `${folder}/sql/%231%20%25.sql` }, region },
      ],
    )
    assert.deepEqual(runs[0].results[0]?.message, {
      text: "all: acme_corp: 18 of 24 rows differ if other customers' rows are hidden",
    })
  })

  it('prints values of rows only with --show-rows', async (t) => {
    const database = await sqliteShop(t, { 'sql/b.sql': leaking })
    for (const format of ['text', 'json', 'junit', 'sarif'])
      assert.doesNotMatch((await run(database, ['probe', '--format', format])).output, /13\.25/)
    const { output } = await run(database, ['probe', '--show-rows'])
    assert.match(output, /with others: \[1,1\.25\] {3}alone: null/)
  })

  it("prints no value of a row with the database's message", async (t) => {
    const database = await createDatabase(t, 'postgresql', shop('postgresql'))
    assert.ok(database)
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({ ...config, templates: 'sql/*.sql' }),
      'sql/a.sql': 'SELECT region::integer FROM sales WHERE customer = {{ user_group.provided_id }}',
      'sql/b.sql': 'SELECT region::regclass FROM sales WHERE customer = {{ user_group.provided_id }}',
      'sql/c.sql': 'WITH x AS (DELETE FROM sales RETURNING *) SELECT count(*) FROM x',
    })
    const args = ['probe', '--allow-write-role']
    const { output } = await run(database, args)
    assert.match(output, /^\? {6}sql\/a\.sql {2}fails: PostgreSQL error 22P02$/m)
    assert.match(output, /^\? {6}sql\/b\.sql {2}fails: PostgreSQL error 42P01$/m)
    assert.match(output, /^\? {6}sql\/c\.sql {2}fails: cannot execute \w+ in a read-only transaction$/m)
    assert.match(
      (await run(database, [...args, '--show-rows'])).output,
      /invalid input syntax for type integer: "EU"/,
    )
  })

  it("prints no value of a row with SQLite's message", async (t) => {
    const own = 'customer = {{ user_group.provided_id }}'
    const database = await sqliteShop(t, {
      'sql/a.sql': `SELECT json_extract('{}', region) FROM sales WHERE ${own}`,
    })
    const { output } = await run(database, ['probe'])
    assert.match(output, /^\? {6}sql\/a\.sql {2}fails: SQLite error SQLITE_ERROR$/m)
    assert.match((await run(database, ['probe', '--show-rows'])).output, /fails: .*'EU'/)
  })

  it('reads variables and optional clauses from a header, and templates from a module', async (t) => {
    const database = await sqliteShop(
      t,
      {
        'sql/a.sql': `-- Sales of some months
-- variables: {"filter.month": 2, "filter.rows": 3}
-- optional: filter.month
SELECT month FROM sales WHERE customer = {{ user_group.provided_id }} [[ AND month = {{ filter.month }} ]] ORDER BY month LIMIT {{ filter.rows }}`,
        'sql/b.sql': `-- optional: filter.all
-- variables: {"filter.all": 1}
SELECT month FROM sales WHERE 1 = 1 [[ AND {{ filter.all }} = 0 ]]`,
        'list.mjs': `export default { own: ${JSON.stringify(isolated)}, all: 'SELECT id FROM sales' }`,
        'named.mjs': `export const templates = [{ name: 'rows', sql: ${JSON.stringify(`${isolated} LIMIT {{ n }}`)}, variables: { n: 2 } }]`,
      },
      { templates: ['sql/*.sql', '*.mjs'] },
    )
    const { output } = await run(database, ['probe'])
    assert.deepEqual(
      output
        .split('\n')
        .slice(0, 5)
        .map((line) => line.split(/\s+/, 2).join(' ')),
      ['ok list.mjs#own', 'LEAK list.mjs#all', 'ok named.mjs#rows', 'ok sql/a.sql', 'LEAK sql/b.sql'],
    )
  })

  it('probes next to a view of a missing table', async (t) => {
    const database = await createDatabase(t, 'sqlite', [
      ...shop('sqlite'),
      'CREATE VIEW broken AS SELECT * FROM missing',
    ])
    assert.ok(database)
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({
        ...config,
        tables: { ...config.tables, broken: null },
        templates: '*.sql',
      }),
      'a.sql': isolated,
      'b.sql': 'SELECT * FROM broken',
    })
    const { output } = await run(database, ['probe'])
    assert.match(output, /^ok {5}a\.sql.*\n\? {6}b\.sql:1 {2}reads the view broken,/)
  })

  it('leaves out optional variables that are given in an object', async (t) => {
    const database = await sqliteShop(
      t,
      { 'sql/a.sql': 'SELECT month FROM sales WHERE 1 = 1 [[ AND {{ filter.none }} = 0 ]]' },
      { variables: { filter: { none: 1 }, 'filter.other': 2 }, optional: ['filter.none'] },
    )
    assert.match((await run(database, ['probe'])).output, /^LEAK/)
  })

  it('refuses a role that may write, unless it is allowed', async (t) => {
    const database = await createDatabase(t, 'postgresql', [
      ...shop('postgresql'),
      "CREATE ROLE reader_of_isolation LOGIN PASSWORD 'x'",
      'GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_of_isolation',
    ])
    assert.ok(database)
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({ ...config, templates: 'sql/*.sql' }),
      'sql/a.sql': isolated,
    })
    const administrator = new Client(database.url)
    await administrator.connect()
    try {
      const url = new URL(database.url)
      url.username = 'reader_of_isolation'
      url.password = 'x'
      const reader = { ...database, url: url.href }
      const refused = await run(database, ['probe'])
      assert.match(
        refused.errors,
        /^ugs-isolation: the role is a superuser: use one that may only read, or --allow-write-role$/,
      )
      assert.equal(refused.exitCode, 2)
      assert.equal((await run(database, ['probe', '--allow-write-role'])).exitCode, 0)
      assert.equal((await run(reader, ['probe'])).exitCode, 0)
      await administrator.query('GRANT INSERT ON orders TO reader_of_isolation')
      assert.match((await run(reader, ['probe'])).errors, /the role may write to public\.orders/)
    } finally {
      await administrator.query('DROP OWNED BY reader_of_isolation; DROP ROLE reader_of_isolation')
      await administrator.end()
    }
  })

  it('refuses a role of MariaDB that may write', async (t) => {
    const database = await createDatabase(t, 'mariadb', shop('mariadb'))
    if (database === undefined) return
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({ ...config, templates: '*.sql' }),
      'a.sql': isolated,
    })
    const { errors, exitCode } = await run(database, ['probe'])
    assert.match(errors, /the role has the privilege ALL PRIVILEGES on \*\.\*/)
    assert.equal(exitCode, 2)
  })

  it('does not judge on data that could show no leak', async (t) => {
    const database = await createDatabase(t, 'sqlite', [
      ...shop('sqlite'),
      "DELETE FROM orders WHERE customer <> 'acme'",
    ])
    assert.ok(database)
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({ ...config, templates: '*.sql' }),
      'a.sql': isolated.replace('sales', 'orders').replaceAll('month', 'id'),
    })
    const { output, exitCode } = await run(database, ['probe'])
    assert.match(
      output,
      /^\? {6}a\.sql {2}reads orders, in which no probed customer has rows next to those of another customer/,
    )
    assert.equal(exitCode, 2)
  })

  for (const dialect of dialects)
    it(`judges data of one customer as if others had a part of it, with --canary on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, [
        ...shop(dialect),
        "UPDATE sales SET customer = 'acme'",
        'DELETE FROM orders WHERE id > 1',
      ])
      if (database === undefined) return
      const own = 'customer = {{ user_group.provided_id }}'
      writeFiles(database.folder, {
        'isolation.json': JSON.stringify({ ...config, templates: '*.sql' }),
        'a.sql': isolated,
        'b.sql': `SELECT amount / (SELECT max(amount) FROM sales) FROM sales WHERE ${own}`,
        'c.sql': `SELECT id FROM orders WHERE ${own}`,
      })
      const args = ['probe', '--allow-write-role']
      assert.match((await run(database, args)).output, /^(\? .*, so that no leak could show\n){3}/)
      const { output, exitCode } = await run(database, [...args, '--canary'])
      assert.match(
        output,
        /^ok {5}a\.sql.*\n\? {6}b\.sql {2}gives another result if rows of sales belong to another customer, .*\n\? {6}c\.sql {2}reads orders, in which no/,
      )
      assert.equal(exitCode, 2)
    })

  it('compiles templates for databases that it does not run', async (t) => {
    const database = await sqliteShop(
      t,
      { 'sql/a.sql': isolated, 'sql/b.sql': 'SELECT {{ nothing }}' },
      { dialect: 'snowflake' },
    )
    const { output, exitCode } = await run(database, ['probe'])
    assert.match(output, /^\? {6}sql\/a\.sql {4}compiled, not run: snowflake/)
    assert.match(output, /^\? {6}sql\/b\.sql:1 {2}There is no variable nothing/m)
    assert.equal(exitCode, 2)
  })

  it('finds the leak of one customer although the template fails for another', async (t) => {
    const database = await sqliteShop(
      t,
      { 'sql/a.sql': 'SELECT id FROM sales WHERE region = {{ user_group.properties.region }}' },
      {
        user_groups: [{ provided_id: 'other' }, { provided_id: 'acme', properties: { region: 'US' } }],
      },
    )
    assert.match((await run(database, ['probe'])).output, /^LEAK {3}sql\/a\.sql {2}acme:/)
  })

  for (const dialect of ['postgresql', 'duckdb', 'mariadb'] as const)
    it(`ends a query that takes too long on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, shop(dialect))
      if (database === undefined) return
      writeFiles(database.folder, {
        'isolation.json': JSON.stringify({ ...config, templates: '*.sql' }),
        'a.sql': `SELECT count(*) FROM ${Array.from({ length: 12 }, (_, i) => `sales s${i}`).join(', ')} WHERE s0.amount + s1.amount + s2.amount + s3.amount + s4.amount + s5.amount + s6.amount + s7.amount + s8.amount + s9.amount + s10.amount + s11.amount < 0`,
      })
      const { output } = await run(database, ['probe', '--allow-write-role', '--timeout', '1'])
      assert.match(output, /^\? {6}a\.sql {2}(fails|cannot be planned): takes longer than --timeout allows/)
    })

  it('says that the connection was lost', async (t) => {
    const database = await createDatabase(t, 'postgresql', shop('postgresql'))
    assert.ok(database)
    const functions = ['pg_terminate_backend', 'pg_backend_pid']
    writeFiles(database.folder, {
      'isolation.json': JSON.stringify({ ...config, functions, templates: '*.sql' }),
      'a.sql': 'SELECT pg_terminate_backend(pg_backend_pid()) FROM sales',
    })
    const { errors, exitCode } = await run(database, ['probe', '--allow-write-role'])
    assert.match(errors, /^ugs-isolation: the connection to PostgreSQL at .* was lost$/)
    assert.equal(exitCode, 2)
  })

  it('judges by a condition instead of a column', async (t) => {
    const database = await sqliteShop(
      t,
      {
        'sql/a.sql': 'SELECT id FROM sales WHERE region = {{ user_group.properties.region }}',
        'sql/b.sql': 'SELECT id FROM sales',
      },
      { tables: { sales: 'region = {{ user_group.properties.region }}' } },
    )
    const { output } = await run(database, ['probe'])
    assert.match(output, /^ok {5}sql\/a\.sql.*\nLEAK {3}sql\/b\.sql/)
  })

  it('asks the service for the variables of user groups', async (t) => {
    const requests: string[] = []
    const server = createServer(({ url = '', headers }, response) => {
      requests.push(`${headers.authorization} ${url}`)
      const first = {
        success: 1,
        user_groups: [{ team_id: 6, provided_id: 'acme_corp' }],
        next_cursor: 'next',
      }
      const second = { success: 1, user_groups: [{ team_id: 7, provided_id: 'acme' }], next_cursor: null }
      const variables = { provided_id: 'acme', name: 'Acme', properties: { region: 'US' } }
      const isView = url.endsWith('/7/view')
      response.end(
        JSON.stringify(isView ? { success: 1, variables } : url.includes('cursor') ? second : first),
      )
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const database = await sqliteShop(t, { 'sql/a.sql': isolated }, { user_groups: ['acme'] })
    const env = {
      UGS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      UGS_ADMIN_TOKEN: 'uga_x',
    }
    assert.equal((await run(database, ['probe'], env)).exitCode, 0)
    assert.deepEqual(requests, [
      'Bearer uga_x /admin/v1/user-groups?user_group_id_prefix=acme',
      'Bearer uga_x /admin/v1/user-groups?user_group_id_prefix=acme&cursor=next',
      'Bearer uga_x /admin/v1/user-groups/7/view',
    ])
  })

  it('judges a template of viewers with the viewer of the user group', async (t) => {
    const viewer = { id: 'u-7', properties: { region: 'EU' }, time_zone: 'Europe/Berlin' }
    const database = await sqliteShop(
      t,
      {
        'sql/a.sql': isolated.replace(' ORDER BY', ' AND region = {{ viewer.properties.region }} ORDER BY'),
        'sql/b.sql': 'SELECT id FROM sales WHERE region = {{ viewer.properties.region }}',
        'sql/c.sql': isolated.replace('month', 'month, {{ viewer.time_zone }}, {{ viewer.id }}'),
        'sql/d.sql': isolated.replace('month', 'month, {{ viewer.name }}'),
      },
      { user_groups: [{ provided_id: 'acme', viewer }] },
    )
    const { output } = await run(database, ['probe'])
    assert.match(output, /^ok {5}sql\/a\.sql/m)
    assert.match(output, /^LEAK {3}sql\/b\.sql/m)
    assert.match(output, /^ok {5}sql\/c\.sql/m)
    assert.match(output, /^\? {6}sql\/d\.sql:1 {2}viewer\.name is not set/m)
  })

  it('reads user groups from a file as `ugs export` writes it', async (t) => {
    const database = await sqliteShop(
      t,
      {
        'sql/a.sql': isolated,
        'groups.ndjson': '{"user_group_id":"acme","name":"Acme","mapping":null,"properties":null}\n',
      },
      { user_groups: 'groups.ndjson' },
    )
    assert.match((await run(database, ['probe'])).output, /1 customer, 1 stranger/)
  })
})
