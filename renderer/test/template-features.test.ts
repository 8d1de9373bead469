import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSql, TemplateError, type CompileOptions, type SqlDialect } from '../src/index.ts'
import { openDatabase, realDatabases } from './databases.ts'
import { example, passing, placeholders, sqlDialects, value, withValue } from './support.ts'

function compile(template: string, options: Partial<CompileOptions> = {}, userGroup = example) {
  return compileSql(template, userGroup, { dialect: 'postgresql', ...passing(userGroup), ...options })
}

function codeOf(template: string, options: Partial<CompileOptions> = {}, userGroup = example): string {
  try {
    return `compiled: ${compile(template, options, userGroup).text}`
  } catch (error) {
    if (error instanceof TemplateError) return error.code
    throw error
  }
}

describe('variables besides those of the user group', () => {
  interface Filter {
    from: string
    regions: string[]
  }
  const filter: Filter = { from: '2026-01-01', regions: ['EU', 'US'] }

  it('are bound like properties', () => {
    const template =
      'SELECT a WHERE day >= {{ filter.from }} AND r IN ({{ filter.regions }}) LIMIT {{ rows }}'
    assert.deepEqual(compile(template, { variables: { filter, rows: 5 } }), {
      text: 'SELECT a WHERE day >= $1 AND r IN ($2, $3) LIMIT $4',
      values: ['2026-01-01', 'EU', 'US', 5],
    })
    assert.equal(codeOf('SELECT a LIMIT {{ rows }}', { variables: { rows: -1 } }), 'unusable_value')
  })

  it('cannot shadow user_group', () => {
    for (const variables of [{ user_group: {} }, JSON.parse('{"user_group":{"name":"x"}}') as object]) {
      assert.throws(() => compile('SELECT 1', { variables }), { name: 'TypeError', message: /user_group/ })
    }
    assert.throws(() => compile('SELECT 1', { variables: [] }), TypeError)
    assert.throws(() => compile('SELECT 1', { variables: null as unknown as object }), TypeError)
  })

  it('must be given, and are own properties', () => {
    assert.equal(codeOf('SELECT {{ filter.from }}'), 'unknown_variable')
    assert.equal(codeOf('SELECT {{ filter.from }}', { variables: { filter: {} } }), 'unset_variable')
    assert.equal(codeOf('SELECT {{ filter.from }}', { variables: { filter: null } }), 'unset_variable')
    for (const name of [
      'constructor',
      'toString.name',
      '__proto__',
      'filter.constructor',
      'filter.from.length',
    ])
      assert.match(codeOf(`SELECT {{ ${name} }}`, { variables: { filter } }), /^un/)
    assert.equal(codeOf('SELECT {{ f }}', { variables: { f: new Date(0) } }), 'unusable_value')
    assert.equal(codeOf('SELECT {{ f }}', { variables: { f: undefined } }), 'unset_variable')
  })

  it('of the user group: team_id and environment', () => {
    const userGroup = { ...example, teamId: 7, environment: 'Testing' as const }
    const template = 'SELECT {{ user_group.team_id }}, {{ user_group.environment }}'
    assert.deepEqual(compile(template, {}, userGroup).values, [7, 'Testing'])
    assert.equal(codeOf(template), 'unset_variable')
  })
})

describe('optional clause', () => {
  const template = 'SELECT a WHERE b = {{ user_group.name }} [[ AND day >= {{ filter.from }} ]] ORDER BY a'
  const optional = ['filter.from']

  it('is dropped only if its variable is absent', () => {
    for (const variables of [undefined, {}, { filter: {} }, { filter: { from: undefined } }]) {
      assert.deepEqual(compile(template, { optional, variables }), {
        text: `SELECT a WHERE (b = $1 AND (b)::text COLLATE "C" = $2) ${' '.repeat(34)} ORDER BY a`,
        values: ['Example customer', 'Example customer'],
      })
    }
    const set = compile(template, { optional, variables: { filter: { from: '2026-01-01' } } })
    assert.match(set.text.replace(/ +/g, ' '), /= \$2\) AND day >= \$3 ORDER BY a$/)
    for (const bound of [null, '', 0, false]) {
      assert.equal(compile(template, { optional, variables: { filter: { from: bound } } }).values[2], bound)
    }
    const list = compile('SELECT 1 [[ WHERE a IN ({{ f }}) ]]', { optional: ['f'], variables: { f: [] } })
    assert.match(list.text, /IN \(NULL\)/)
  })

  it('keeps line breaks, so that errors name the position in the template', () => {
    assert.throws(() => compile("SELECT 1\n[[\nAND {{ f }}\n]]\n 'a' || {{ g }}", { optional: ['f'] }), {
      code: 'unknown_variable',
      line: 5,
      column: 9,
    })
  })

  it('refuses variables of the user group', () => {
    for (const inner of [
      '{{ user_group.name }}',
      '{{ user_group.properties.missing }} = {{ filter.from }}',
    ]) {
      for (const options of [{}, { optional }, { optional: ['user_group.name', ...optional] }]) {
        assert.equal(codeOf(`SELECT a [[ WHERE b = ${inner} ]]`, options), 'invalid_optional_clause')
      }
    }
  })

  it('needs the others of its variables', () => {
    const two = 'SELECT a [[ WHERE b BETWEEN {{ filter.from }} AND {{ filter.to }} ]]'
    assert.equal(codeOf(two, { optional }), 'unknown_variable')
    assert.equal(codeOf(two, { optional, variables: { filter: { from: 1 } } }), 'unset_variable')
    assert.match(codeOf(two, { optional, variables: { filter: { to: 1 } } }), /^compiled: SELECT a +$/)
    assert.equal(codeOf('SELECT {{ filter.from }}', { optional }), 'unknown_variable')
    const bracketed = 'SELECT a [[ WHERE b = {{ filter["from"] }} ]]'
    assert.match(codeOf(bracketed, { optional }), /^compiled: SELECT a +$/)
  })

  const refused = [
    '[[ AND a ]]', '[[ {{ f }} ', '[[ {{ f }} ]', '[[ {{ f }} ) ]]', '[[ ( {{ f }} ]]', '[[ {{ f }}; ]]', '[[ [[ {{ f }} ]] ]]', 'ARRAY[[1,2],[3]]',
    '[[ {{ g }} ]]', "[[ {{ f }} -- ]]", "[[ {{ f }} ' ]]", '[[ {{ f }} /* ]]',
  ] // prettier-ignore
  for (const clause of refused) {
    it(`refuses ${clause}`, () => {
      for (const variables of [{ g: 1 }, { f: 1, g: 1 }]) {
        const code = codeOf(`SELECT 1 ${clause}`, { optional: ['f'], variables })
        assert.match(code, /^(invalid_optional_clause|malformed_template)$/)
      }
    })
  }

  it('is text in literals and comments, and may contain brackets', () => {
    assert.equal(codeOf("SELECT '[[', ']]' -- [["), "compiled: SELECT '[[', ']]' -- [[")
    const text = compile('SELECT 1 [[ AND (a[b[1]]) = {{ f }}]]', {
      optional: ['f'],
      variables: { f: 1 },
    }).text
    assert.equal(text, 'SELECT 1    AND (a[b[1]]) = $1  ')
  })

  it('cannot join literals by dropping what is between them', () => {
    const joined = "SELECT E'a' [[ , {{ f }} , ]]\n 'b\\' , {{ user_group.name }} --'"
    assert.equal(codeOf(joined, { optional: ['f'] }), 'malformed_template')
  })

  it('works in every dialect', () => {
    for (const dialect of sqlDialects) {
      for (const f of [undefined, 'x']) {
        const { text } = compile('SELECT a [[ WHERE [b] = {{ f }} ]]', {
          dialect,
          optional: ['f'],
          variables: { f },
        })
        const kept = `SELECT a    WHERE [b] = ${placeholders[dialect](1)}   `
        assert.equal(text.trim(), f === undefined ? 'SELECT a' : kept.trim())
      }
    }
  })
})

describe('identifier', () => {
  const identifiers = { 'user_group.properties.value': ['eu', 'my "own" `sch]ema`', 'a.b'] }
  const template = 'SELECT * FROM {{ identifier user_group.properties.value }}.sales'

  const quoted: Record<SqlDialect, string> = {
    postgresql: '"eu"', duckdb: '"eu"', redshift: '"eu"', sqlite: '`eu`', snowflake: '"eu"', trino: '"eu"', oracle: '"eu"',
    mysql: '`eu`', mariadb: '`eu`', bigquery: '`eu`', databricks: '`eu`', clickhouse: '`eu`', sqlserver: '[eu]',
  } // prettier-ignore
  for (const dialect of sqlDialects) {
    it(`is quoted (${dialect})`, () => {
      assert.deepEqual(compile(template, { dialect, identifiers }, withValue('eu')), {
        text: `SELECT * FROM ${quoted[dialect]}.sales`,
        values: [],
      })
    })
  }

  it('is one of the allowed names', () => {
    for (const name of ['EU', 'us', '', 'eu"; DROP TABLE sales; --', null, 1, ['eu'], {}]) {
      assert.equal(codeOf(template, { identifiers }, withValue(name)), 'identifier_not_allowed')
    }
    assert.equal(codeOf(template, {}, withValue('eu')), 'identifier_not_allowed')
    assert.equal(
      codeOf(template, { identifiers: { other: ['eu'] } }, withValue('eu')),
      'identifier_not_allowed',
    )
    const dollar = { identifiers: { 'user_group.properties["value"]': ['eu'] } }
    assert.equal(codeOf(template, dollar, withValue('eu')), 'compiled: SELECT * FROM "eu".sales')
  })

  it('has its quotes doubled, or is refused', () => {
    const name = 'my "own" `sch]ema`'
    const results = sqlDialects.map((dialect) => [
      dialect,
      codeOf(template, { dialect, identifiers }, withValue(name)),
    ])
    const { postgresql, mysql, sqlserver, bigquery, oracle } = Object.fromEntries(results) as Record<
      string,
      string
    >
    assert.equal(postgresql, 'compiled: SELECT * FROM "my ""own"" `sch]ema`".sales')
    assert.equal(mysql, 'compiled: SELECT * FROM `my "own" ``sch]ema```.sales')
    assert.equal(sqlserver, 'compiled: SELECT * FROM [my "own" `sch]]ema`].sales')
    assert.deepEqual([bigquery, oracle], ['identifier_not_allowed', 'identifier_not_allowed'])
  })

  it('touches only dots, commas and parentheses', () => {
    const identifier = '{{ identifier user_group.properties.value }}'
    for (const bad of [
      `U&${identifier}`,
      `a${identifier}`,
      `'a'${identifier}`,
      `${identifier}'a'`,
      `$${identifier}`,
      `@${identifier}`,
      `${identifier}x`,
    ])
      assert.notEqual(
        codeOf(`SELECT ${bad}`, { identifiers }, withValue('eu')).startsWith('compiled'),
        true,
        bad,
      )
    assert.equal(
      codeOf(`SELECT f(a.${identifier}),1`, { identifiers }, withValue('eu')),
      'compiled: SELECT f(a."eu"),1',
    )
  })

  for (const dialect of realDatabases) {
    it(`names a table on a real database (${dialect})`, async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      const name = `it's a "table" [of] \`mine\``
      const from = 'FROM {{ identifier user_group.properties.value }}'
      const options = { dialect, identifiers: { 'user_group.properties.value': [name] } }
      const create = `CREATE TABLE {{ identifier user_group.properties.value }} (n int)`
      await database.query(compile(create, options, withValue(name)))
      assert.deepEqual(await database.query(compile(`SELECT n ${from}`, options, withValue(name))), [])
    })
  }
})

describe('date', () => {
  it('is a calendar date', () => {
    const template = 'SELECT {{ date user_group.properties.value }}'
    for (const date of ['2026-01-31', '2024-02-29', '0001-01-01'])
      assert.deepEqual(compile(template, {}, withValue(date)), {
        text: 'SELECT CAST($1 AS date)',
        values: [date],
      })
    assert.deepEqual(compile(template, {}, withValue(null)).values, [null])
    for (const odd of [
      '2026-02-29',
      '2026-1-1',
      '2026-01-01T00:00',
      '',
      'today',
      20260101,
      true,
      '2026-13-01',
    ])
      assert.equal(codeOf(template, {}, withValue(odd)), 'unusable_value')
    const list = 'SELECT a IN ({{ date user_group.properties.value }})'
    assert.equal(
      codeOf(list, {}, withValue(['2026-01-01', '2026-01-02'])),
      'compiled: SELECT a IN (CAST($1 AS date), CAST($2 AS date))',
    )
  })

  it('is a word of a variable too', () => {
    assert.deepEqual(
      compile('SELECT {{ date }}, {{ identifier.a }}', { variables: { date: 1, identifier: { a: 2 } } })
        .values,
      [1, 2],
    )
  })

  for (const dialect of realDatabases) {
    it(`compares with a column on a real database (${dialect})`, async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await database.execute(`CREATE TABLE s (day ${dialect === 'sqlite' ? 'text' : 'date'}, n int)`)
      await database.execute("INSERT INTO s VALUES ('2026-01-01', 1), ('2026-01-02', 2)")
      const template = `SELECT n FROM s WHERE day >= {{ date user_group.properties.value }} ORDER BY n`
      assert.deepEqual(await database.query(compile(template, { dialect }, withValue('2026-01-02'))), [[2]])
    })
  }
})

describe('array', () => {
  it('is one value on PostgreSQL, and a list of values on DuckDB and BigQuery', () => {
    const list = withValue(['EU', null, 1])
    assert.deepEqual(compile(`a = ANY( ${value} ) AND b = ALL (${value}::text[])`, {}, list), {
      text: 'a = ANY( $1 ) AND b = ALL ($2::text[])',
      values: [
        ['EU', null, 1],
        ['EU', null, 1],
      ],
    })
    assert.deepEqual(compile(`a = ANY(${value})`, { dialect: 'duckdb' }, list).text, 'a = ANY([$1, $2, $3])')
    assert.deepEqual(
      compile(`a IN UNNEST(${value})`, { dialect: 'bigquery' }, list).text,
      'a IN UNNEST([?, ?, ?])',
    )
    assert.deepEqual(
      compile(`a IN UNNEST(${value})`, { dialect: 'bigquery' }, withValue([])).text,
      'a IN UNNEST([NULL])',
    )
    assert.deepEqual(compile(`a = ANY(${value})`, {}, withValue([])).values, [[null]])
    assert.equal(codeOf(`a = ANY(${value})`, {}, withValue([{}])), 'unusable_value')
    assert.equal(codeOf(`a = ANY(${value})`, {}, withValue(['\0'])), 'unusable_value')
  })
})

describe('notation of other template languages', () => {
  const cases: readonly (readonly [template: string, advice: RegExp])[] = [
    ['SELECT 1 {% if filter.from %} AND a {% endif %}', /optional clause/],
    ['SELECT 1 {# note #}', /\/\* … \*\//],
    ['SELECT ${TABLE}.a', /identifier/],
    ['SELECT {{ user_group.name | upper }}', /UPPER\(/],
    ["SELECT {{ filter_values('region') }}", /variables/],
    ['SELECT {{ current_username() }}', /variables/],
    ["SELECT {{ _user_attributes['region'] }}", /user_group\.properties\.region/],
    ["SELECT {{ user_group.properties['region'] }}", /JSON string/],
    ['SELECT {{ user_group.properties.regions[0] }}', /region IN/],
    ["SELECT {{ user_group.name or 'x' }}", /COALESCE/],
    ['SELECT {{ region }}', /user_group\.properties|variables/],
    ["SELECT '{{ region }}'", /without the quotes/],
  ]
  for (const [template, advice] of cases) {
    it(`${template} has advice`, () => {
      for (const dialect of sqlDialects) {
        assert.throws(
          () => compile(template, { dialect }),
          (error: unknown) => {
            assert.ok(error instanceof TemplateError)
            assert.match(error.message, advice)
            return true
          },
        )
      }
    })
  }
})

it('options of untyped callers are checked', () => {
  for (const options of [
    { optional: 'f' },
    { optional: ['{{ f }}'] },
    { optional: ['f }} {{ g'] },
    { optional: [1] },
    { identifiers: { f: 'eu' } },
    { identifiers: { 'f g': [] } },
  ])
    assert.throws(() => compile('SELECT 1', options as unknown as CompileOptions), TypeError)
})
