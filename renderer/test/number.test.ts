import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate, compileSql, TemplateError, type SqlDialect } from '../src/index.ts'
import { openDatabase, realDatabases, type Database } from './databases.ts'
import { example, placeholders, sqlDialects, withValue } from './support.ts'

const canonical = ['0', '7', '-7', '42', '-1.5', '0.1', '0.001', '10', '1000000', '9007199254740993', '9223372036854775807', '-9223372036854775808', '12345678901234.5'] // prettier-ignore
const others = [
  ...['042', ' 42', '42 ', '4.2e1', '42.0', '42.', '.5', '+42', '-0', '-0.0', '00', '0x2A', '4_2', '', '-', 'NaN', 'Infinity', 'abc', '42\n', '４２'],
  ...['9223372036854775808', '-9223372036854775809', '0.1234567890123456', '1234567890123456.5', '1e5', '1'.repeat(50), true, {}, 1e21, 0.1 + 0.2, NaN],
] // prettier-ignore

describe('number', () => {
  const template = 'SELECT a FROM s WHERE c > {{ number user_group.properties.value }}'

  it('has the canonical spelling', () => {
    for (const dialect of sqlDialects) {
      for (const text of canonical)
        assert.deepEqual(compileSql(template, withValue(text), { dialect }).values, [text])
      assert.deepEqual(compileSql(template, withValue(42), { dialect }).values, ['42'])
      assert.deepEqual(compileSql(template, withValue(null), { dialect }).values, [null])
      for (const other of others)
        assert.throws(
          () => compileSql(template, withValue(other), { dialect }),
          (error) => {
            assert.ok(error instanceof TemplateError, String(error))
            assert.equal(error.code, 'unusable_value')
            assert.match(error.message, /must be a number as 42 or -1\.5/)
            return true
          },
        )
    }
  })

  const written: Record<SqlDialect, readonly [integer: string, decimal: string]> = {
    postgresql: ['CAST(¤ AS bigint)', 'CAST(¤ AS numeric)'],
    mysql: ['CAST(¤ AS SIGNED)', 'CAST(¤ AS DECIMAL(30, 15))'],
    mariadb: ['CAST(¤ AS SIGNED)', 'CAST(¤ AS DECIMAL(30, 15))'],
    sqlite: ['CAST(¤ AS INTEGER)', 'CAST(¤ AS REAL)'],
    duckdb: ['CAST(¤ AS BIGINT)', 'CAST(¤ AS DECIMAL(38, 15))'],
    sqlserver: ['CAST(¤ AS bigint)', 'CAST(¤ AS decimal(30, 15))'],
    bigquery: ['CAST(¤ AS INT64)', 'CAST(¤ AS BIGNUMERIC)'],
    snowflake: ['CAST(¤ AS NUMBER(38, 0))', 'CAST(¤ AS NUMBER(38, 15))'],
    redshift: ['CAST(¤ AS bigint)', 'CAST(¤ AS decimal(30, 15))'],
    databricks: ['CAST(¤ AS BIGINT)', 'CAST(¤ AS DECIMAL(30, 15))'],
    clickhouse: ['toInt64(¤)', 'toDecimal128(¤, 15)'],
    trino: ['CAST(¤ AS bigint)', 'CAST(¤ AS decimal(30, 15))'],
    oracle: ['TO_NUMBER(¤)', "TO_NUMBER(¤, '999999999999999D999999999999999', 'NLS_NUMERIC_CHARACTERS=''.,''')"],
  } // prettier-ignore
  for (const [dialect, [integer, decimal]] of Object.entries(written) as [
    SqlDialect,
    readonly [string, string],
  ][]) {
    it(`is written as ${integer} or ${decimal} (${dialect})`, () => {
      const placeholder = placeholders[dialect](1).replace(/ COLLATE .*/, '')
      for (const [value, expected] of [
        ['42', integer],
        ['-1.5', decimal],
      ] as const) {
        const { text } = compileSql(template, withValue(value), { dialect })
        assert.equal(text, `SELECT a FROM s WHERE c > ${expected.replace('¤', placeholder)}`)
      }
    })
  }

  it('may be an item of IN, a list, and a condition that checkTemplate requires', () => {
    const list = 'SELECT a FROM s WHERE c IN ({{ number user_group.properties.value }})'
    const { text, values } = compileSql(list, withValue(['1', 2, '2.5']), { dialect: 'sqlite' })
    assert.equal(text, 'SELECT a FROM s WHERE c IN (CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS REAL))')
    assert.deepEqual(values, ['1', '2', '2.5'])
    checkTemplate('SELECT a FROM s WHERE c = {{ number user_group.provided_id }}', {
      dialect: 'postgresql',
      require: ['user_group.provided_id'],
    })
    assert.deepEqual(
      compileSql('SELECT {{ number }}', example, { dialect: 'sqlite', variables: { number: 1 } }).values,
      [1],
    )
  })

  it('is compared with the decimal, too', () => {
    const condition = (written: string) =>
      compileSql(`c ${written.replace('¤', '{{ number user_group.properties.value }}')}`, withValue('42'), {
        dialect: 'postgresql',
      }).text
    assert.equal(
      condition('= ¤'),
      '(c = CAST($1 AS bigint) AND CAST(CAST(c AS text) AS numeric) = CAST(CAST($2 AS text) AS numeric))',
    )
    assert.equal(condition('<> ¤'), '(CAST(CAST(c AS text) AS numeric) <> CAST(CAST($1 AS text) AS numeric))')
    assert.equal(
      condition('IN (¤, 7)'),
      '(c IN (CAST($1 AS bigint), 7) AND (c IN (7) OR CAST(CAST(c AS text) AS numeric) IN (CAST(CAST($2 AS text) AS numeric))))',
    )
  })
})

/** Column types, and the rows as SQL literals. */
const types: Record<Database['dialect'], readonly string[]> = {
  postgresql: ['integer', 'bigint', 'numeric', 'numeric(30,5)', 'real', 'double precision', 'smallint'],
  sqlite: ['INTEGER', 'NUMERIC', 'REAL', 'TEXT', ''],
  mariadb: ['int', 'bigint', 'decimal(30,5)', 'double', 'float', 'varchar(40)'],
  duckdb: ['INTEGER', 'BIGINT', 'HUGEINT', 'DECIMAL(30,5)', 'DOUBLE', 'FLOAT', 'VARCHAR'],
}
const ids = ['42', '-7', '0', '42.5', '0.1', '9007199254740992', '9007199254740993', '9007199254740994', '16777216', '16777217', '32767'] // prettier-ignore

for (const dialect of realDatabases) {
  describe(`a number selects the rows of at most one user group (${dialect})`, () => {
    for (const type of types[dialect]) {
      it(`with a column of type ${type}`, async (t) => {
        const database = await openDatabase(t, dialect)
        if (database === undefined) return
        await database.execute(`CREATE TABLE t (n int, c ${type}); CREATE INDEX t_c ON t (c)`)
        const isWhole = /int/i.test(type)
        const rows = ids.filter(
          (id) =>
            !(isWhole && id.includes('.')) &&
            !(/^(integer|int|smallint)$/i.test(type) && dialect !== 'sqlite' && Number(id) > 32767),
        )
        for (const id of rows) await database.execute(`INSERT INTO t VALUES (${ids.indexOf(id)}, ${id})`)
        const select = async (condition: string, providedId: string) => {
          const template = `SELECT n FROM t WHERE ${condition.replace('¤', '{{ number user_group.provided_id }}')}`
          return (await database.query(compileSql(template, { ...example, providedId }, { dialect }))).flat()
        }
        for (const condition of ['c = ¤', '¤ = c', 'c IN (¤)', 'NOT c <> ¤', 'NOT c NOT IN (¤)']) {
          const owners = new Map<unknown, string>()
          for (const id of ids) {
            const found = await select(condition, id)
            if (!/real|double|float/i.test(type))
              assert.deepEqual(found, rows.includes(id) ? [ids.indexOf(id)] : [], `${condition} for ${id}`)
            for (const n of found) {
              assert.equal(
                owners.get(n),
                undefined,
                `${condition}: row ${String(n)} belongs to ${String(owners.get(n))} and ${id}`,
              )
              owners.set(n, id)
            }
          }
          // Rows of floating-point numbers are found, too.
          assert.ok(owners.size >= Math.min(4, rows.length), condition)
        }
      })
    }
  })
}

it('PostgreSQL refuses a number for a text column, and uses the index of a number column', async (t) => {
  const database = await openDatabase(t, 'postgresql')
  assert.ok(database)
  await database.execute(
    'CREATE TABLE t (c bigint, d text, e numeric); CREATE INDEX ON t (c); CREATE INDEX ON t (e); SET enable_seqscan = off',
  )
  const compile = (column: string, providedId: string) =>
    compileSql(
      `SELECT 1 FROM t WHERE ${column} = {{ number user_group.provided_id }}`,
      { ...example, providedId },
      { dialect: 'postgresql' },
    )
  await assert.rejects(database.query(compile('d', '42')), /operator does not exist: text = bigint/)
  for (const [column, id] of [
    ['c', '42'],
    ['e', '42'],
    ['e', '42.5'],
  ] as const) {
    const { text, values } = compile(column, id)
    assert.match(String(await database.query({ text: `EXPLAIN ${text}`, values })), /Index Cond/)
  }
})
