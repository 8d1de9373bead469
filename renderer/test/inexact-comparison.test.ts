import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate, compileSql, TemplateError, type SqlDialect } from '../src/index.ts'
import { example, sqlDialects } from './support.ts'

const id = '{{ user_group.provided_id }}'

function outcome(
  template: string,
  dialect: SqlDialect = 'postgresql',
  properties = example.properties,
): string {
  const written = template.replaceAll('¤s', '{{ user_group.properties.regions }}').replaceAll('¤', id)
  try {
    const variables = { passed: 'x' }
    const identifiers = { 'user_group.properties.region': ['EU'] }
    return compileSql(written, { ...example, properties }, { dialect, variables, identifiers }).text
  } catch (error) {
    if (error instanceof TemplateError) return error.code
    throw error
  }
}

describe('a text of the user group is refused', () => {
  const conditions = [
    'c LIKE ¤', "c LIKE ¤ || '%'", "c LIKE concat(¤, '%')", 'c ILIKE ¤', 'c NOT LIKE ¤', 'c SIMILAR TO ¤', 'c ~ ¤', 'c ~* ¤', 'c !~ ¤',
    '¤ LIKE c', 'c < ¤', 'c > ¤', 'c <= ¤', 'c >= ¤', '¤ < c', '¤ >= c', 'c BETWEEN ¤ AND ¤', '¤ BETWEEN c AND d', 'c IS NOT DISTINCT FROM ¤',
    'c IS DISTINCT FROM ¤', 'c <=> ¤', '(c, d) = (¤, 1)', '(c, d) IN ((¤, 1))', 'ROW(c, d) = ROW(¤, 1)', 'c = lower(¤)', 'lower(c) = lower(¤)',
    'c = CAST(¤ AS integer)', "c = ¤ || ''", "c || '' = ¤", "c = '' || ¤", 'c = trim(¤)', 'c = (¤)', 'c = ((¤))', 'c = -¤', 'c = ¤ + 0', 'c = ¤ COLLATE "x"',
    'c = (¤)::text', 'c IN ((¤))', 'c IN (lower(¤))', 'c IN (¤::text)', 'c IN (1, lower(¤))', 'c IN (SELECT ¤)', 'c IN (SELECT ¤ UNION SELECT 1)', 'c IN (VALUES (¤))',
    'c = (SELECT ¤)', 'c = ANY(ARRAY[¤])', 'c = ANY(SELECT ¤)', 'c = ANY(lower(¤))', 'c = CASE WHEN true THEN ¤ END', 'c = coalesce(¤, 1)', 'c = nullif(¤, 1)',
    'CASE c WHEN ¤ THEN true END', 'CASE ¤ WHEN c THEN true END', '¤ IN (c)', '¤ IN (SELECT c FROM s)', '¤ = ANY(c)', '¤ = ¤', '¤ = {{ passed }}', '{{ passed }} = ¤',
    'coalesce(c, ¤) = ¤', 'coalesce(c, {{ passed }}) = ¤', 'c = ¤ = true', 'c = ¤ IS NOT NULL', 'd = c = ¤', 'x IS NOT c = ¤', 'a BETWEEN 1 AND c = ¤',
    'a BETWEEN (b) AND c = ¤', 'c * 1 = ¤', '-c = ¤', 'c = d + ¤', 'd < c = ¤', 'a OR f(¤)', '¤', 'NOT ¤', 'c && ¤', 'c @> ¤', 'c ? ¤', "c::'x' = ¤", 'c:: = ¤', 'c::(x) = ¤', 'json_exists(c, ¤)',
    'position(¤ IN c) > 0', 'starts_with(c, ¤)', 'c OPERATOR(pg_catalog.=) ¤', 'c = /* = */ lower(¤) --', 'c IN (¤, (SELECT d FROM s WHERE e = ¤))', 'c =- ¤', 'c = ALL (SELECT ¤)',
    'IF(c = ¤ AND d = lower(¤), 1, 0)', "date_part('year', ¤) = c", 'interval ¤ = c', "c = ¤ AT TIME ZONE 'x'", 'c = ¤ ESCAPE 1', 'c += ¤', 'c ^= ¤', 'c => ¤', 'c := ¤',
  ] // prettier-ignore
  for (const condition of conditions) {
    it(`in ${condition}`, () => {
      for (const template of [
        `SELECT a FROM s WHERE ${condition}`,
        `SELECT a FROM s JOIN t ON ${condition}`,
      ]) {
        assert.equal(outcome(template), 'inexact_comparison')
      }
    })
  }

  const elsewhere = [
    'SELECT a FROM (SELECT ¤ AS b) AS x JOIN s ON s.c = x.b',
    'WITH x AS (SELECT ¤ AS b) SELECT a FROM s JOIN x ON s.c = x.b',
    'WITH x (b) AS (VALUES (¤)) SELECT a FROM s JOIN x ON s.c = x.b',
    'SELECT a FROM s, (VALUES (¤)) AS x (b) WHERE s.c = x.b',
    'SELECT a FROM s JOIN unnest(¤s) AS x ON x = s.c',
    'SELECT a FROM f(¤)',
    'SELECT f(¤)',
    'SELECT (f(upper(¤))).*',
    'SELECT c FROM s INTERSECT SELECT ¤',
    'SELECT c FROM s EXCEPT SELECT ¤',
    'SELECT ¤ AS b FROM s WHERE c = b',
    'SELECT ¤ b FROM s WHERE c = b',
    'SELECT ¤ AS "B" FROM s WHERE c = b',
    'SELECT ¤::text AS b, sum(a) FROM s GROUP BY c HAVING c = b',
    'SELECT c = lower(¤) FROM s',
    'SELECT nullif(c, ¤) FROM s',
    'SELECT decode(c, ¤, 1, 0) FROM s',
    'SELECT (SELECT a FROM s WHERE c = lower(¤))',
    'SELECT c, count(*) FILTER (WHERE c LIKE ¤) FROM s',
    'SELECT CASE c WHEN ¤ THEN a END FROM s',
    'SELECT a FROM s ORDER BY c > ¤',
    'SELECT a FROM s GROUP BY c HAVING max(c) > ¤',
    'SELECT ¤ INTO x',
    'CREATE TABLE x AS SELECT ¤ AS b',
    'INSERT INTO s VALUES (¤, 1) ON CONFLICT (c) DO UPDATE SET a = 1 RETURNING *',
    'INSERT INTO s VALUES (¤, 1) ON DUPLICATE KEY UPDATE a = 1',
    'INSERT OR REPLACE INTO s VALUES (¤, 1)',
    'REPLACE INTO s VALUES (¤, 1)',
    'UPDATE s SET c = ¤',
    'UPDATE s SET a = 1, c = lower(¤)',
    'DELETE FROM s WHERE c < ¤',
  ]
  for (const template of elsewhere)
    it(`in ${template}`, () => assert.equal(outcome(template), 'inexact_comparison'))

  it('by checkTemplate, if every user group has the text', () => {
    for (const variable of ['provided_id', 'name', 'environment']) {
      const template = `SELECT a FROM s WHERE c LIKE {{ user_group.${variable} }}`
      assert.throws(
        () => {
          checkTemplate(template, { dialect: 'postgresql' })
        },
        { code: 'inexact_comparison', column: 30 },
      )
    }
    for (const variable of ['team_id', 'properties.region'])
      checkTemplate(`SELECT a FROM s WHERE c > {{ user_group.${variable} }}`, { dialect: 'postgresql' })
  })

  it('with a message that says what to write, which works', () => {
    assert.throws(
      () => compileSql(`SELECT a FROM s WHERE c LIKE ${id}`, example, { dialect: 'postgresql' }),
      {
        message: /write customer = \{\{ user_group\.provided_id \}\}, customer IN \(.*NOT IN.*parentheses/,
      },
    )
    for (const condition of [
      'customer = ¤',
      'customer IN (¤)',
      'customer = ANY(¤)',
      'customer <> ¤',
      'customer NOT IN (¤)',
      'customer <> ALL(¤)',
      '(lower(c)) = ¤',
      "(c || '') = ¤",
    ])
      assert.match(outcome(`SELECT a FROM s WHERE ${condition}`), /::text COLLATE "C"/)
  })

  it('in every dialect', () => {
    for (const dialect of sqlDialects) {
      assert.equal(outcome('SELECT a FROM s WHERE c LIKE ¤', dialect), 'inexact_comparison')
      assert.equal(outcome('SELECT a FROM s WHERE lower(c) = lower(¤)', dialect), 'inexact_comparison')
    }
    assert.equal(outcome("SELECT a FROM s WHERE data->>'c' = ¤", 'duckdb'), 'inexact_comparison')
    assert.match(
      outcome("SELECT a FROM s WHERE (data->>'c') = ¤", 'duckdb'),
      /CAST\(\(data->>'c'\) AS VARCHAR\)/,
    )
    for (const dialect of ['mysql', 'mariadb'] as const)
      assert.equal(outcome('SELECT a FROM s WHERE c = ¤ || d', dialect), 'inexact_comparison')
  })

  it('but not numbers, booleans, null and values that the renderer passes', () => {
    for (const value of [7, true, null, [7, null]]) {
      const properties = { region: value }
      const variable = '{{ user_group.properties.region }}'
      if (!Array.isArray(value))
        assert.equal(
          outcome(`SELECT a FROM s WHERE c > ${variable}`, 'postgresql', properties),
          'SELECT a FROM s WHERE c > $1',
        )
      assert.match(
        outcome(`SELECT a FROM s WHERE c IN (${variable})`, 'postgresql', properties),
        /c IN \(\$1(?:, \$2)?\)$/,
      )
    }
    assert.equal(outcome('SELECT a FROM s WHERE c LIKE {{ passed }}'), 'SELECT a FROM s WHERE c LIKE $1')
    assert.equal(outcome('SELECT a FROM s WHERE c = {{ passed }}'), 'SELECT a FROM s WHERE c = $1')
  })
})

describe('a text of the user group may be', () => {
  const returned = [
    'SELECT ¤', 'SELECT ¤ AS customer, a FROM s', 'SELECT ¤ customer FROM s', 'SELECT a, upper(¤) FROM s', "SELECT concat('Sales of ', ¤) AS title FROM s",
    "SELECT 'Sales of ' || ¤ || '!' AS title FROM s", 'SELECT ¤::text AS x, CAST(¤ AS varchar(20)) y FROM s', 'SELECT DISTINCT ¤, a FROM s',
    "SELECT set_config('app.customer', ¤, true)", 'SELECT coalesce(¤, NULL)', 'INSERT INTO s VALUES (¤, 1)', 'INSERT INTO s (a, b) VALUES (1, ¤)', 'INSERT INTO s SELECT ¤, a FROM t',
    'WITH x AS (SELECT 1) SELECT ¤, a FROM x', 'SELECT a FROM s UNION ALL SELECT ¤', 'SELECT unnest(¤s::text[])', 'VALUES (¤)', 'SELECT a FROM s LIMIT 10 OFFSET 5',
  ] // prettier-ignore
  for (const template of returned)
    it(`returned or stored: ${template}`, () => {
      const text = outcome(template)
      assert.doesNotMatch(text, /^\w+$|COLLATE/)
    })

  const compared: readonly (readonly [condition: string, written: string])[] = [
    ['"c" = ¤', '("c" = $1 AND ("c")::text COLLATE "C" = $2)'],
    ['public.s.c = ¤', '(public.s.c = $1 AND (public.s.c)::text COLLATE "C" = $2)'],
    ['public . s . "c" = ¤', '(public . s . "c" = $1 AND (public . s . "c")::text COLLATE "C" = $2)'],
    ['¤ = c', '($1 = c AND (c)::text COLLATE "C" = $2)'],
    ['¤ <> c', '((c)::text COLLATE "C" <> $1)'],
    ['c::text = ¤', '(c::text = $1 AND (c::text)::text COLLATE "C" = $2)'],
    ['c = ¤::int', '(c = $1::int AND (c)::text COLLATE "C" = $2)'],
    ['lower(c) = ¤', '(lower(c) = $1 AND (lower(c))::text COLLATE "C" = $2)'],
    ['c COLLATE "x" = ¤', '(c COLLATE "x" = $1 AND (c COLLATE "x")::text COLLATE "C" = $2)'],
    ["data->'a'->>0 = ¤", `(data->'a'->>0 = $1 AND (data->'a'->>0)::text COLLATE "C" = $2)`],
    ["data['a'][1] = ¤", `(data['a'][1] = $1 AND (data['a'][1])::text COLLATE "C" = $2)`],
    ["'a' = ¤", `('a' = $1 AND ('a')::text COLLATE "C" = $2)`],
    ['(c) = ¤', '((c) = $1 AND ((c))::text COLLATE "C" = $2)'],
    ['a AND c = ¤ OR b', 'a AND (c = $1 AND (c)::text COLLATE "C" = $2) OR b'],
    ['NOT c = ¤', 'NOT (c = $1 AND (c)::text COLLATE "C" = $2)'],
    ['c /* a = b */ = -- =\n ¤', '(c /* a = b */ = -- =\n $1 AND (c)::text COLLATE "C" = $2)'],
    ['f(c = ¤, 1)', 'f((c = $1 AND (c)::text COLLATE "C" = $2), 1)'],
    ['CASE WHEN c = ¤ THEN 1 END', 'CASE WHEN (c = $1 AND (c)::text COLLATE "C" = $2) THEN 1 END'],
    ['a BETWEEN 1 AND 2 AND c = ¤', 'a BETWEEN 1 AND 2 AND (c = $1 AND (c)::text COLLATE "C" = $2)'],
    ['{{ identifier user_group.properties.region }}.c = ¤', '("EU".c = $1 AND ("EU".c)::text COLLATE "C" = $2)'],
    ['c IN (¤, {{ passed }}, 1 + 2)', '(c IN ($1, $2, 1 + 2) AND (c IN (1 + 2, $3) OR (c)::text COLLATE "C" IN ($4)))'],
    ['c NOT IN (¤s, 7)', '(c NOT IN (7) AND (c)::text COLLATE "C" NOT IN ($1, $2))'],
    ['c = ANY(¤s::int[])', '(c = ANY($1::int[]) AND (c)::text COLLATE "C" = ANY($2::text[]))'],
    ['c <> ALL (¤s)', '((c)::text COLLATE "C" <> ALL ($1::text[]))'],
    ['c IN (SELECT unnest(¤s::text[]))', '(c IN (SELECT unnest($1::text[])) AND (c)::text COLLATE "C" IN (SELECT unnest($2::text[])))'],
  ] // prettier-ignore
  for (const [condition, written] of compared)
    it(`compared: ${condition}`, () => {
      assert.equal(outcome(`SELECT a FROM s WHERE ${condition}`), `SELECT a FROM s WHERE ${written}`)
      assert.equal(
        outcome(`SELECT a FROM s JOIN t ON ${condition} GROUP BY a HAVING ${condition} ORDER BY 1`).includes(
          'COLLATE',
        ),
        true,
      )
    })
})
