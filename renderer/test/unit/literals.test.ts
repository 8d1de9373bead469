import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  checkTemplate,
  compileSql,
  TemplateError,
  type CompileOptions,
  type SqlDialect,
} from '../../src/index.ts'
import { hostileText } from '../arbitraries.ts'
import { example, sqlDialects, withValue } from '../support.ts'

/** Returns the literal of a value that is one of `variables`. */
function literal(value: unknown, dialect: SqlDialect, template = '{{ a }}'): string {
  const options = { dialect, variables: { a: value }, output: 'literal' } as const
  const { text, values } = compileSql(`SELECT ${template}`, example, options)
  assert.deepEqual(values, [])
  return text.slice('SELECT '.length)
}

function utf8Of(hex = ''): string {
  return Buffer.from(hex, 'hex').toString()
}

function unescaped(text = ''): string {
  return text.replace(/\\u(....)|\\U(.{8})/g, (_, short?: string, long?: string) =>
    String.fromCodePoint(Number.parseInt(short ?? long ?? '', 16)),
  )
}

/** By dialect: the form of a literal whose text is not plain, and how the documentation reads it. */
const forms: Record<SqlDialect, readonly [form: RegExp, read: (text?: string) => string]> = {
  postgresql: [/^\(E'((?:[\w. ]|\\u[\da-f]{4}|\\U[\da-f]{8})*)'\)$/, unescaped],
  mysql: [/^_utf8mb4 X'([\da-f]*)' COLLATE utf8mb4_0900_bin$/, utf8Of],
  mariadb: [/^_utf8mb4 X'([\da-f]*)' COLLATE utf8mb4_nopad_bin$/, utf8Of],
  sqlite: [
    /^\(((?:char\([\d,]+\)(?:\|\|)?)+)\)$/,
    (calls = '') => [...calls.matchAll(/\d+/g)].map(([code]) => String.fromCodePoint(Number(code))).join(''),
  ],
  duckdb: [/^decode\(unhex\('([\da-f]*)'\)\)$/, utf8Of],
  sqlserver: [
    /^CAST\(0x([\da-f]*) AS nvarchar\(max\)\)$/,
    (hex = '') => Buffer.from(hex, 'hex').toString('utf16le'),
  ],
  bigquery: [/^'((?:[\w. ]|\\u[\da-f]{4}|\\U[\da-f]{8})*)'$/, unescaped],
  snowflake: [/^HEX_DECODE_STRING\('([\da-f]*)'\)$/, utf8Of],
  redshift: [/^FROM_VARBYTE\(FROM_HEX\('([\da-f]*)'\), 'utf8'\)$/, utf8Of],
  databricks: [/^CAST\(X'([\da-f]*)' AS STRING\)$/, utf8Of],
  clickhouse: [/^unhex\('([\da-f]*)'\)$/, utf8Of],
  trino: [/^from_utf8\(X'([\da-f]*)'\)$/, utf8Of],
  oracle: [/^no form$/, () => assert.fail()],
}
const plain = /^(?:N|_utf8mb4)?'((?:[\w. ]|-(?!-))*)'(?: COLLATE \w+)?$/

describe('a literal', () => {
  for (const dialect of sqlDialects) {
    it(`of any text is ASCII without braces, quotes or signs that programs replace (${dialect})`, () => {
      const [form, read] = forms[dialect]
      fc.assert(
        fc.property(fc.oneof(hostileText, fc.string({ unit: 'grapheme' })), (text) => {
          let written: string
          try {
            written = literal(text, dialect)
          } catch (error) {
            assert.ok(error instanceof TemplateError)
            assert.equal(error.code, 'unusable_value')
            return assert.ok(dialect === 'oracle' || text.includes('\0'))
          }
          assert.doesNotMatch(written, /[{}%:?$@#;"`]|--|\/\*|[^ -~]/)
          const [, content] = plain.exec(written) ?? []
          assert.equal(content ?? read(form.exec(written)?.[1]), text)
        }),
        { numRuns: 500 },
      )
    })
  }

  const plainTexts: Record<SqlDialect, string> = {
    ...(Object.fromEntries(sqlDialects.map((dialect) => [dialect, "'customer-42'"])) as Record<
      SqlDialect,
      string
    >),
    sqlserver: "N'customer-42'",
    mysql: "_utf8mb4'customer-42' COLLATE utf8mb4_0900_bin",
    mariadb: "_utf8mb4'customer-42' COLLATE utf8mb4_nopad_bin",
  }
  it('of a usual id is readable', () => {
    for (const dialect of sqlDialects) assert.equal(literal('customer-42', dialect), plainTexts[dialect])
  })

  it('has an escape for a character beyond U+FFFF, and not for its halves', () => {
    assert.equal(literal('🙂', 'bigquery'), String.raw`'\U0001f642'`)
    assert.equal(literal('🙂', 'postgresql'), String.raw`(E'\U0001f642')`)
  })

  it('of a number, a boolean or null', () => {
    const written = (dialect: SqlDialect) =>
      [3, -3, 1.5, -0.5, 2 ** 62, 1e21, 1e-7, true, false, null]
        .map((value) => literal(value, dialect))
        .join(' ')
    const usual = '3 (-3) 1.5e0 (-0.5e0) 4611686018427387904 1e+21 1e-7 TRUE FALSE NULL'
    const doubles = '3e0 (-3e0) 1.5e0 (-0.5e0) 4611686018427388000e0 1e+21 1e-7'
    const texts = "'3' '-3' '1.5' '-0.5' '4611686018427388000'"
    assert.equal(written('duckdb'), usual)
    assert.equal(written('trino'), usual)
    assert.equal(written('oracle'), usual.replace('TRUE FALSE', '1 0'))
    assert.equal(written('sqlserver'), usual.replace('TRUE FALSE', 'CAST(1 AS bit) CAST(0 AS bit)'))
    assert.equal(written('sqlite'), `${doubles} 1e0 0e0 NULL`)
    assert.equal(written('mariadb').replaceAll(/ COLLATE \w+/g, ''), `${doubles} TRUE FALSE NULL`)
    assert.equal(written('postgresql'), `${texts} (E'1e\\u002b21') '1e-7' 'true' 'false' NULL`)
  })

  it('of a row count is a number', () => {
    for (const dialect of sqlDialects)
      for (const count of [10, '10'])
        assert.equal(literal(count, dialect, 'a FROM b LIMIT {{ a }}'), 'a FROM b LIMIT 10')
  })

  it('after a minus sign begins no comment', () => {
    for (const dialect of sqlDialects) assert.doesNotMatch(literal(-1, dialect, '1-{{ a }}'), /--/)
  })

  it('of an array', () => {
    const list = ['EU', "it's", '"', '\\', null, 1]
    const array = String.raw`(E'\u007b\u0022EU\u0022\u002c\u0022it\u0027s\u0022\u002c\u0022\u005c\u0022\u0022\u002c\u0022\u005c\u005c\u0022\u002cNULL\u002c\u00221\u0022\u007d')`
    assert.equal(literal(list, 'postgresql', 'a WHERE b = ANY({{ a }})'), `a WHERE b = ANY(${array})`)
    const items = "['EU', decode(unhex('69742773')), decode(unhex('22')), decode(unhex('5c')), NULL, 1]"
    assert.equal(literal(list, 'duckdb', 'a WHERE b = ANY({{ a }})'), `a WHERE b = ANY(${items})`)
  })

  it('of a date or number has its form', () => {
    const date = "CAST('2026-01-31' AS date)"
    assert.equal(literal('2026-01-31', 'postgresql', '{{ date a }}'), date)
    assert.equal(literal('-42', 'postgresql', '{{ number a }}'), "CAST('-42' AS bigint)")
  })

  it('is compared exactly, also in a condition alone', () => {
    const condition =
      'customer = {{ user_group.provided_id }} AND region IN ({{ user_group.properties.regions }})'
    checkTemplate(condition, { dialect: 'postgresql' })
    assert.equal(
      compileSql(condition, example, { dialect: 'postgresql', output: 'literal' }).text,
      `(customer = 'customer-42' AND (customer)::text COLLATE "C" = 'customer-42') AND ` +
        `(region IN ('EU', 'US') AND (region)::text COLLATE "C" IN ('EU', 'US'))`,
    )
  })

  it('has no maximum number', () => {
    const list = Array.from({ length: 300 }, (_, i) => i)
    assert.match(literal(list, 'databricks', 'a IN ({{ a }})'), /, 299\)$/)
  })

  const unusable = [NaN, Infinity, 10n, new Date(0), {}, [['a']], 'a\ud800', '\udc00', Symbol('a'), () => 1]
  it('of any other value is refused', () => {
    for (const dialect of sqlDialects)
      for (const value of unusable)
        assert.throws(() => literal(value, dialect, 'a IN ({{ a }})'), { code: 'unusable_value' })
    for (const dialect of ['postgresql', 'redshift', 'duckdb'] as const)
      assert.throws(() => literal('a\0', dialect), { code: 'unusable_value' })
  })

  it('whose escapes depend on the database is refused, with a remedy', () => {
    for (const text of ["it's", 'é', 'a--b', '\\', '{', ':', '&'])
      assert.throws(() => literal(text, 'oracle'), {
        code: 'unusable_value',
        message: /^a cannot be a literal of this database with certainty: .* Bind it, without output \(/,
      })
  })

  it('never shows the value in an error', () => {
    assert.throws(
      () =>
        compileSql('SELECT {{ user_group.properties.value }}', withValue("secret'"), {
          dialect: 'oracle',
          output: 'literal',
        }),
      (error: unknown) =>
        error instanceof TemplateError && !`${error.message}${error.stack}`.includes('secret'),
    )
  })

  it('is chosen by a known option', () => {
    for (const output of ['Literal', 'literals', '', null, true])
      assert.throws(
        () => compileSql('SELECT 1', example, { dialect: 'sqlite', output } as unknown as CompileOptions),
        { name: 'TypeError', message: 'output must be bound or literal' },
      )
  })
})
