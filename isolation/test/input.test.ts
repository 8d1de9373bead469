import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newFolder } from './databases.ts'
import { run, type Outcome } from './probe-command.ts'
import { config, isolated, sqliteShop } from './shop.ts'

describe('ugs-isolation probe', () => {
  for (const [what, files, args, env, expected] of wrongInput())
    it(`says that ${what}`, async (t) => {
      const database = await sqliteShop(t, { 'sql/a.sql': isolated, ...files })
      const outcome: Outcome = await run(database, ['probe', ...args], env)
      assert.match(outcome.errors, expected)
      assert.equal(outcome.errors.split('\n').length, 1)
      assert.equal(outcome.output, '')
      assert.equal(outcome.exitCode, 2)
    })

  it('says that the configuration is missing', async (t) => {
    const { errors, exitCode } = await run({ folder: newFolder(t), url: 'sqlite:none' }, ['probe'])
    assert.match(errors, /isolation\.json: does not exist; name the file with --config/)
    assert.equal(exitCode, 2)
  })
})

type WrongInput = [
  what: string,
  files: Record<string, string>,
  args: string[],
  env: Record<string, string>,
  expected: RegExp,
]

function wrongInput(): WrongInput[] {
  const withConfig = (change: object): Record<string, string> => ({
    'isolation.json': JSON.stringify({ ...config, templates: 'sql/*.sql', ...change }),
  })
  return [
    ['the JSON is not valid', { 'isolation.json': '{' }, [], {}, /isolation\.json: cannot be read as JSON/],
    ['a member is unknown', withConfig({ table: {} }), [], {}, /"table" is unknown; the members are/],
    ['tables are missing', withConfig({ tables: undefined }), [], {}, /"tables" is missing/],
    [
      'the dialect is unknown',
      withConfig({ dialect: 'sql' }),
      [],
      {},
      /"dialect" is none of the renderer package/,
    ],
    [
      'the dialect is of another database',
      withConfig({ dialect: 'duckdb' }),
      [],
      {},
      /"dialect" is duckdb, but DATABASE_URL names a sqlite database/,
    ],
    [
      'a table is unknown',
      withConfig({ tables: { sale: 'customer' } }),
      [],
      {},
      /the database has no table sale,/,
    ],
    [
      'a column is unknown',
      withConfig({ tables: { sales: 'tenant' } }),
      [],
      {},
      /sales has no column tenant; it has id, customer/,
    ],
    [
      'a table is listed twice',
      withConfig({ tables: { sales: 'customer', 'main.sales': null } }),
      [],
      {},
      /"tables" lists main\.sales twice$/,
    ],
    ['a table has no owner', withConfig({ tables: { sales: true } }), [], {}, /sales must have the column/],
    ['there are no user groups', withConfig({ user_groups: [] }), [], {}, /"user_groups" is missing/],
    [
      'properties are no object',
      withConfig({ user_groups: [{ provided_id: 'a', properties: 'x' }] }),
      [],
      {},
      /"user_groups" must be a list of ids or of user groups with provided_id, name and properties/,
    ],
    [
      'an identifier has no list of names',
      withConfig({ identifiers: { 'filter.column': 'month' } }),
      [],
      {},
      /"identifiers" must have a list of names/,
    ],
    [
      'a variable is inside a number',
      withConfig({ variables: { filter: 1, 'filter.rows': 2 } }),
      [],
      {},
      /the variable filter\.rows is a member of another that is no object/,
    ],
    ['a user group has no id', withConfig({ user_groups: [{}] }), [], {}, /"user_groups" must be a list/],
    [
      'no template matches',
      withConfig({ templates: 'none/*.sql' }),
      [],
      {},
      /no file in .* matches none\/\*\.sql/,
    ],
    [
      'a header is wrong',
      { 'sql/b.sql': '-- variables: {\nSELECT 1' },
      [],
      {},
      /sql\/b\.sql: "-- variables:" needs a JSON object/,
    ],
    ['the service is not named', withConfig({ user_groups: ['acme'] }), [], {}, /UGS_URL is not set/],
    [
      'the service does not answer',
      withConfig({ user_groups: ['acme'] }),
      [],
      { UGS_URL: 'http://127.0.0.1:1', UGS_ADMIN_TOKEN: 'x' },
      /does not answer: check UGS_URL/,
    ],
    [
      'the token is missing',
      withConfig({}),
      [],
      { UGS_URL: 'http://127.0.0.1:1' },
      /UGS_ADMIN_TOKEN is not set/,
    ],
    ['the database is not named', {}, [], { DATABASE_URL: '' }, /DATABASE_URL is not set/],
    [
      'the database is of an unknown kind',
      {},
      [],
      { DATABASE_URL: 'oracle://x' },
      /DATABASE_URL must begin with/,
    ],
    [
      'the file is missing',
      {},
      [],
      { DATABASE_URL: 'sqlite:none.db' },
      /none\.db cannot be opened as a SQLite database/,
    ],
    [
      'an escape is wrong',
      {},
      [],
      { DATABASE_URL: 'sqlite:%ZZ' },
      /DATABASE_URL has a % that begins no escape/,
    ],
    [
      'DuckDB cannot open the file',
      {},
      [],
      { DATABASE_URL: 'duckdb:none.duckdb' },
      /none\.duckdb cannot be opened as a DuckDB database/,
    ],
    [
      'PostgreSQL does not answer',
      {},
      [],
      { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/x' },
      /^ugs-isolation: PostgreSQL at 127\.0\.0\.1:1 refuses the connection \(ECONNREFUSED\)/,
    ],
    [
      'MariaDB does not answer',
      {},
      [],
      { DATABASE_URL: 'mysql://u:hidden@127.0.0.1:1/x' },
      /the database at 127\.0\.0\.1:1 refuses the connection \(ECONNREFUSED\)/,
    ],
    [
      'the format is unknown',
      {},
      ['--format', 'xml'],
      {},
      /--format must be one of text, json, junit, sarif/,
    ],
    ['the time is wrong', {}, ['--timeout', 'soon'], {}, /--timeout must be a number of seconds/],
    ['an option is unknown', {}, ['--rows'], {}, /Unknown option '--rows'.*; see ugs-isolation --help/],
    ['a command is unknown', {}, ['now'], {}, /takes no "now"/],
  ]
}
