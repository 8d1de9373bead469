import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate, compileSql, TemplateError, type SqlDialect } from '../../src/index.ts'
import { example, sqlDialects } from '../support.ts'

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
    'c = CAST(¤ AS integer)', "c = ¤ || ''", "c || '' = ¤", "c = '' || ¤", 'c = trim(¤)', 'c = -¤', 'c = ¤ + 0', 'c = ¤ COLLATE "x"',
    'c IN ((¤))', 'c IN (lower(¤))', 'c IN (¤::text)', 'c IN (1, lower(¤))', 'c IN (SELECT ¤)', 'c IN (SELECT ¤ UNION SELECT 1)', 'c IN (VALUES (¤))',
    'c = (SELECT ¤)', 'c = ANY(ARRAY[¤])', 'c = ANY(SELECT ¤)', 'c = ANY(lower(¤))', 'c = CASE WHEN true THEN ¤ END', 'c = coalesce(¤, 1)', 'c = nullif(¤, 1)',
    'CASE c WHEN ¤ THEN true END', 'CASE ¤ WHEN c THEN true END', '¤ IN (c)', '¤ IN (SELECT c FROM s)', '¤ <> ANY(c)', '¤ = ALL(c)', '¤ = ANY(lower(c))', '¤ = ANY(SELECT c FROM s)', '¤ = ¤', '¤ = {{ passed }}', '{{ passed }} = ¤',
    'coalesce(c, ¤) = ¤', 'coalesce(c, {{ passed }}) = ¤', 'c = ¤ = true', 'c = ¤ IS NOT NULL', 'd = c = ¤', 'x IS NOT c = ¤', 'a BETWEEN 1 AND c = ¤',
    'a BETWEEN (b) AND c = ¤', 'c * 1 = ¤', '-c = ¤', 'c = d + ¤', 'd < c = ¤', 'a OR f(¤)', '¤', 'NOT ¤', 'c && ¤', 'c @> ¤', 'c ? ¤', "c::'x' = ¤", 'c:: = ¤', 'c::(x) = ¤', 'json_exists(c, ¤)',
    'position(¤ IN c) > 0', 'starts_with(c, ¤)', 'c OPERATOR(pg_catalog.=) ¤', 'c = /* = */ lower(¤) --', 'c IN (¤, (SELECT d FROM s WHERE e = ¤))', 'c =- ¤', 'c = ALL (SELECT ¤)',
    'IF(c = ¤ AND d = lower(¤), 1, 0)', "date_part('year', ¤) = c", 'interval ¤ = c', "c = ¤ AT TIME ZONE 'x'", 'c AT TIME ZONE ¤ = d', 'date_trunc(¤, d) = e', '¤ IS NULL = c', '¤ IS DISTINCT FROM NULL', 'c = ¤ GLOBAL IN (d)', 'c = ((((((¤))))))',
    'c = ¤ ESCAPE 1', 'c += ¤', 'c ^= ¤', 'c => ¤', 'c := ¤',
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
    'UPDATE s SET a = 1, c = ¤ WHERE d = 1',
    'UPDATE s SET (a, c) = (1, ¤)',
    'UPDATE s SET a = CASE WHEN b THEN 1 END, c = ¤',
    'UPDATE s SET a = b AND d, c = ¤',
    'UPDATE s JOIN t ON s.a = t.a SET s.b = 1, c = ¤',
    'INSERT INTO s (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 1, c = ¤',
    'INSERT INTO s (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 1, c = ¤',
    'INSERT INTO s SET a = 1, c = ¤',
    'MERGE INTO s USING t ON s.a = t.a WHEN MATCHED AND s.b = 1 THEN UPDATE SET a = 1, c = ¤',
    'ALTER TABLE s UPDATE a = 1, c = ¤ WHERE b = 1',
    'SELECT @x := ¤',
    'SELECT a, @x := ¤',
    'SET a = 1, c = ¤',
    'EXEC f a, c = ¤',
    'CREATE TABLE s WITH (a = 1, c = ¤) AS SELECT 1',
    'CREATE TABLE s WITH (c = ¤) AS SELECT 1',
    "COPY s TO 'f' (a, c = ¤)",
    'SELECT a FROM f(1, c = ¤)',
    'SELECT a FROM f(c = ¤)',
    'SELECT a FROM s JOIN t ON a = b, f(1, c = ¤)',
    'SELECT f(1, c => ¤)',
    'SELECT f(1, c := ¤)',
    'SELECT a FROM s SETTINGS a = 1, c = ¤',
    'SELECT a FROM s OPTION (c = ¤)',
    'SELECT ¤ IN (42)',
    'SELECT ¤ + 0',
    'SELECT -¤',
    "SELECT ¤ LIKE 'a%'",
    "SELECT ¤::text GLOB 'a%'",
    "SELECT ¤ REGEXP 'a'",
    'SELECT ¤ IN (VALUES (42))',
    'SELECT a FROM s LIMIT ¤',
    'DELETE FROM s WHERE c < ¤',
  ]
  for (const template of elsewhere)
    it(`in ${template}`, () => assert.equal(outcome(template), 'inexact_comparison'))

  it('by checkTemplate, if a user group can have the text', () => {
    for (const variable of ['provided_id', 'name', 'environment', 'properties.region']) {
      const template = `SELECT a FROM s WHERE c LIKE {{ user_group.${variable} }}`
      assert.throws(
        () => {
          checkTemplate(template, { dialect: 'postgresql' })
        },
        { code: 'inexact_comparison', column: 30 },
      )
    }
    for (const variable of ['user_group.team_id', 'number user_group.properties.region'])
      checkTemplate(`SELECT a FROM s WHERE c > {{ ${variable} }} LIMIT {{ user_group.properties.rows }}`, {
        dialect: 'postgresql',
      })
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

  it('in a SELECT list where the name before = is an alias', () => {
    for (const template of ['SELECT c = ¤ FROM s', 'SELECT DISTINCT c = ¤ FROM s', 'SELECT a, c = ¤ FROM s'])
      assert.equal(outcome(template, 'sqlserver'), 'inexact_comparison')
    assert.match(outcome('SELECT IIF(c = ¤, 1, 0) FROM s WHERE d = ¤ ORDER BY a', 'sqlserver'), /BIN2.*BIN2/)
  })

  it('where || means OR', () => {
    assert.equal(outcome("SELECT 'a' || ¤", 'mysql'), 'inexact_comparison')
  })

  it('but a number can be assigned', () => {
    const number = '{{ number user_group.properties.value }}'
    const properties = { value: '42' }
    assert.equal(
      outcome(`UPDATE s SET a = 1, c = ${number} WHERE d = 1`, 'postgresql', properties),
      'UPDATE s SET a = 1, c = CAST($1 AS bigint) WHERE d = 1',
    )
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

describe('a comparison may end before', () => {
  const after = [
    'OPTION (RECOMPILE)', 'OUTER APPLY f(1) x', 'CROSS APPLY f(1) x', 'LOCK IN SHARE MODE', 'FOR UPDATE', 'FOR SHARE', 'USING SAMPLE 10', 'TABLESAMPLE (10)',
    'START WITH a = 1 CONNECT BY PRIOR a = b', 'CONNECT BY PRIOR a = b', 'CLUSTER BY a', 'SORT BY a', 'DISTRIBUTE BY a', 'FETCH FIRST 1 ROWS ONLY', 'FETCH NEXT ROW ONLY',
    'WINDOW w AS (ORDER BY a)', 'SETTINGS a = 1', 'FORMAT JSON', 'QUALIFY a = 1', 'WITH ROLLUP', 'WITH UR', 'OFFSET 1 ROWS', 'RETURNING a', 'SELECT a', 'PREWHERE a = 1',
    'SET a = 1', 'ANY LEFT JOIN u ON a = b', 'ALL INNER JOIN u ON a = b', 'ASOF JOIN u ON a = b', 'SEMI JOIN u ON a = b', 'ANTI JOIN u ON a = b', 'ARRAY JOIN a',
    'POSITIONAL JOIN u', 'PIVOT (sum(a) FOR b IN (1))', 'WHEN MATCHED THEN DELETE', 'DO NOTHING', 'MINUS SELECT 1',
  ] // prettier-ignore
  for (const words of after)
    it(words, () => {
      for (const dialect of sqlDialects)
        assert.notEqual(outcome(`SELECT a FROM s JOIN t ON c = ¤ ${words}`, dialect), 'inexact_comparison')
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
    ['c = (¤)', '(c = ($1) AND (c)::text COLLATE "C" = $2)'],
    ['c = ((¤)::text)', '(c = (($1)::text) AND (c)::text COLLATE "C" = $2)'],
    ['(¤) = c', '(($1) = c AND (c)::text COLLATE "C" = $2)'],
    ['¤ = ANY(c)', '($1 = ANY(c) AND $2 = ANY((c)::text[] COLLATE "C"))'],
    ["¤ = SOME (c->'a')", `($1 = SOME (c->'a') AND $2 = SOME ((c->'a')::text[] COLLATE "C"))`],
    ['¤ <> ALL(s.c)', '($1 <> ALL((s.c)::text[] COLLATE "C"))'],
    ['(¤ IS NULL OR c = ¤)', '(CAST($1 AS text) IS NULL OR (c = $2 AND (c)::text COLLATE "C" = $3))'],
    ['¤::text IS NOT NULL AND c = ¤', 'CAST($1 AS text)::text IS NOT NULL AND (c = $2 AND (c)::text COLLATE "C" = $3)'],
    ['f(a, c = ¤, b)', 'f(a, (c = $1 AND (c)::text COLLATE "C" = $2), b)'],
    ['settings = ¤', '(settings = $1 AND (settings)::text COLLATE "C" = $2)'],
    ["start->>'a' = ¤", `(start->>'a' = $1 AND (start->>'a')::text COLLATE "C" = $2)`],
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
