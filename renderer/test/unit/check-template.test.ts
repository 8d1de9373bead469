import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate, TemplateError, variablesOf, type CheckOptions } from '../../src/index.ts'

function problemOf(template: string, options: Partial<CheckOptions> = {}): string {
  try {
    checkTemplate(template, { dialect: 'postgresql', ...options })
    return 'none'
  } catch (error) {
    if (error instanceof TemplateError) return `${error.code} ${error.line}:${error.column}`
    throw error
  }
}

describe('checkTemplate', () => {
  it('accepts what compileSql may accept', () => {
    const template = `SELECT {{ user_group.team_id }} FROM {{ identifier user_group.properties.schema }}.sales
      WHERE a IN ({{ user_group.properties.any }}) AND b = ANY({{ filter.list }}) AND day > {{ date filter.from }}
      [[ AND c = {{ filter.c }} ]] [[ AND d = {{ filter.d }} ]] LIMIT {{ filter.rows }}`
    const options = {
      variables: ['filter.list', 'filter.from', 'filter.rows'],
      optional: ['filter.c', 'filter.d'],
      identifiers: { 'user_group.properties.schema': ['eu'] },
    }
    assert.equal(problemOf(template, options), 'none')
  })

  const refused: readonly (readonly [template: string, problem: string])[] = [
    ["SELECT\n '{{ user_group.name }}'", 'variable_in_literal 2:3'],
    ['SELECT {{ region }}', 'unknown_variable 1:8'],
    ['SELECT {{ user_group.id }}', 'unknown_variable 1:8'],
    ['SELECT {{ identifier user_group.name }}', 'identifier_not_allowed 1:8'],
    ['SELECT a LIMIT {{ user_group.properties.n }} + 1', 'variable_in_row_count 1:16'],
    ['SELECT a [[ WHERE b = {{ f }} ]]', 'invalid_optional_clause 1:10'],
    ["SELECT '", 'malformed_template 1:8'],
    ['SELECT $1', 'placeholder_in_template 1:8'],
  ]
  for (const [template, problem] of refused) {
    it(`refuses ${template}`, () => assert.equal(problemOf(template), problem))
  }

  it('checks the statement with each clause and without', () => {
    const options = { optional: ['f', 'g'] }
    assert.equal(problemOf("SELECT E'a' [[ , {{ f }} , ]]\n 'b'", options), 'malformed_template 2:2')
    assert.equal(
      problemOf('SELECT a LIMIT [[ {{ f }} + ]] [[ {{ g }} ]] 1', options),
      'variable_in_row_count 1:19',
    )
  })

  describe('requires a variable', () => {
    const require = ['user_group.provided_id']
    const id = '{{ user_group.provided_id }}'
    const met = [
      'SELECT a FROM s WHERE b = ¤',
      'SELECT a WHERE b = {{ user_group["provided_id"] }};',
      'SELECT a WHERE b = ¤; SELECT c WHERE d = ¤ ;; -- end',
      'SELECT a FROM s WHERE ¤ = b',
      'SELECT a FROM s WHERE b == ¤',
      'SELECT a FROM s WHERE b IN (¤)',
      'SELECT a FROM s WHERE b = ANY(¤)',
      'SELECT a FROM s WHERE b = ANY(¤::text[])',
      'SELECT a FROM s WHERE b IN (SELECT unnest(¤))',
      'SELECT a FROM s WHERE "B" = ¤',
      'SELECT a FROM public.s AS t WHERE t."B" = ¤',
      'SELECT a FROM s WHERE db.schema.t.b = ¤',
      'SELECT a FROM s WHERE b::text = ¤',
      "SELECT a FROM s WHERE data->>'b' = ¤",
      "SELECT a FROM s WHERE data['b'] = ¤",
      'SELECT a FROM s WHERE b COLLATE "C" = ¤',
      'SELECT a FROM s WHERE {{ date user_group.provided_id }} = b',
      'SELECT a FROM s WHERE c > 1 AND b = ¤ AND (d = 1 OR e = 2)',
      'SELECT a FROM s WHERE (((b = ¤)) AND c > 1) AND d > 1',
      'SELECT a FROM s WHERE NOT c AND b = ¤',
      'SELECT a FROM s WHERE c BETWEEN 1 AND 2 AND b = ¤ ORDER BY a',
      'SELECT a FROM s WHERE CASE WHEN c OR d THEN e END AND b = ¤ GROUP BY a HAVING c OR d',
      'SELECT a FROM s WHERE b = ¤ GROUP BY a ORDER BY a LIMIT 10',
      'SELECT a FROM s WHERE b = ¤ FETCH FIRST 10 ROWS ONLY',
      'SELECT a FROM s JOIN t ON s.id = t.id AND t.b = ¤',
      'SELECT a FROM s JOIN t ON t.b = ¤ JOIN u ON s.c = u.c OR s.d = u.d WHERE c OR d',
      'SELECT a FROM s LEFT JOIN t ON s.id = t.id WHERE s.b = ¤',
      'SELECT a FROM s WHERE b = ¤ UNION ALL SELECT a FROM t WHERE c = ¤',
      '(SELECT a FROM s WHERE b = ¤) UNION (SELECT a FROM t WHERE c = ¤) ORDER BY a',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS x GROUP BY a',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤ UNION SELECT * FROM t WHERE c = ¤) x WHERE d OR e',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM x',
      'WITH x (a, b) AS MATERIALIZED (SELECT * FROM s WHERE b = ¤), y AS (SELECT * FROM x) SELECT a FROM y JOIN x ON x.a = y.a',
      'WITH x AS (SELECT * FROM s) SELECT a FROM x WHERE b = ¤',
      'WITH "X" AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM "X"',
      'SELECT s.b AS customer FROM s WHERE b = ¤',
      'SELECT s.b AS b FROM s WHERE b = ¤',
      'SELECT * EXCEPT (c) FROM s WHERE b = ¤',
      'DELETE FROM s WHERE b = ¤',
      'SELECT EXISTS (SELECT 1 FROM t) FROM s WHERE b = ¤',
      "SELECT a FROM s WHERE (data->>'b') = ¤",
      'SELECT a FROM s WHERE (s.b) = (¤)',
      'SELECT a FROM s WHERE ¤ = ANY(s.tags)',
      "SELECT a FROM s WHERE json_value(s.data, '$.b') = ¤",
      "SELECT a FROM s WHERE jsonb_extract_path_text(data->'x', 'b', 'c') = ¤",
      "SELECT a FROM s WHERE json_unquote(json_extract(data, '$.b')) = ¤",
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x CROSS JOIN generate_series(1, 12) m',
      'SELECT a FROM generate_series(1, 12) WITH ORDINALITY m (n, o) LEFT JOIN (SELECT * FROM s WHERE b = ¤) x ON x.n = m.n OR c',
      'SELECT a FROM (VALUES (1), (2)) v (n) LEFT JOIN (SELECT * FROM s WHERE b = ¤) x ON x.n = v.n',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x, LATERAL unnest(x.tags) t',
      'SELECT a FROM (SELECT s.*, unnest(tags) AS tag FROM s) x WHERE x.tag = ¤',
      'SELECT a FROM s WHERE b = ¤ QUALIFY row_number() OVER (PARTITION BY c) = 1 OR d',
      'SELECT a FROM s WHERE c = d AND (b = ¤) AND e = f QUALIFY g OR h',
      'SELECT a FROM s JOIN t ON t.b = ¤ QUALIFY c OR d',
      'SELECT a FROM s WHERE b = ¤ START WITH c OR d CONNECT BY PRIOR e = f OR g',
      'SELECT a FROM s WHERE b = ¤ DISTRIBUTE BY c OR d',
      'SELECT a FROM s WHERE b = ¤ OPTION (RECOMPILE)',
      'SELECT a FROM s WHERE (b = ¤) FOR UPDATE',
      'FROM s JOIN t ON t.b = ¤ SELECT c OR d',
      'UPDATE s JOIN t ON t.b = ¤ SET a = c OR d',
      'DELETE FROM s WHERE b = ¤ RETURNING c OR d',
      'SELECT a AS where FROM s WHERE b = ¤',
      'SELECT count(*) FILTER (WHERE c OR d) FROM s WHERE b = ¤ WINDOW w AS (ORDER BY a)',
      '',
    ]
    for (const template of met)
      it(`met by ${template}`, () => {
        assert.equal(problemOf(template.replaceAll('¤', id), { require }), 'none')
      })

    const notMet = [
      'SELECT a FROM s',
      'SELECT a FROM s WHERE b = {{ user_group.name }}',
      'SELECT ¤ FROM s',
      'SELECT b = ¤ FROM s',
      'SELECT a FROM s WHERE b LIKE ¤',
      'SELECT a FROM s WHERE b <> ¤',
      'SELECT a FROM s WHERE b != ¤',
      'SELECT a FROM s WHERE b > ¤',
      'SELECT a FROM s WHERE b >= ¤',
      'SELECT a FROM s WHERE ¤ <= b',
      'SELECT a FROM s WHERE b NOT IN (¤)',
      'SELECT a FROM s WHERE b <> ALL(¤)',
      'SELECT a FROM s WHERE ¤ IS NOT NULL',
      'SELECT a FROM s WHERE b IS NOT DISTINCT FROM ¤',
      'SELECT a FROM s WHERE b BETWEEN ¤ AND ¤',
      'SELECT a FROM s WHERE b = ¤ OR 1 = 1',
      'SELECT a FROM s WHERE 1 = 1 OR b = ¤',
      'SELECT a FROM s WHERE (b = ¤ OR 1 = 1)',
      'SELECT a FROM s WHERE b = ¤ AND c OR d',
      'SELECT a FROM s WHERE (b = ¤) = false',
      'SELECT a FROM s WHERE (b = ¤) IS NOT NULL',
      'SELECT a FROM s WHERE NOT b = ¤',
      'SELECT a FROM s WHERE NOT (b = ¤)',
      'SELECT a FROM s WHERE c = 1 AND NOT (b = ¤)',
      'SELECT a FROM s WHERE c BETWEEN 1 AND b = ¤',
      'SELECT a FROM s WHERE CASE WHEN b = ¤ THEN true ELSE true END',
      'SELECT a FROM s WHERE coalesce(b = ¤, true)',
      'SELECT a FROM s WHERE b = lower(¤)',
      "SELECT a FROM s WHERE b = ¤ || ''",
      "SELECT a FROM s WHERE 'a' = ¤",
      'SELECT a FROM s WHERE ¤ = ¤',
      'SELECT a FROM s WHERE ¤ = {{ user_group.name }}',
      'SELECT a FROM s WHERE 1 = ¤',
      'SELECT a FROM s WHERE true = ¤',
      'SELECT a FROM s WHERE current_user = ¤',
      'SELECT a FROM s WHERE lower(b) = ¤',
      'SELECT a FROM s WHERE b::integer = ¤',
      'SELECT a FROM s WHERE b::varchar(1) = ¤',
      "SELECT a FROM s WHERE b IN (¤, 'x')",
      'SELECT a FROM s WHERE b IN (¤, {{ user_group.name }})',
      'SELECT a FROM s WHERE b IN (SELECT ¤)',
      'SELECT a FROM s WHERE ¤ IN (b)',
      'SELECT a FROM s WHERE (b, c) = (¤, 1)',
      'SELECT a FROM s WHERE EXISTS (SELECT 1 FROM t WHERE b = ¤)',
      'SELECT a FROM s WHERE c IN (SELECT c FROM t WHERE b = ¤)',
      'SELECT (SELECT c FROM t WHERE b = ¤) FROM s',
      'SELECT a FROM s HAVING b = ¤',
      'SELECT count(*) FILTER (WHERE b = ¤) FROM s',
      'SELECT a FROM s ORDER BY b = ¤',
      'SELECT a FROM s LEFT JOIN t ON t.b = ¤',
      'SELECT a FROM s JOIN t ON t.b = ¤ FULL JOIN u ON s.c = u.c',
      'SELECT a FROM s JOIN t ON t.b = ¤ OR s.c = t.c',
      'SELECT a FROM s WHERE b = ¤ UNION SELECT a FROM s',
      'SELECT a FROM s UNION ALL SELECT a FROM s WHERE b = ¤',
      '(SELECT a FROM s WHERE b = ¤) UNION (SELECT a FROM s)',
      'SELECT a FROM s EXCEPT SELECT a FROM s WHERE b = ¤',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS x, s',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS x JOIN s ON true',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS x, LATERAL (SELECT * FROM s) AS y',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS x, f(1)',
      'SELECT a FROM s, (SELECT * FROM t WHERE b = ¤) AS x',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM s',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM public.x',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM "x"',
      'WITH x AS (SELECT * FROM s WHERE b = ¤), y AS (SELECT * FROM s) SELECT a FROM x, y',
      'WITH x AS (SELECT * FROM y), y AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM x',
      'SELECT a FROM (WITH s AS (SELECT * FROM s WHERE b = ¤) SELECT 1) AS x, s',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT * FROM (WITH x AS ((SELECT * FROM s)) SELECT * FROM x) y',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT * FROM (WITH x (a, b) AS NOT MATERIALIZED ((SELECT * FROM s)) SELECT * FROM x) y',
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT * FROM (WITH "x" AS (SELECT * FROM s) SELECT * FROM x) y',
      'WITH "sales" AS (SELECT * FROM "Sales" WHERE b = ¤) SELECT * FROM "Sales"',
      'WITH É AS (SELECT * FROM s WHERE b = ¤) SELECT * FROM é',
      'FROM s SELECT * EXCEPT SELECT * FROM s WHERE b = ¤',
      'SELECT * EXCEPT (SELECT * FROM s WHERE b = ¤)',
      "INSERT INTO r SELECT * FROM s WHERE true ON CONFLICT (a) DO UPDATE SET b = 'z' WHERE r.b = ¤ RETURNING *",
      'SELECT a FROM s WHERE b[:4] = ¤',
      'SELECT a FROM s WHERE b[1] = ¤',
      'SELECT s.*, {{ user_group.name }} AS b2 FROM s WHERE b2 = ¤',
      "SELECT *, 'acme' AS q FROM s WHERE q = ¤",
      "SELECT *, 'acme' q FROM s WHERE q = ¤",
      'SELECT *, lower(a) q FROM s WHERE q IN (¤)',
      // MariaDB reads the table x in y.
      'WITH x AS (SELECT * FROM s WHERE b = ¤) SELECT a FROM (WITH y AS (SELECT * FROM x) SELECT * FROM y) AS z',
      'UPDATE s SET a = (SELECT a FROM t WHERE b = ¤)',
      'INSERT INTO s VALUES (¤)',
      'UPDATE s SET b = ¤',
      'SELECT a FROM s WHERE b = ¤ AND limit = limit OR true',
      'SELECT a FROM s WHERE b = ¤ AND c = "limit" OR true',
      'SELECT a FROM s WHERE b = ¤ AND c = s.having OR true',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) limit, s',
      'SELECT a FROM s -- WHERE b = x\n WHERE c = ¤ OR b',
      'SELECT a FROM (s WHERE b = ¤',
      "SELECT a FROM s WHERE json_value(lower(data), '$.b') = ¤",
      'SELECT a FROM s WHERE json_value(data, path) = ¤',
      "SELECT a FROM s WHERE f.json_value(data, '$.b') = ¤",
      "SELECT a FROM s WHERE json_value('{}', '$.b') = ¤",
      "SELECT a FROM s WHERE (data->>'b' = ¤) = c",
      'SELECT a FROM s WHERE (lower(b)) = ¤',
      'SELECT a FROM s WHERE ¤ <> ALL(tags)',
      'SELECT a FROM s WHERE {{ number user_group.provided_id }} = ANY(tags)',
      'SELECT a FROM s WHERE c QUALIFY d AND b = ¤',
      'SELECT a FROM s WHERE c = 1 WINDOW w AS (ORDER BY a) AND b = ¤',
      'SELECT a FROM s WHERE c = 1 FOR UPDATE AND b = ¤',
      "WITH x AS (SELECT a FROM s WHERE b = ¤) SELECT a FROM (WITH 'x' AS (SELECT a FROM s) SELECT a FROM x)",
      "SELECT a, '42' AS 'b' FROM s WHERE b = ¤",
      "SELECT a FROM (SELECT a, '42' AS b FROM s) d WHERE d.b = ¤",
      'SELECT a FROM (SELECT a, 42 b FROM s) d WHERE d.b = ¤',
      "WITH d AS (SELECT a, '42' AS b FROM s) SELECT a FROM d WHERE d.b = ¤",
      "SELECT a, '42' COLLATE nocase AS b FROM s WHERE b = ¤",
      'SELECT a FROM s WHERE c = 1 QUALIFY d AND b = ¤',
      'SELECT a FROM s QUALIFY b = ¤',
      'SELECT a FROM s WHERE b = ¤ AND qualify OR true',
      'SELECT a FROM s WHERE b = ¤ AND c = binary qualify OR true',
      'SELECT a FROM s WHERE b = ¤ AND c LIKE set OR true',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) qualify, s',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) prewhere, s',
      'SELECT a FROM s WHERE c START WITH d CONNECT BY e AND b = ¤',
      'SELECT a FROM s JOIN t ON c CONNECT BY d AND b = ¤',
      'SELECT a FROM s WHERE c SORT BY d AND b = ¤',
      'DELETE FROM s WHERE c = 1 RETURNING d AND b = ¤',
      'DELETE FROM s WHERE c RETURNING d AND b = ¤',
      'UPDATE s JOIN t ON s.c = t.c SET d = e AND b = ¤',
      'FROM s JOIN t ON c SELECT d AND b = ¤',
      'SELECT a AS where, c AND b = ¤ FROM s',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS where, s',
      'MERGE INTO s USING t ON s.a = t.a WHEN MATCHED THEN UPDATE SET c = 1 WHERE b = ¤',
      'SELECT a FROM s PREWHERE b = ¤',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x CROSS JOIN generate_series((SELECT 1), 2) m',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x CROSS JOIN public.generate_series(1, 2) m',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x CROSS JOIN generate_series m',
      'SELECT a FROM (VALUES ((SELECT 1))) v LEFT JOIN (SELECT * FROM s WHERE b = ¤) x ON true',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x, LATERAL s',
      'SELECT a FROM (SELECT * FROM s WHERE b = ¤) x, generate_series(1',
    ]
    for (const template of notMet)
      it(`not met by ${template}`, () => {
        const problem = problemOf(template.replaceAll('¤', id), { require })
        assert.equal(problem, 'missing_variable 1:1')
      })

    it('with and without each optional clause', () => {
      const options = { optional: ['f', 'g'], require }
      const problem = (clauses: string) => problemOf(`SELECT a FROM s WHERE b = ${id} ${clauses}`, options)
      assert.equal(problem('[[ AND c = {{ f }} ]] [[ AND d > {{ g }} ]]'), 'none')
      assert.equal(problem('[[ OR c = {{ f }} ]]'), 'missing_variable 1:1')
      assert.equal(
        problem('[[ AND c = {{ f }} ]] [[ UNION SELECT a FROM s WHERE c = {{ g }} ]]'),
        'missing_variable 1:1',
      )
      const alias = `SELECT ${id} AS x FROM s WHERE b = ${id} [[ AND c = {{ f }} AND d = x ]]`
      assert.equal(problemOf(alias, options), 'inexact_comparison 1:8')
    })

    it('with each combination of optional clauses', () => {
      const condition = (clauses: string) =>
        `SELECT a FROM s LEFT JOIN t ON (true ${clauses} AND s.b = ${id}) WHERE s.b = ${id} ${clauses}`
      const options = { optional: Array.from({ length: 11 }, (_, index) => `f${index}`), require }
      const clauses = options.optional.map((name, index) => `[[ AND c${index} = {{ ${name} }} ]]`)
      // Both BETWEEN without the other clauses take both AND that follow.
      const between =
        'SELECT a FROM s WHERE c [[ BETWEEN {{ f0 }} ]] [[ BETWEEN {{ f1 }} ]] [[ AND {{ f2 }} ]] [[ AND {{ f3 }} ]]'
      assert.equal(problemOf(`${between} AND 1 AND b = ${id}`, options), 'missing_variable 1:1')
      assert.equal(problemOf(`${between} AND 1 AND 2 AND b = ${id}`, options), 'none')
      assert.equal(problemOf(condition(clauses.slice(0, 10).join(' ')), options), 'none')
      assert.equal(
        problemOf(condition(clauses.join(' ')), options).replace(/ .*/, ''),
        'invalid_optional_clause',
      )
      // Clauses with the same variables are absent together.
      assert.equal(problemOf(condition(`[[ AND c = {{ f0 }} ]] `.repeat(20)), options), 'none')
    })

    it('in every statement', () => {
      const two = (first: string, second: string) => problemOf(`${first};\n  ${second}`, { require })
      assert.equal(two(`SELECT a WHERE b = ${id}`, 'SELECT c'), 'missing_variable 2:3')
      assert.equal(two('SELECT a', `SELECT c WHERE b = ${id}`), 'missing_variable 1:1')
    })

    it('and says which condition to write', () => {
      assert.throws(() => {
        checkTemplate(`SELECT a FROM s WHERE b LIKE ${id}`, { dialect: 'postgresql', require })
      }, /write customer = \{\{ user_group\.provided_id \}\}, customer IN \(.*WHERE of each SELECT.*not under OR/)
    })

    it('where || is OR', () => {
      const template = `SELECT a FROM s WHERE b = ${id} AND c || d`
      assert.equal(problemOf(template, { require, dialect: 'mysql' }), 'missing_variable 1:1')
      assert.equal(problemOf(template, { require, dialect: 'mariadb' }), 'missing_variable 1:1')
      assert.equal(problemOf(template, { require }), 'none')
    })

    it('with PREWHERE', () => {
      const problem = (template: string) =>
        problemOf(template.replaceAll('¤', id), { require, dialect: 'clickhouse' })
      assert.equal(problem('SELECT a FROM s FINAL PREWHERE b = ¤ WHERE c OR d'), 'none')
      assert.equal(problem('SELECT a FROM s PREWHERE c OR d WHERE b = ¤ SETTINGS a = 1 FORMAT JSON'), 'none')
      assert.equal(problem('SELECT a FROM s PREWHERE b = ¤ OR c WHERE d'), 'missing_variable 1:1')
      assert.equal(
        problem('SELECT a FROM (SELECT * FROM s WHERE b = ¤) AS prewhere, s'),
        'missing_variable 1:1',
      )
    })

    it('where a parameter of an arrow is no column', () => {
      const template = `SELECT a FROM s WHERE data->>'b' = ${id}`
      assert.equal(problemOf(template, { require, dialect: 'duckdb' }), 'missing_variable 1:1')
    })

    it('with the pipe operator', () => {
      const problem = (template: string) =>
        problemOf(template.replaceAll('¤', id), { require, dialect: 'bigquery' })
      assert.equal(problem('FROM s |> WHERE b = ¤ |> SELECT a'), 'none')
      assert.equal(problem('FROM s |> WHERE b = ¤ |> JOIN t ON true'), 'missing_variable 1:1')
      assert.equal(problem('FROM s |> WHERE b = ¤ |> UNION ALL (SELECT * FROM s)'), 'missing_variable 1:1')
      assert.equal(
        problem('FROM s |> WHERE b = ¤ |> UNION ALL (SELECT * FROM s WHERE b = ¤), (SELECT * FROM s)'),
        'missing_variable 1:1',
      )
      assert.equal(problem('SELECT * EXCEPT (c) FROM s WHERE b = ¤'), 'none')
    })

    it('outside optional clauses and row counts, and as a value', () => {
      const template = 'SELECT a [[ WHERE b = {{ filter.b }} ]]'
      const options = { optional: ['filter.b'], require: ['filter.b'] }
      assert.equal(problemOf(template, options), 'missing_variable 1:1')
      const identifiers = { 'user_group.provided_id': ['eu'] }
      const named = 'SELECT a FROM {{ identifier user_group.provided_id }}'
      assert.equal(problemOf(named, { require, identifiers }), 'missing_variable 1:1')
      const counted = 'SELECT a LIMIT {{ user_group.provided_id }}'
      assert.equal(problemOf(counted, { require }), 'missing_variable 1:1')
    })
  })

  it('checks its arguments', () => {
    assert.throws(() => problemOf('SELECT 1', { require: ['not a name'] }), TypeError)
    assert.throws(
      () => problemOf('SELECT 1', { variables: { filter: {} } as unknown as string[] }),
      TypeError,
    )
    assert.throws(() => problemOf(1 as unknown as string), TypeError)
  })
})

describe('variablesOf', () => {
  it('returns every occurrence with its position', () => {
    const template = 'a {{ user_group.name }}\n {{identifier filter["x y"].z}} {{ "{{" }} {{ date d }}{{ d }}'
    assert.deepEqual(variablesOf(template), [
      { name: 'user_group.name', path: ['user_group', 'name'], form: undefined, line: 1, column: 3 },
      { name: 'filter["x y"].z', path: ['filter', 'x y', 'z'], form: 'identifier', line: 2, column: 2 },
      { name: 'd', path: ['d'], form: 'date', line: 2, column: 44 },
      { name: 'd', path: ['d'], form: undefined, line: 2, column: 56 },
    ])
    assert.deepEqual(variablesOf('SELECT 1'), [])
    assert.throws(() => variablesOf('{{ 1 }}'), { code: 'malformed_template' })
  })
})
