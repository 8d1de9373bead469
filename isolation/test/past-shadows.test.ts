import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDatabase, dialects, type TestedDialect } from './databases.ts'
import { probe } from './probe-command.ts'
import { config, shop } from './shop.ts'

const own = 'customer = {{ user_group.provided_id }}'
const mine = `(SELECT count(*) FROM sales WHERE ${own})`

/** Objects of one database, and templates by their judgement, and by the reason if they must not be judged. */
interface Case {
  readonly statements: readonly string[]
  readonly tables?: Readonly<Record<string, string | null>>
  readonly identifiers?: object
  readonly ok?: readonly string[]
  readonly leak?: readonly string[]
  readonly notJudged: readonly (readonly [sql: string, reason: RegExp])[]
}

const past = /^reads \S+ through a view, a function or a partition/

const cases: Readonly<Record<TestedDialect, Case>> = {
  postgresql: {
    statements: [
      'CREATE TABLE parts (customer text, month integer) PARTITION BY RANGE (month)',
      'CREATE TABLE early PARTITION OF parts FOR VALUES FROM (1) TO (4)',
      'CREATE TABLE late PARTITION OF parts FOR VALUES FROM (4) TO (9)',
      'INSERT INTO parts SELECT customer, month FROM sales',
      'CREATE TABLE child (note text) INHERITS (sales)',
      "INSERT INTO child SELECT * FROM (SELECT id + 100, customer, month, region, amount, 'x' FROM sales) AS s",
      'CREATE EXTENSION postgres_fdw',
      `DO $$ BEGIN EXECUTE format('CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %L)', current_database()); END $$`,
      'CREATE USER MAPPING FOR PUBLIC SERVER here',
      'CREATE FOREIGN TABLE far (customer text) SERVER here',
    ],
    tables: { parts: 'customer', late: 'customer' },
    identifiers: { 'filter.schema': ['public', 'nowhere'] },
    ok: [
      `SELECT count(*) FROM parts WHERE ${own}`,
      `SELECT count(*) FROM late WHERE ${own}`,
      `SELECT count(*) FROM sales WHERE ${own}`,
      `SELECT count(*) FROM PUBLIC.calendar, sales WHERE ${own}`,
    ],
    leak: ['SELECT count(*) FROM late', 'SELECT count(*) FROM parts WHERE month < 4'],
    notJudged: [
      [`SELECT count(*), (SELECT count(*) FROM parts WHERE ${own}) FROM early`, past],
      [`SELECT count(*), ${mine} FROM child`, past],
      ['SELECT count(*) FROM far', /^reads public\.far, which isolation\.json does not list$/],
      [`SELECT count(*) FROM ONLY sales WHERE ${own}`, /^reads ONLY sales/],
      [
        `-- variables: {"filter.schema": "public"}\nSELECT count(*) FROM {{ identifier filter.schema }}.sales`,
        /^names sales with/,
      ],
    ],
  },
  sqlite: {
    statements: [
      'CREATE VIRTUAL TABLE notes USING fts5(customer, body)',
      "INSERT INTO notes SELECT customer, 'note ' || id FROM sales",
      'CREATE VIEW notes_view AS SELECT count(*) AS count FROM notes',
    ],
    tables: { notes_view: null },
    ok: [`SELECT value, month FROM sales, json_each('[1, 2]') WHERE ${own}`],
    notJudged: [
      [`SELECT count(*), ${mine} FROM notes`, /^reads main\.notes, which isolation\.json does not list$/],
      ['SELECT count FROM notes_view', /^reads the view notes_view, which may combine rows/],
      ['SELECT page_count FROM pragma_page_count', /^reads main\.\(a virtual table\), /],
    ],
  },
  duckdb: {
    statements: [],
    ok: [
      `SELECT i, month FROM sales, range(2) AS n (i) WHERE ${own}`,
      `SELECT count(*) FROM (FROM sales WHERE ${own}) AS a ASOF JOIN (FROM sales WHERE ${own}) AS b ON a.amount >= b.amount`,
    ],
    leak: [
      `SELECT sum(b.amount) FROM (FROM sales WHERE ${own}) AS a ASOF JOIN sales AS b ON a.amount > b.amount`,
    ],
    notJudged: [
      [`SELECT DISTINCT stats(amount) FROM sales WHERE ${own}`, /^calls stats, /],
      [`SELECT *, ${mine} FROM information_schema.tables`, /^reads system\.duckdb_tables\(\), /],
      [
        `SELECT *, ${mine} FROM json_execute_serialized_sql(json_serialize_sql('SELECT sum(amount) FROM main.sales'))`,
        /^reads system\.json_execute_serialized_sql\(\), /,
      ],
      [
        'SELECT * FROM (PIVOT sales ON customer USING sum(amount) GROUP BY month)',
        /^cannot be planned: DuckDB shows no plan$/,
      ],
    ],
  },
  mariadb: {
    statements: [
      'CREATE TABLE history (customer varchar(9), total integer) WITH SYSTEM VERSIONING',
      "INSERT INTO history VALUES ('acme', 1), ('other', 2)",
    ],
    tables: { history: 'customer' },
    identifiers: { 'filter.schema': ['test', 'nowhere'] },
    ok: [`SELECT total FROM history WHERE ${own}`],
    leak: ['SELECT count(*) FROM history'],
    notJudged: [
      [`SELECT count(*), ${mine} FROM .invoices`, /^reads \w+\.invoices, which/],
      [
        `SELECT month FROM sales WHERE ${own} INTO OUTFILE 'months'`,
        /^writes a file or a variable with INTO$/,
      ],
      ['SELECT found_rows()', /^calls found_rows, /],
    ],
  },
}

/** Templates for all databases that name an unlisted relation and a table expression alike. */
const redefined = (name: string) =>
  `SELECT (WITH ${name} AS (SELECT 1 AS n) SELECT n FROM ${name}), (SELECT count(*) FROM ${name}), ${mine}`

describe('probe', () => {
  for (const dialect of dialects)
    it(`judges no query that reads past a shadow on ${dialect}`, async (t) => {
      const { statements, tables, identifiers, ok = [], leak = [], notJudged } = cases[dialect]
      const database = await createDatabase(t, dialect, [...shop(dialect), ...statements])
      if (database === undefined) return
      const all: readonly (readonly [sql: string, judgement: string, reason: RegExp])[] = [
        ...ok.map((sql) => [sql, 'ok', /^$/] as const),
        ...leak.map((sql) => [sql, 'leak', /differ/] as const),
        ...notJudged.map(([sql, reason]) => [sql, 'not_judged', reason] as const),
        [redefined('sales_view'), 'not_judged', /sales_view/],
        [redefined('invoices'), 'not_judged', /invoices/],
      ]
      const verdicts = await probe(
        database,
        { ...config, tables: { ...config.tables, ...tables }, identifiers },
        Object.fromEntries(all.map(([sql], i) => [`t${i}`, sql])),
      )
      for (const [i, [sql, judgement, reason]] of all.entries()) {
        const verdict = verdicts[`t${i}`]
        assert.equal(verdict?.judgement, judgement, `${sql}: ${verdict?.reason}`)
        assert.match(verdict.reason ?? '', reason, sql)
      }
    })

  for (const dialect of dialects)
    it(`finds an order that depends on others although rows sort alike on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, shop(dialect))
      if (database === undefined) return
      const theirs = 'SELECT count(*) FROM sales AS theirs WHERE theirs.month = 7 - mine.month'
      const { order, ties } = await probe(database, config, {
        order: `SELECT month FROM sales AS mine WHERE ${own} ORDER BY (${theirs} AND theirs.amount > 12)`,
        ties: `SELECT region, month FROM sales AS mine WHERE ${own} ORDER BY region`,
      })
      assert.notEqual(order?.judgement, 'ok')
      assert.equal(ties?.judgement, 'ok')
    })

  for (const dialect of ['postgresql', 'sqlite', 'duckdb'] as const)
    it(`tells infinite numbers from null, and close numbers from equal ones, on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, [
        'CREATE TABLE floats (customer varchar(9), number double precision)',
        "INSERT INTO floats VALUES ('acme', 1764383975.25), ('acme', NULL), ('other', 1764383975.75), ('other', 3e307)",
      ])
      if (database === undefined) return
      const infinite =
        dialect === 'sqlite' ? 'number * 100' : "number * 0 + CAST('Infinity' AS double precision)"
      const verdicts = await probe(
        database,
        { tables: { floats: 'customer' }, user_groups: [{ provided_id: 'acme' }] },
        {
          infinite: `SELECT max(${infinite}) FROM floats WHERE number > 1e300`,
          close: 'SELECT max(number) FROM floats WHERE number < 1e300',
        },
      )
      assert.equal(verdicts.infinite?.judgement, 'leak')
      assert.equal(verdicts.close?.judgement, 'leak')
    })
})
