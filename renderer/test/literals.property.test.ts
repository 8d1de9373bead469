import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compileSql, type SqlOutput, type VariableSource } from '../src/index.ts'
import { hostileText, scalar } from './arbitraries.ts'
import { cases } from '../../server/test/support/cases.ts'
import { openDatabase, realDatabases, type Database } from './databases.ts'

const conditions: Record<Database['dialect'] | 'everywhere', readonly string[]> = {
  everywhere: [
    ...['c = {{ user_group.provided_id }}', '{{ viewer.id }} = c', 'c <> {{ viewer.name }}', 'c IN ({{ viewer.properties.list }})'],
    ...['c NOT IN ({{ user_group.properties.list }})', "c IN ('a', {{ viewer.id }})", 'c = {{ passed.text }}', 'c IN ({{ passed.list }})'],
    ...["c LIKE {{ passed.text }}", 'n = {{ passed.number }}', 'n < {{ passed.number }}', 'n - {{ passed.number }} > 1', 'n >-{{ passed.number }}'],
    ...['n IN ({{ passed.numbers }}, {{ passed.number }})', 'n = {{ number passed.whole }}', 'n = {{ number viewer.properties.whole }}'],
    ...['{{ viewer.properties.nothing }} IS NULL', 'c = {{ user_group.properties.nothing }}', 'day = {{ date passed.day }}', 'day < {{ date viewer.properties.day }}'],
    ...['n > 0 ORDER BY n LIMIT {{ passed.count }}', 'n > 0 ORDER BY n LIMIT {{ passed.count }} OFFSET {{ passed.start }}'],
    ...["'x'\n= {{ passed.text }}\n", 'c = {{ viewer.id }}\n-- a comment\n', 'c = {{ viewer.id }}/* a comment */'],
  ],
  postgresql: [
    ...['c = ANY({{ passed.list }})', 'c = ANY({{ viewer.properties.list }})', 'c <> ALL({{ viewer.properties.list }})', 'n = ANY({{ passed.numbers }})'],
    ...['c IN (SELECT unnest({{ passed.list }}::text[]))', '{{ viewer.id }} = ANY(ARRAY[c])', 'n = {{ passed.number }}::numeric', 'c::jsonb = {{ passed.text }}'],
  ],
  duckdb: [
    ...['c = ANY({{ passed.list }})', 'c = ANY({{ viewer.properties.list }})', 'c <> ALL({{ viewer.properties.list }})', 'c IN (SELECT unnest({{ passed.list }}))'],
  ],
  mariadb: ['c <=> {{ passed.text }}', 'c = {{ passed.text }} COLLATE utf8mb4_general_ci', "JSON_VALUE(JSON_OBJECT('a', c), '$.a') = {{ viewer.id }}"],
  sqlite: ['c IS {{ passed.text }}', 'c = {{ passed.text }} COLLATE NOCASE', "json_object('a', c) ->> '$.a' = {{ viewer.id }}"],
} // prettier-ignore

const special = [
  ...["it's", "''", '\\', "\\'", '"', '`', '--', '/*', '*/', ';', '{{ viewer.id }}', '{%', '#', '${a}', '$1', '?', ':a', '@p1', '$$', '$a$', '%', '_'],
  ...['’', '＇', '\u02bc', '\u201c', '🙂', '\u0301', '\u00a0', '\u2028', '\ufeff', '\u0001', '\u001a', '\u007f', '\uffff', '\n', '\r', '\t', '\v', '\b'],
  ...['', ' ', 'a', 'A', 'a ', 'acme', 'Acmé', 'EU', 'u-7', 'a--b', '-', 'NULL', '42', '042', '-1.5', '1e5', 'true', '{"a":1}', '[]', '{a,b}', '縺', '¿\'', '\u00bf\\'],
] // prettier-ignore
const text = fc.oneof(
  fc.constantFrom(...special),
  fc.array(fc.constantFrom(...special), { maxLength: 5 }).map((parts) => parts.join('')),
  hostileText,
)
const aNumber = fc.oneof(
  fc.constantFrom(0, 1, -1, 3, -3, 0.1, -0.5, 1.5, 1e15, -1e-7, 2 ** 53, 2 ** 31, 1 - 2 ** 31),
  fc.integer({ min: -50, max: 50 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((number) => number + 0),
)
const values = fc.record({
  id: text,
  list: fc.array(text, { maxLength: 5 }),
  number: aNumber,
  numbers: fc.array(aNumber, { maxLength: 4 }),
  whole: fc.oneof(fc.integer({ min: -50, max: 50 }), fc.integer().map(String)),
  day: fc.constantFrom('2026-01-31', '2026-02-01', '0001-01-01'),
  count: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 20 }).map(String)),
})

for (const dialect of realDatabases) {
  describe(`literals of a real database (${dialect})`, () => {
    it('have the values of bound ones', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      const select = async (value: unknown, output: SqlOutput) => {
        const type = typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean')
        const template = `SELECT ${database.cast('{{ passed }}', type)}`
        return run(database, template, userGroup('a', {}), { passed: value }, output)
      }
      await fc.assert(
        fc.asyncProperty(fc.oneof(text, scalar), async (value) => {
          const bound = await select(value, 'bound')
          // The driver of DuckDB binds no larger numbers.
          fc.pre(dialect !== 'duckdb' || typeof value !== 'number' || Array.isArray(bound))
          assert.ok(Array.isArray(bound), String(bound))
          assert.deepEqual(await select(value, 'literal'), bound)
        }),
        { numRuns: cases(100), examples: special.map((value): [string] => [value]), endOnFailure: true },
      )
    })

    it('select the same rows as bound ones', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await createTable(database)
      const all = [...conditions.everywhere, ...conditions[dialect]]
      let found = 0
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...all), values, async (condition, { id, list, ...others }) => {
          const properties = { ...others, list, nothing: null }
          const passed = { ...properties, text: id, start: 2 }
          const template = `SELECT n, c FROM t WHERE ${condition}`
          const select = (output: SqlOutput) =>
            run(database, template, userGroup(id, properties), { passed }, output)
          const [bound, literal] = [await select('bound'), await select('literal')]
          if (Array.isArray(bound) && bound.length > 0) found++
          assert.deepEqual(literal, bound, condition)
        }),
        { numRuns: cases(150), endOnFailure: true },
      )
      t.diagnostic(`${found} found rows`)
      assert.ok(found > cases(35), `only ${found} found rows`)
    })
  })
}

/** Settings that change how the database reads literals, and an expression for the UTF-8 of a text, in hexadecimal digits. */
const settings: readonly (readonly [Database['dialect'], set: string, utf8: (text: string) => string])[] = [
  ...[
    'SET standard_conforming_strings = off',
    'SET standard_conforming_strings = off; SET backslash_quote = off',
    "SET client_encoding = 'SJIS'",
  ].map((set) => ['postgresql', set, (text: string) => `encode(convert_to(${text}::text, 'UTF8'), 'hex')`] as const),
  ...[
    ...["SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'", "SET sql_mode = 'ORACLE'"],
    ...['SET NAMES latin1', 'SET NAMES sjis', 'SET NAMES gbk'],
  ].map((set) => ['mariadb', set, (text: string) => `lower(hex(${text}))`] as const),
  ['duckdb', "SET default_collation = 'nocase'", (text) => `lower(hex(encode(${text})))`],
] // prettier-ignore

for (const [dialect, set, utf8] of settings) {
  it(`literals of ${dialect} have their value after ${set}`, async (t) => {
    const database = await openDatabase(t, dialect)
    if (database === undefined) return
    await database.execute(set)
    const literalOf = (id: string) => {
      const template = 'SELECT {{ viewer.id }}'
      const compiled = compileSql(template, userGroup(id, {}), { dialect, output: 'literal' })
      return compiled.text.slice('SELECT '.length).replace(/ COLLATE \w+$/, '')
    }
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, size: 'max', maxLength: 20 }), async (ids) => {
        const columns = ids.map((id) => utf8(literalOf(id)))
        const row = await database.query({ text: `SELECT ${columns.join()}`, values: [] })
        assert.deepEqual(row, [ids.map((id) => Buffer.from(id).toString('hex'))])
      }),
      { numRuns: cases(10), examples: [[special]], endOnFailure: true },
    )
  })
}

it('literals of sqlite have their value in a database of UTF-16', async (t) => {
  const database = await openDatabase(t, 'sqlite')
  assert.ok(database)
  await database.execute("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (c text)")
  await fc.assert(
    fc.asyncProperty(text, async (id) => {
      const variables = { id }
      const select = (output: SqlOutput) =>
        run(database, 'SELECT {{ id }}, length({{ id }})', userGroup('a', {}), variables, output)
      assert.deepEqual(await select('literal'), await select('bound'))
    }),
    { numRuns: cases(100), endOnFailure: true },
  )
})

function userGroup(id: string, properties: Exclude<VariableSource['properties'], null>): VariableSource {
  const viewer = { id, name: id, properties, timeZone: null, locale: null }
  return { providedId: id, name: id, properties, viewer }
}

async function createTable(database: Database): Promise<void> {
  const type = database.dialect === 'mariadb' ? 'varchar(200)' : 'text'
  await database.execute(`CREATE TABLE t (n int, c ${type}, day date)`)
  const insert = 'INSERT INTO t VALUES ({{ n }}, {{ c }}, {{ date day }})'
  for (const [n, c] of [...special, null].entries()) {
    const variables = { n: n - 10, c, day: n % 2 === 0 ? '2026-01-31' : '2026-02-01' }
    const { dialect } = database
    await database.query(compileSql(insert, userGroup('a', {}), { dialect, variables }))
  }
}

/** Returns the rows, or that there are none because the database or the package refused the statement. */
async function run(
  database: Database,
  template: string,
  source: VariableSource,
  variables: object,
  output: SqlOutput,
): Promise<unknown> {
  const statement = compileSql(template, source, { dialect: database.dialect, variables, output })
  if (output === 'literal') assert.deepEqual(statement.values, [])
  try {
    return (await database.query(statement)).sort((a, b) => Number(a[0]) - Number(b[0]))
  } catch (error) {
    assert.doesNotMatch(String(error), /syntax error|parser error|error in your SQL syntax/i, statement.text)
    return 'refused'
  }
}
