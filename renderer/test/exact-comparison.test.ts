import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkTemplate,
  compileSql,
  type SqlDialect,
  type SqlOutput,
  type VariableSource,
} from '../src/index.ts'
import { openDatabase, realDatabases, type Database } from './databases.ts'
import { example } from './support.ts'
import { isLong } from '../../server/test/support/cases.ts'

/** Ids that the service keeps apart, and that collations, padding and conversions merge. */
const texts = [
  ...['acme', 'ACME', 'Acmé', 'acme ', 'acme\t', 'ａcme', 'acme\u200b', 'straße', 'strasse', 'ı', 'i', '0', 'x', 'a_c', 'a%', '%'],
  ...['ä', 'a\u0308', 'é', 'e', 'ß', 'ss', 'A', 'a', '42', '042', ' 42', '42 ', 'true', 't', 'NULL', "'", '\\', '"a"', '{acme}'],
] // prettier-ignore
const numbers = [
  ...['42', '042', ' 42', '42 ', '42.0', '42.00', '42.4', '4.2e1', '4e1', '40', '0x2A', '+42', '-0', '0', '1', '7abc', 'abc', ''],
  ...['9007199254740992', '9007199254740993', '9007199254740993.0', 'NaN', 'true', '4_2'],
] // prettier-ignore
const uuid = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
const uuids = [uuid, uuid.toUpperCase(), `{${uuid}}`, uuid.replaceAll('-', ''), ` ${uuid}`, '42']
const dates = [
  ...['2026-01-31', '20260131', '2026-1-31', 'January 31, 2026', '2026-01-31 00:00:00', '2026-01-31T00:00:00', '2026/01/31', '26-01-31'],
  ...['2026-01-31 00:00:00+00', 'today', 'epoch', '1769817600', '42'],
] // prettier-ignore
const booleans = ['true', 'TRUE', 't', 'yes', 'on', '1', 'y', ' true', 'false', '0', 'f', '42']

/** By column type: the values of the rows as SQL literals, or `texts` for a row of each text, and the ids. */
type Column = readonly [type: string, rows: readonly string[] | 'texts', ids: readonly string[]]

const aNumber = ['42', '40', '0']
const columns: Record<Database['dialect'], readonly Column[]> = {
  postgresql: [
    ...['text', 'varchar(80)', 'text COLLATE "C"', 'citext', 'text COLLATE loose', 'name'].map(textColumn),
    ['char(20)', ["'acme'", "'ACME'", "'42'", "'a'"], texts],
    ['smallint', aNumber, numbers],
    ['integer', aNumber, numbers],
    ['bigint', [...aNumber, '9007199254740992', '9007199254740993'], numbers],
    ['numeric', [...aNumber, '42.0', '42.40', '9007199254740993'], numbers],
    ['numeric(12,2)', [...aNumber, '42.4'], numbers],
    ['double precision', [...aNumber, '9007199254740993'], numbers],
    ['real', aNumber, numbers],
    ['money', aNumber, numbers],
    ['uuid', [`'${uuid}'`], uuids],
    ['date', ["'2026-01-31'", 'current_date'], dates],
    ['timestamp', ["'2026-01-31'"], dates],
    ['timestamptz', ["'2026-01-31'"], dates],
    ['boolean', ['true', 'false'], booleans],
    ['jsonb', ["'42'", "'42.0'", `'"acme"'`], ['42', '42.0', ' 42', '"acme"', 'acme']],
    ['bytea', ["'acme'", "'42'"], ['acme', '\\x61636d65', '42', '\\x3432']],
    ['inet', ["'10.0.0.1'"], ['10.0.0.1', '10.0.0.1/32', ' 10.0.0.1']],
  ],
  sqlite: [
    ...['TEXT', 'VARCHAR(80)', 'TEXT COLLATE NOCASE', 'TEXT COLLATE RTRIM', 'BLOB', ''].map(textColumn),
    ['INTEGER', [...aNumber, '9007199254740993', "'7abc'"], numbers],
    ['NUMERIC', [...aNumber, '42.4', "'042'", "'7abc'"], numbers],
    ['REAL', [...aNumber, '42.4'], numbers],
    ['BOOLEAN', ['true', 'false'], booleans],
    ['DATE', ["'2026-01-31'"], dates],
  ],
  mariadb: [
    ...['varchar(80)', 'text', 'varchar(80) COLLATE utf8mb4_bin', 'varbinary(80)'].map(textColumn),
    ['varchar(80) COLLATE utf8mb4_general_ci', 'texts', texts],
    ['char(20)', ["'acme'", "'ACME'", "'42'", "'a'"], texts],
    ['varchar(80) CHARACTER SET latin1', ["'acme'", "'ACME'", "'ä'", "'a'"], texts],
    ['int', aNumber, numbers],
    ['bigint', [...aNumber, '9007199254740992', '9007199254740993'], numbers],
    ['decimal(20,2)', [...aNumber, '42.4'], numbers],
    ['double', [...aNumber, '9007199254740993'], numbers],
    ['boolean', ['true', 'false'], booleans],
    ['date', ["'2026-01-31'"], dates],
    ['datetime', ["'2026-01-31'"], dates],
    ['uuid', [`'${uuid}'`], uuids],
    ["enum('acme', 'b')", ["'acme'", "'b'"], ['acme', 'ACME', '1', '2', 'b']],
  ],
  duckdb: [
    ...['VARCHAR', 'VARCHAR COLLATE NOCASE', 'VARCHAR COLLATE NOACCENT', 'VARCHAR COLLATE NOCASE.NOACCENT'].map(textColumn),
    ['INTEGER', aNumber, numbers],
    ['BIGINT', [...aNumber, '9007199254740992', '9007199254740993'], numbers],
    ['HUGEINT', [...aNumber, '9007199254740993'], numbers],
    ['DECIMAL(10,0)', aNumber, numbers],
    ['DECIMAL(20,2)', [...aNumber, '42.4'], numbers],
    ['DOUBLE', [...aNumber, '9007199254740993'], numbers],
    ['FLOAT', aNumber, numbers],
    ['UUID', [`'${uuid}'`], uuids],
    ['DATE', ["'2026-01-31'"], dates],
    ['TIMESTAMP', ["'2026-01-31'"], dates],
    ['BOOLEAN', ['true', 'false'], booleans],
    ["ENUM('acme', 'ACME')", ["'acme'", "'ACME'"], texts],
  ],
} // prettier-ignore

/** A type and a collation of PostgreSQL that ignore differences. */
const looseComparisons = `CREATE EXTENSION IF NOT EXISTS citext;
  CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`

function textColumn(type: string): Column {
  return [type, 'texts', texts]
}

/** Conditions that select the rows of ¤, and others that select all others. ¤s is a list of it. */
const equal = [
  'c = ¤', 'c IN (¤s)', 'NOT c <> ¤', '¤ = c', 'c IN (¤)', 'c = (¤)', 't.c = ¤', '(c) = ¤', 'NOT c NOT IN (¤s)', '(c = ¤)', 'c = ¤ AND n >= 0',
  'CASE WHEN c = ¤ THEN true ELSE false END', 'n IN (SELECT n FROM t AS u WHERE u.c = ¤)', "c IN (¤s, ¤)", 'coalesce(c = ¤, false)',
] // prettier-ignore
const different = [
  'c <> ¤',
  'c NOT IN (¤s)',
  '¤ <> c',
  'c NOT IN (¤)',
  'c != ¤',
  'NOT c = ¤',
  'NOT (c IN (¤))',
]
const arraysEqual = ['c = ANY(¤s)', 'c = ANY(¤)', 'c IN (SELECT unnest(¤s::text[]))', 'NOT c <> ALL(¤s)']
const arraysDifferent = [
  'c <> ALL(¤s)',
  'c NOT IN (SELECT unnest(¤s::text[]))',
  'c <> ALL(¤s::text[])',
  'NOT c = ANY(¤s)',
]

function userGroup(providedId: string): VariableSource {
  return { providedId, name: providedId, properties: { list: [providedId], pair: [providedId, 'never'] } }
}

const outputs: readonly SqlOutput[] = ['bound', 'literal']
const dialectsAndOutputs = realDatabases.flatMap((dialect) => outputs.map((output) => ({ dialect, output })))

for (const { dialect, output } of dialectsAndOutputs) {
  it(`texts of the user group are compared exactly (${dialect}, ${output})`, async (t) => {
    const database = await openDatabase(t, dialect)
    if (database === undefined) return
    if (dialect === 'postgresql') await database.execute(looseComparisons)
    for (const [i, column] of columns[dialect].entries()) {
      // How a condition is written depends neither on the output nor on the column.
      const isWhole = (output === 'bound' && i === 0) || isLong
      await t.test(`with a column of type ${column[0]}`, () =>
        assertExact(database, output, column, isWhole ? undefined : 1),
      )
    }
  })
}

/** Asserts that each of the conditions finds the rows of one id only. `limit` is the number of conditions of each kind. */
async function assertExact(
  database: Database,
  output: SqlOutput,
  [type, rows, ids]: Column,
  limit: number | undefined,
): Promise<void> {
  const { dialect } = database
  const values = rows === 'texts' ? texts.map((text) => literal(text, dialect)) : rows
  const inserted = [...values.map((value, n) => `(${n}, ${value})`), '(-1, NULL)']
  await database.execute(
    `DROP TABLE IF EXISTS t; CREATE TABLE t (n int, c ${type}); INSERT INTO t VALUES ${inserted.join()}`,
  )
  const select = async (condition: string, providedId: string) => {
    const template = `SELECT n FROM t WHERE ${condition
      .replaceAll('¤s', '{{ user_group.properties.list }}')
      .replaceAll('¤', '{{ user_group.provided_id }}')}`
    const found = await database.query(compileSql(template, userGroup(providedId), { dialect, output }))
    return found.flat().sort()
  }
  const hasArrays = dialect === 'postgresql' || dialect === 'duckdb'
  const ofKinds = (conditions: readonly string[], ofArrays: readonly string[]) => [
    ...conditions.slice(0, limit),
    ...(hasArrays ? ofArrays.slice(0, limit) : []),
  ]
  const all = [...values.keys()].sort()
  const found = new Map<string, unknown[]>()
  for (const condition of ofKinds(equal, arraysEqual)) {
    const owners = new Map<unknown, string>()
    for (const id of ids) {
      const own = await select(condition, id).catch((error: unknown) => refusedByDatabase(error, rows))
      if (condition === equal[0]) found.set(id, own)
      if (rows === 'texts')
        assert.deepEqual(own, [texts.indexOf(id)], `${condition} for ${JSON.stringify(id)}`)
      for (const n of own) {
        const owner = owners.get(n)
        assert.equal(
          owner,
          undefined,
          `${condition}: row ${String(n)} belongs to ${JSON.stringify([owner, id])}`,
        )
        owners.set(n, id)
      }
    }
  }
  for (const id of ids) {
    for (const condition of ofKinds(different, arraysDifferent)) {
      const others = await select(condition, id).catch(() => undefined)
      if (others !== undefined)
        assert.deepEqual(
          others,
          all.filter((n) => !found.get(id)?.includes(n)),
          condition,
        )
    }
  }
}

function literal(text: string, dialect: Database['dialect']): string {
  const escaped = dialect === 'mariadb' ? text.replaceAll('\\', '\\\\') : text
  return `'${escaped.replaceAll("'", "''")}'`
}

/** A database may refuse an id that is no value of the column's type. */
function refusedByDatabase(error: unknown, rows: unknown): unknown[] {
  assert.notEqual(rows, 'texts', String(error))
  assert.notEqual((error as Error).name, 'TemplateError', String(error))
  assert.doesNotMatch(String(error), /syntax error at|Parser Error/)
  return []
}

/** Columns that hold the customer as a part: type, the row of a text, conditions. */
const parts: Record<Database['dialect'], readonly (readonly [string, (text: string) => string, readonly string[]])[]> = {
  postgresql: [
    ['jsonb', (text) => `'${JSON.stringify({ c: text })}'`, ["c->>'c' = ¤", "(c->>'c') = (¤)", "jsonb_extract_path_text(c, 'c') = ¤"]],
    ...['text[]', 'citext[]', 'text[] COLLATE loose', 'varchar(80)[]'].map((type) => [type, (text: string) => `ARRAY['b', '${text}', NULL]`, ['¤ = ANY(c)', '¤ = SOME(t.c)', 'NOT ¤ <> ALL(c)']] as const),
    ['numeric[]', (text) => `ARRAY[1, ${Number(text) || -1}]`, ['¤ = ANY(c)']],
  ],
  sqlite: [['TEXT', (text) => `'${JSON.stringify({ c: text })}'`, ["c->>'$.c' = ¤", "(c->>'c') = ¤", "json_extract(c, '$.c') = ¤"]]],
  mariadb: [['JSON', (text) => `'${JSON.stringify({ c: text })}'`, ["JSON_VALUE(c, '$.c') = ¤", "JSON_UNQUOTE(JSON_EXTRACT(c, '$.c')) = ¤"]]],
  duckdb: [
    ['JSON', (text) => `'${JSON.stringify({ c: text })}'`, ["(c->>'$.c') = ¤", "json_extract_string(c, 'c') = ¤"]],
    ['VARCHAR[]', (text) => `['b', '${text}', NULL]`, ['¤ = ANY(c)', 'NOT ¤ <> ALL(t.c)']],
    ['INTEGER[]', (text) => `[1, ${Number(text) || -1}]`, ['¤ = ANY(c)']],
  ],
} // prettier-ignore

for (const { dialect, output } of dialectsAndOutputs) {
  it(`parts of a column are compared exactly, and meet require (${dialect}, ${output})`, async (t) => {
    const database = await openDatabase(t, dialect)
    if (database === undefined) return
    if (dialect === 'postgresql') await database.execute(looseComparisons)
    const ids = ['acme', 'ACME', 'acme ', '42', '042', ' 42', '42.0', '4.2e1', '%', '_cme', 'acmé']
    for (const [type, row, conditions] of parts[dialect]) {
      const isNumber = /numeric|INTEGER/.test(type)
      const rows = isNumber ? ['42'] : ids
      const inserted = [...rows.map((id) => `(${ids.indexOf(id)}, ${row(id)})`), '(-1, NULL)']
      await database.execute(
        `DROP TABLE IF EXISTS t; CREATE TABLE t (n int, c ${type}); INSERT INTO t VALUES ${inserted.join()}`,
      )
      for (const condition of conditions)
        for (const providedId of ids) {
          const template = `SELECT n FROM t WHERE ${condition.replace('¤', '{{ user_group.provided_id }}')}`
          if (!condition.startsWith('NOT'))
            checkTemplate(template, { dialect, require: ['user_group.provided_id'] })
          const query = database.query(compileSql(template, { ...example, providedId }, { dialect, output }))
          const found = await query.catch((error: unknown) =>
            refusedByDatabase(error, isNumber ? [] : 'texts'),
          )
          assert.deepEqual(
            found.flat().filter((n) => n !== -1),
            rows.includes(providedId) ? [ids.indexOf(providedId)] : [],
            `${type}: ${condition} for ${providedId}`,
          )
        }
    }
  })
}

describe('mixed items and lists', () => {
  for (const { dialect, output } of dialectsAndOutputs) {
    it(`keep their meaning (${dialect}, ${output})`, async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await database.execute(
        "CREATE TABLE t (n int, c varchar(20)); INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, '7'), (4, NULL)",
      )
      const properties = { list: ['a', '7'], mixed: ['a', 7], nothing: [], nulls: ['a', null], number: 7 }
      const select = async (condition: string) => {
        const template = `SELECT n FROM t WHERE ${condition} ORDER BY n`
          .replace(/\b(?:list|mixed|nothing|nulls|number)\b/g, '{{ user_group.properties.$& }}')
          .replace(/\bpassed\b/g, '{{ passed }}')
        const options = { dialect, output, variables: { passed: '7' } }
        return (await database.query(compileSql(template, { ...example, properties }, options))).flat()
      }
      assert.deepEqual(await select('c IN (list)'), [1, 3])
      assert.deepEqual(await select('c NOT IN (list)'), [2])
      assert.deepEqual(await select("c IN (nulls, 'A')"), [1, 2])
      assert.deepEqual(await select('c NOT IN (nulls)'), [])
      assert.deepEqual(await select('NOT c IN (nulls)'), [])
      assert.deepEqual(await select('c IN (nothing)'), [])
      assert.deepEqual(await select('c NOT IN (nothing)'), [])
      assert.deepEqual(await select("c IN ('A', list)"), [1, 2, 3])
      assert.deepEqual(await select("c NOT IN ('A', list)"), [])
      assert.deepEqual(await select('c IN (passed, nulls)'), [1, 3])
      assert.deepEqual(await select('c NOT IN (passed, list)'), [2])
      assert.deepEqual(await select("c IN (lower('X'), list) /* a */ OR n = number - 3"), [1, 3, 4])
      assert.deepEqual(await select('(c IN (list) OR c IS NULL) AND n > 1'), [3, 4])
    })
  }
})

describe('an index is used', () => {
  const plans = {
    postgresql: ['EXPLAIN ', /Index Cond: \(\(c\)::text = /],
    sqlite: ['EXPLAIN QUERY PLAN ', /SEARCH t USING (?:COVERING )?INDEX t_c \(c=\?\)/],
    mariadb: ['EXPLAIN ', /\bref\b.*\bt_c\b/],
  } as const
  for (const { dialect, output } of dialectsAndOutputs) {
    if (dialect === 'duckdb') continue
    it(`of a column (${dialect}, ${output})`, async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      const inserted = Array.from({ length: 300 }, (_, n) => `('c${n}', ${n})`)
      await database.execute(
        `CREATE TABLE t (c varchar(20), n int); CREATE INDEX t_c ON t (c); INSERT INTO t VALUES ${inserted.join()}`,
      )
      if (dialect === 'postgresql') await database.execute('SET enable_seqscan = off')
      const [explain, plan] = plans[dialect]
      for (const condition of ['c = {{ user_group.provided_id }}', 'c IN ({{ user_group.provided_id }})']) {
        const userGroup = { ...example, providedId: "c7'" }
        const statement = compileSql(`SELECT n FROM t WHERE ${condition}`, userGroup, { dialect, output })
        const rows = await database.query({ ...statement, text: explain + statement.text })
        assert.match(rows.map((row) => row.join(' ')).join('\n'), plan)
      }
    })
  }
})

describe('each dialect', () => {
  const charOf = (column: string) => `CAST(${column} AS CHAR CHARACTER SET utf8mb4)`
  const written: Record<SqlDialect, string> = {
    postgresql: '(a = $1 AND (a)::text COLLATE "C" = $2) AND ((b)::text COLLATE "C" NOT IN ($3, $4))',
    mysql: `(a = ? AND ${charOf('a')} = ? COLLATE utf8mb4_0900_bin) AND (${charOf('b')} NOT IN (? COLLATE utf8mb4_0900_bin, ? COLLATE utf8mb4_0900_bin))`,
    mariadb: `(a = ? AND ${charOf('a')} = ? COLLATE utf8mb4_nopad_bin) AND (${charOf('b')} NOT IN (? COLLATE utf8mb4_nopad_bin, ? COLLATE utf8mb4_nopad_bin))`,
    sqlite:
      '(a = ? AND CAST(a AS TEXT) COLLATE BINARY = ?) AND (CAST(b AS TEXT) COLLATE BINARY NOT IN (?, ?))',
    duckdb:
      '(a = $1 AND CAST(a AS VARCHAR) COLLATE "BINARY" = $2) AND (CAST(b AS VARCHAR) COLLATE "BINARY" NOT IN ($3, $4))',
    sqlserver:
      "(a = @p1 AND CONVERT(nvarchar(max), a) + N'.' COLLATE Latin1_General_100_BIN2 = @p2 + N'.') AND " +
      "(CONVERT(nvarchar(max), b) + N'.' COLLATE Latin1_General_100_BIN2 NOT IN (@p3 + N'.', @p4 + N'.'))",
    bigquery:
      '(a = ? AND CAST(CAST(a AS STRING) AS BYTES) = CAST(? AS BYTES)) AND ' +
      '(CAST(CAST(b AS STRING) AS BYTES) NOT IN (CAST(? AS BYTES), CAST(? AS BYTES)))',
    snowflake:
      "(a = ? AND TO_BINARY(CAST(a AS VARCHAR), 'UTF-8') = TO_BINARY(?, 'UTF-8')) AND " +
      "(TO_BINARY(CAST(b AS VARCHAR), 'UTF-8') NOT IN (TO_BINARY(?, 'UTF-8'), TO_BINARY(?, 'UTF-8')))",
    redshift:
      "(a = $1 AND COLLATE(CAST(a AS varchar(65535)) || '.', 'case_sensitive') = CAST($2 AS varchar(65535)) || '.') AND " +
      "(COLLATE(CAST(b AS varchar(65535)) || '.', 'case_sensitive') NOT IN " +
      "(CAST($3 AS varchar(65535)) || '.', CAST($4 AS varchar(65535)) || '.'))",
    databricks:
      '(a = ? AND CAST(CAST(a AS STRING) AS BINARY) = CAST(? AS BINARY)) AND ' +
      '(CAST(CAST(b AS STRING) AS BINARY) NOT IN (CAST(? AS BINARY), CAST(? AS BINARY)))',
    clickhouse:
      '(a = {p1:String} AND toString(a) = {p2:String}) AND (toString(b) NOT IN ({p3:String}, {p4:String}))',
    trino: '(a = ? AND CAST(a AS varchar) = ?) AND (CAST(b AS varchar) NOT IN (?, ?))',
    oracle:
      "(a = :1 AND NLSSORT(TO_CHAR(a), 'NLS_SORT=BINARY') = NLSSORT(:2, 'NLS_SORT=BINARY')) AND " +
      "(NLSSORT(TO_CHAR(b), 'NLS_SORT=BINARY') NOT IN (NLSSORT(:3, 'NLS_SORT=BINARY'), NLSSORT(:4, 'NLS_SORT=BINARY')))",
  }
  for (const [dialect, text] of Object.entries(written) as [SqlDialect, string][]) {
    it(`compares the text of the column (${dialect})`, () => {
      const template = 'a = {{ user_group.provided_id }} AND b NOT IN ({{ user_group.properties.regions }})'
      const statement = compileSql(template, example, { dialect })
      assert.equal(statement.text, text)
      assert.deepEqual(statement.values, ['customer-42', 'customer-42', 'EU', 'US'])
    })
  }
})
