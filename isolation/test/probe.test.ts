import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDatabase, dialects, type TestedDialect } from './databases.ts'
import { probe } from './probe-command.ts'
import { config, shop } from './shop.ts'

const own = 'customer = {{ user_group.provided_id }}'

/** Templates whose result is the customer's alone. */
const isolated = {
  exact: `SELECT month, sum(amount) FROM sales WHERE ${own} GROUP BY month ORDER BY month`,
  calendar: `SELECT c.month, coalesce(sum(s.amount), 0) FROM calendar c
             LEFT JOIN sales s ON s.month = c.month AND s.customer = {{ user_group.provided_id }} GROUP BY c.month`,
  join: `SELECT s.month, o.quantity FROM sales s JOIN orders o ON o.sale = s.id AND o.customer = s.customer
         WHERE s.customer = {{ user_group.provided_id }}`,
  expression: `WITH mine AS (SELECT * FROM sales WHERE ${own}) SELECT region, count(*) FROM mine GROUP BY region`,
  recursive: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6)
              SELECT i, (SELECT count(*) FROM sales WHERE month = i AND ${own}) FROM n`,
  ties: `SELECT region, amount FROM sales WHERE ${own} ORDER BY region`,
  shared: 'SELECT count(*) FROM calendar',
  alias: `SELECT sales.month AS invoices FROM sales AS sales WHERE sales.${own}`,
}

/** Templates that show other customers' rows, as in public reports. */
const leaking = {
  all: 'SELECT sum(amount) FROM sales',
  or: `SELECT count(*) FROM sales WHERE ${own} AND region = 'EU' OR region = 'US'`,
  outer: `SELECT s.id, c.month FROM sales s LEFT JOIN calendar c ON c.month = s.month AND s.${own}`,
  others: `SELECT count(*) FROM sales WHERE NOT (${own})`,
  property: 'SELECT month, amount FROM sales WHERE region = {{ user_group.properties.region }}',
  like: "SELECT count(*) FROM sales WHERE customer LIKE 'acme_corp' AND {{ user_group.properties.region }} = 'EU'",
  join: `SELECT s.month, count(*) FROM sales s JOIN orders o ON o.quantity = s.month WHERE s.${own} GROUP BY s.month`,
  share: `SELECT month, sum(amount) / (SELECT sum(amount) FROM sales) FROM sales WHERE ${own} GROUP BY month`,
  rank: `SELECT month, place FROM (SELECT customer, month, rank() OVER (ORDER BY amount, id) AS place FROM sales) AS ranked
         WHERE ${own}`,
  order: `SELECT month FROM sales AS mine WHERE ${own}
          ORDER BY (SELECT count(*) FROM sales AS theirs WHERE theirs.month = 7 - mine.month AND theirs.amount > 12), month`,
  exists: `SELECT month FROM calendar WHERE EXISTS (SELECT 1 FROM sales WHERE sales.month = calendar.month AND region = 'EU')`,
  limit: 'SELECT month FROM sales LIMIT 3',
}

describe('probe', () => {
  it('hides rows of each table whose name differs only in case', async (t) => {
    const database = await createDatabase(t, 'postgresql', [
      ...shop('postgresql'),
      'CREATE TABLE "Sales" AS SELECT * FROM sales',
    ])
    assert.ok(database)
    const tables = { ...config.tables, Sales: 'customer' }
    const templates = {
      both: `SELECT count(*) FROM "Sales" JOIN sales USING (id) WHERE sales.${own}`,
      upper: 'SELECT count(*) FROM "Sales"',
    }
    const listed = await probe(database, { ...config, tables }, templates)
    assert.equal(listed.both?.judgement, 'ok')
    assert.equal(listed.upper?.judgement, 'leak')
    const { upper } = await probe(database, config, templates)
    assert.match(upper?.reason ?? '', /^reads public\.Sales, which isolation\.json does not list$/)
  })

  it('does not judge a table of a DuckDB database that is named before it', async (t) => {
    const database = await createDatabase(t, 'duckdb', shop('duckdb'))
    if (database === undefined) return
    const { verdict } = await probe(database, config, { verdict: 'SELECT count(*) FROM test.sales' })
    assert.match(verdict?.reason ?? '', /^names sales with its schema/)
  })

  for (const dialect of dialects) {
    it(`finds each leak, and nothing else, on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, shop(dialect))
      if (database === undefined) return
      const prefixed = (prefix: string, templates: Readonly<Record<string, string>>) =>
        Object.fromEntries(Object.entries(templates).map(([name, sql]) => [`${prefix}_${name}`, sql]))
      const verdicts = await probe(database, config, {
        ...prefixed('ok', {
          ...isolated,
          shared: `SELECT count(*) FROM ${schemaOf(dialect, database.url)}.calendar`,
        }),
        ...prefixed('leak', leaking),
      })
      for (const [name, { judgement, reason }] of Object.entries(verdicts))
        assert.equal(judgement, name.split('_')[0], `${name}: ${reason}`)
      assert.equal(Object.keys(verdicts).length, Object.keys(isolated).length + Object.keys(leaking).length)
    })

    it(`does not judge what a shadow cannot cover on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, [...shop(dialect), ...(functionOf[dialect] ?? [])])
      if (database === undefined) return
      const schema = schemaOf(dialect, database.url)
      const reasons: Readonly<Record<string, [sql: string, reason: RegExp]>> = {
        qualified: [`SELECT count(*) FROM ${schema}.sales WHERE ${own}`, /^names sales with its schema/],
        view: [
          `SELECT count(*) FROM sales_view WHERE ${own}`,
          /^reads the view \w+\.sales_view, which isolation\.json does not list$/,
        ],
        unlisted: [
          `SELECT count(*) FROM sales, invoices WHERE sales.${own}`,
          /^reads \w+\.invoices, which isolation\.json does not list$/,
        ],
        expression: [
          `WITH sales AS (SELECT 1 AS month) SELECT month FROM sales`,
          /^defines a table expression with the name of the table sales/,
        ],
        several: [`SELECT month FROM sales WHERE ${own}; SELECT 1`, /^has several statements/],
        change: ['DELETE FROM sales', /^is no query$/],
        catalog: [catalogOf[dialect], /^reads |^calls /],
        random: [
          `SELECT ${dialect === 'mariadb' ? 'rand' : 'random'}(), month FROM sales WHERE ${own}`,
          /^gives another result each time/,
        ],
        column: [`SELECT nothing FROM sales WHERE ${own}`, /nothing/],
        variable: [`SELECT month FROM sales WHERE ${own} LIMIT {{ filter.rows }}`, /filter\.rows/],
        ...(functionOf[dialect] && {
          function: [
            `SELECT total_sales() FROM calendar`,
            /^calls the function total_sales, which may read tables/,
          ],
        }),
      }
      const verdicts = await probe(
        database,
        config,
        Object.fromEntries(Object.entries(reasons).map(([name, [sql]]) => [name, sql])),
      )
      for (const [name, [, expected]] of Object.entries(reasons)) {
        const { judgement, reason } = verdicts[name] ?? {}
        assert.equal(judgement, 'not_judged', `${name}: ${reason}`)
        assert.match(reason ?? '', expected, name)
      }
    })
  }
})

const functionOf: Readonly<Partial<Record<TestedDialect, string[]>>> = {
  postgresql: [
    'CREATE FUNCTION total_sales() RETURNS double precision LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT sum(amount) FROM sales); END $$',
  ],
  duckdb: ['CREATE MACRO total_sales() AS (SELECT sum(amount) FROM sales)'],
  mariadb: [
    'CREATE FUNCTION total_sales() RETURNS double READS SQL DATA RETURN (SELECT sum(amount) FROM sales)',
  ],
}

const catalogOf: Readonly<Record<TestedDialect, string>> = {
  postgresql: "SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'sales'",
  sqlite: 'SELECT count(*) FROM sqlite_schema',
  duckdb: 'SELECT estimated_size FROM duckdb_tables()',
  mariadb: 'SELECT table_rows FROM information_schema.tables',
}

function schemaOf(dialect: TestedDialect, url: string): string {
  if (dialect === 'mariadb') return new URL(url).pathname.slice(1)
  return dialect === 'postgresql' ? 'public' : 'main'
}
