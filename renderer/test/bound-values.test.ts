import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type SqlDialect } from '../src/index.ts'
import { openDatabase, realDatabases, type Database } from './databases.ts'
import { compileWith, refusal, value, withValue } from './support.ts'

/** The README's statements about bound values. ¤ is the variable. */
type Case = readonly [template: string, bound: unknown, expected: unknown[]]

async function open(t: TestContext, dialect: Database['dialect']) {
  const database = await openDatabase(t, dialect)
  if (database === undefined) return undefined
  await database.execute('CREATE TABLE sales (n int, region varchar(20))')
  await database.execute("INSERT INTO sales VALUES (1, 'EU'), (2, '3'), (4, NULL)")
  /** Rows of one column each. */
  return async (template: string, bound: unknown) => {
    const statement = compileWith(template.replaceAll('¤', value), withValue(bound), dialect)
    return (await database.query(statement)).flat()
  }
}

const cases: Record<Database['dialect'], readonly Case[]> = {
  postgresql: [
    ['SELECT ¤::int / 2', 3, [1]],
    ["SELECT concat('n', ¤::text)", 3, ['n3']],
    ['SELECT ¤::text IS NULL', null, [true]],
    ['SELECT n + ¤::numeric FROM sales WHERE n = 1', 1.5, ['2.5']],
    ["SELECT CAST(¤ AS date) > DATE '2026-01-01'", '2026-01-02', [true]],
    ["SELECT (DATE '2026-01-01' + ¤ * INTERVAL '1 day')::date::text", 3, ['2026-01-04']],
    ["SELECT (DATE '2026-01-01' + make_interval(days => ¤))::date::text", 3, ['2026-01-04']],
    ['SELECT n FROM sales WHERE region IS NOT DISTINCT FROM ¤', null, [4]],
    ['SELECT n FROM sales WHERE region IS NOT DISTINCT FROM ¤', 'EU', [1]],
    ['SELECT n FROM sales ORDER BY ¤ DESC, n', 'n', [1, 2, 4]],
    ["SELECT n FROM sales ORDER BY CASE ¤ WHEN 'n' THEN -n END", 'n', [4, 2, 1]],
    ['SELECT n > ¤ FROM sales GROUP BY 1 ORDER BY 1', 3, [false, true]],
    ["SELECT {{ date passed.value }} > DATE '2026-01-01'", '2026-01-02', [true]],
    ['SELECT n FROM sales WHERE region = ANY(¤) ORDER BY 1', ['EU', '3'], [1, 2]],
    ['SELECT n FROM sales WHERE n = ANY(¤) ORDER BY 1', [1, 2], [1, 2]],
    ['SELECT n FROM sales WHERE n = ANY(¤::int[]) ORDER BY 1', ['1', '2'], [1, 2]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', ['EU', null], [1]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', [], []],
    ['SELECT n FROM sales WHERE NOT region = ANY(¤)', [], []],
    ['SELECT n FROM sales WHERE region <> ALL(¤)', [], []],
    ['SELECT n FROM sales WHERE region <> ALL(¤)', ['EU'], [2]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', '{EU,3}', []],
    ['SELECT n FROM sales WHERE region = ANY(¤)', 'EU', [1]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', ['{EU}', 'EU,3', '"', '\\\\', "'", 'NULL', ''], []],
    ['SELECT n FROM sales WHERE region IN (SELECT unnest(¤::text[]))', ['EU'], [1]],
    ["SELECT array_to_string('{ {1,2},{3,4}}'::int[], ',') || ¤", '', ['1,2,3,4']],
  ],
  sqlite: [
    ['SELECT ¤ / 2', 3, [1.5]],
    ['SELECT CAST(¤ AS INTEGER) / 2', 3, [1]],
    ["SELECT 'n' || ¤", 3, ['n3.0']],
    ["SELECT 'n' || CAST(¤ AS INTEGER)", 3, ['n3']],
    ['SELECT typeof(¤)', 3, ['real']],
    ['SELECT typeof(CAST(¤ AS INTEGER))', 3, ['integer']],
    ['SELECT n FROM sales WHERE region = ¤', 3, []],
    ['SELECT n FROM sales WHERE region = CAST(¤ AS INTEGER)', 3, [2]],
    ["SELECT date(¤) > '2026-01-01'", '2026-01-02', [1]],
    ["SELECT {{ date passed.value }} > '2026-01-01'", '2026-01-02', [1]],
    ["SELECT date('2026-01-04', '-' || CAST(¤ AS INTEGER) || ' days')", 3, ['2026-01-01']],
    ['SELECT n FROM sales WHERE region IS ¤', null, [4]],
    ['SELECT n FROM sales WHERE region IS ¤', 'EU', [1]],
    ['SELECT n FROM sales WHERE region IS NOT DISTINCT FROM ¤', null, [4]],
    ['SELECT n FROM sales ORDER BY ¤ DESC, n', 'n', [1, 2, 4]],
  ],
  mariadb: [
    ['SELECT ¤ / 2', 3, [1.5]],
    ["SELECT concat('n', ¤)", 3, ['n3']],
    ['SELECT n FROM sales WHERE n = ¤', '2', [2]],
    ['SELECT n FROM sales WHERE n = ¤', 2, [2]],
    ['SELECT n FROM sales WHERE region = ¤', 0, []],
    ['SELECT n FROM sales WHERE region = ¤', 3, [2]],
    ['SELECT n FROM sales WHERE region = ¤', false, []],
    ['SELECT n FROM sales WHERE region = ¤', 'eu', []],
    ['SELECT n FROM sales WHERE region <=> ¤', null, [4]],
    ["SELECT n FROM sales WHERE region LIKE CONCAT('%', ¤, '%')", 'e', []],
    ["SELECT n FROM sales WHERE region LIKE CONCAT('%', ¤, '%') COLLATE utf8mb4_general_ci", 'e', [1]],
    ["SELECT CAST(DATE '2026-01-01' + INTERVAL ¤ DAY AS char)", 3, ['2026-01-04']],
    ["SELECT {{ date passed.value }} > '2026-01-01'", '2026-01-02', [1]],
    ['SELECT n FROM sales ORDER BY ¤ DESC, n', 'n', [1, 2, 4]],
    ["SELECT n FROM sales ORDER BY CASE ¤ WHEN 'n' THEN -n END", 'n', [4, 2, 1]],
    ['SELECT n > ¤ FROM sales GROUP BY 1 ORDER BY 1', 3, [0, 1]],
  ],
  duckdb: [
    ['SELECT ¤ / 2', 3, [1.5]],
    ["SELECT concat('n', ¤)", 3, ['n3']],
    ['SELECT n FROM sales WHERE region = ¤', 'eu', []],
    ['SELECT n FROM sales WHERE region IS NOT DISTINCT FROM ¤', null, [4]],
    ["SELECT {{ date passed.value }} > DATE '2026-01-01'", '2026-01-02', [true]],
    ["SELECT (DATE '2026-01-01' + ¤ * INTERVAL '1 day')::date::varchar", 3, ['2026-01-04']],
    ['SELECT n FROM sales WHERE region = ANY(¤) ORDER BY 1', ['EU', '3'], [1, 2]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', [], []],
    ['SELECT n FROM sales WHERE NOT region = ANY(¤)', [], []],
    ['SELECT n FROM sales WHERE region <> ALL(¤)', [], []],
    ['SELECT n FROM sales WHERE region <> ALL(¤)', ['EU'], [2]],
    ['SELECT n FROM sales WHERE region IN (SELECT unnest(¤))', ['EU'], [1]],
    ['SELECT n FROM sales WHERE region = ANY(¤)', 'EU', [1]],
    ['SELECT (len([ [1], [2] ]) + n)::int FROM sales WHERE region = ¤', 'EU', [3]],
  ],
}

const failures: readonly (readonly [template: string, bound: unknown, message: RegExp])[] = [
  ["SELECT concat('n', ¤)", 3, /could not determine data type/],
  ['SELECT n + ¤ FROM sales', 1.5, /invalid input syntax for type integer/],
  ['SELECT DATE ¤', '2026-01-02', /syntax error/],
  ['SELECT n > ¤ FROM sales GROUP BY n > ¤', 3, /must appear in the GROUP BY/],
]

describe('databases treat bound values as the README says', () => {
  for (const dialect of realDatabases) {
    it(dialect, async (t) => {
      const query = await open(t, dialect)
      if (query === undefined) return
      for (const [template, bound, expected] of cases[dialect]) {
        assert.deepEqual(await query(template, bound), expected, template)
      }
    })
  }

  it('errors of postgresql', async (t) => {
    const query = await open(t, 'postgresql')
    assert.ok(query)
    for (const [template, bound, message] of failures) await assert.rejects(query(template, bound), message)
  })

  it('a list outside IN is refused', () => {
    const dialects: readonly (readonly [SqlDialect, string])[] = [
      ['mysql', 'SELECT n WHERE region = ANY(¤)'],
      ['postgresql', 'SELECT n WHERE region = ANY(¤, 1)'],
      ['postgresql', 'SELECT n WHERE region = ANY(¤ || 1)'],
      ['postgresql', 'SELECT n WHERE region = ANY(ARRAY[¤])'],
      ['bigquery', 'SELECT n WHERE region = ANY(¤)'],
      ['sqlite', 'SELECT n WHERE region IN (SELECT unnest(¤))'],
      ['snowflake', 'SELECT n WHERE region LIKE ANY (¤)'],
    ]
    for (const [dialect, template] of dialects) {
      const { code } = refusal(template.replace('¤', value), dialect, withValue(['EU']))
      assert.equal(code, 'list_outside_in')
    }
  })
})
