import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate } from '../../src/index.ts'
import { compiled, refusal, sqlDialects, value, withValue } from '../support.ts'

/** ¤ is the variable. */
const write = (template: string) => template.replaceAll('¤', value)

describe('row count', () => {
  const whole = [
    'LIMIT ¤',
    'limit\n¤',
    'LIMIT /* rows */ ¤ -- all',
    'LIMIT ¤;',
    'LIMIT 10, ¤',
    'LIMIT ¤, 10',
    'LIMIT 10 OFFSET ¤',
    'OFFSET ¤ LIMIT 10',
    'OFFSET ¤ ROWS FETCH NEXT 10 ROWS ONLY',
    'OFFSET 0 ROWS FETCH NEXT ¤ ROWS ONLY',
    'FETCH FIRST ¤ ROW WITH TIES',
    'LIMIT ¤ FOR UPDATE',
    'LIMIT ¤ BY a LIMIT 5',
    'LIMIT 1 BY a LIMIT ¤',
    'WHERE a IN (SELECT b FROM c LIMIT ¤)',
    'WHERE a IN (SELECT b FROM c LIMIT 1) LIMIT ¤',
    'WHERE offset > 1 LIMIT ¤',
    'WHERE offset != 1 LIMIT ¤',
    'WHERE a > 1. LIMIT ¤',
    'ORDER BY a DESC LIMIT ¤',
    // Names, although they are reserved words.
    'ORDER BY b.when LIMIT ¤',
    'ORDER BY b.where LIMIT ¤',
    'UNION SELECT a AS on LIMIT ¤',
    'UNION SELECT a AS as LIMIT ¤',
    'UNION SELECT a case LIMIT ¤',
    'UNION SELECT a AS not OFFSET ¤',
    'UNION SELECT TOP (¤) a FROM b',
    'UNION SELECT DISTINCT TOP ( ¤ ) PERCENT a FROM b',
  ]
  for (const template of whole) {
    it(`must be an integer from 0: ${template}`, () => {
      for (const odd of [null, -1, '-1', '', ' ', '1 ', 'x', 2.5, '2.5', 1e300, true, '9'.repeat(17)]) {
        const { code, message } = refusal(write(`SELECT a FROM b ${template}`), 'postgresql', withValue(odd))
        assert.equal(code, 'unusable_value')
        assert.match(message, /must be an integer, 0 or more/)
      }
      for (const count of [0, 10, Number.MAX_SAFE_INTEGER, '0', '10']) {
        const result = compiled(write(`SELECT a FROM b ${template}`), 'postgresql', withValue(count))
        assert.deepEqual('values' in result && result.values, [count])
      }
    })
  }

  const parts = [
    'LIMIT MIN(¤, 2)',
    'LIMIT iif(¤ = 1, 2, 3)',
    'LIMIT CASE WHEN ¤ = 2 THEN 2 ELSE 1 END',
    'LIMIT CASE WHEN 1 IS DISTINCT FROM ¤ THEN 2 END',
    'LIMIT CASE WHEN 1 = 1 OR ¤ THEN 2 END',
    'LIMIT CASE limit WHEN ¤ THEN 2 END',
    'LIMIT IFNULL(NULLIF(¤, 0), 2)',
    'LIMIT COALESCE(¤, 100)',
    'LIMIT (SELECT ¤)',
    'LIMIT (SELECT b FROM c WHERE d = ¤)',
    'LIMIT (SELECT b FROM c LIMIT ¤)',
    'LIMIT (SELECT b FROM c LIMIT 1) + ¤',
    'LIMIT round(¤)',
    'LIMIT (¤)',
    'LIMIT ((¤))',
    'LIMIT (¤) + 1',
    'LIMIT [¤]',
    'LIMIT +¤',
    'LIMIT + ¤',
    'LIMIT -¤',
    'LIMIT ~¤',
    'LIMIT !¤',
    'LIMIT @¤',
    'LIMIT |/ ¤',
    'LIMIT ||/ ¤',
    'LIMIT NOT ¤',
    'LIMIT 0+¤',
    'LIMIT .5 + ¤',
    'LIMIT 1*¤',
    'LIMIT 1 + ¤',
    'LIMIT 1 | ¤',
    'LIMIT 1 > ¤',
    'LIMIT 1 IN (¤)',
    'LIMIT 1 BETWEEN ¤ AND 2',
    "LIMIT '1' + ¤",
    "LIMIT like('a', 'a') + ¤",
    'LIMIT minus(1) - ¤',
    'LIMIT a.b + ¤',
    'LIMIT ¤ + 1',
    'LIMIT ¤::int',
    'LIMIT ¤ %',
    'LIMIT ¤ PERCENT',
    'LIMIT ¤ DIV 1',
    'LIMIT ¤ OR 1',
    'LIMIT ¤ COLLATE x',
    "LIMIT ¤ 'x'",
    'LIMIT CAST(¤ AS int)',
    'LIMIT 1, 2 + ¤',
    'LIMIT ¤ + 1, 2',
    'LIMIT 1 OFFSET 1 + ¤',
    'LIMIT 1 OFFSET (¤)',
    'LIMIT 1 BY ¤',
    'ORDER BY b.on LIMIT 1 + ¤',
    'UNION SELECT a else LIMIT 1 + ¤',
    'LIMIT (SELECT c).from + ¤',
    'FETCH FIRST (¤) ROWS ONLY',
    'FETCH FIRST 1 + ¤ ROWS ONLY',
    'FETCH ¤ ROWS ONLY',
    'FETCH NEXT ¤ + 1 ROWS ONLY',
    'UNION SELECT TOP ¤ a FROM b',
    'UNION SELECT TOP (¤ + 1) a FROM b',
    'UNION SELECT TOP ((¤)) a FROM b',
    'UNION SELECT TOP (SELECT ¤) a FROM b',
    'UNION SELECT DISTINCT TOP (abs(¤)) a FROM b',
    'LIMIT {{ date user_group.properties.value }}',
  ]
  for (const template of parts) {
    it(`refuses a variable that is a part: ${template}`, () => {
      for (const dialect of sqlDialects) {
        for (const any of [null, 1, 'x']) {
          const error = refusal(write(`SELECT a FROM b\n${template}`), dialect, withValue(any))
          const codes = ['variable_in_row_count', 'placeholder_in_template', 'variable_touches_text']
          // `@` and `[` are placeholders or quotes in some dialects.
          assert.ok(codes.includes(error.code) || /[@[]/.test(template), `${dialect}: ${error.message}`)
          if (dialect === 'trino' && template.startsWith('LIMIT 1 +'))
            assert.match(
              error.message,
              /is part of a row count .* write only the variable, as in LIMIT \{\{ /,
            )
        }
      }
    })
  }

  it('is the same in every dialect', () => {
    for (const dialect of sqlDialects) {
      for (const odd of [null, '', -1]) {
        assert.equal(refusal(`SELECT a LIMIT ${value}`, dialect, withValue(odd)).code, 'unusable_value')
      }
      assert.throws(() => checkTemplate(`SELECT a LIMIT 1 + ${value}`, { dialect }), {
        code: 'variable_in_row_count',
      })
      const { text, values } = compiled(`SELECT a LIMIT ${value} `, dialect, withValue('7')) as {
        text: string
        values: unknown[]
      }
      assert.deepEqual([text.includes('COLLATE'), values], [false, ['7']])
    }
  })

  const elsewhere = [
    'SELECT ¤ LIMIT 10',
    'SELECT a, COALESCE(¤, 1) FROM b',
    'SELECT (SELECT a LIMIT 1), ¤',
    'SELECT a LIMIT 1; SELECT ¤',
    'SELECT a LIMIT 1 UNION SELECT ¤',
    'FROM a |> LIMIT 10 |> WHERE b = ¤',
    'SELECT limit FROM a WHERE b = ¤',
    'SELECT a.limit, ¤',
    'SELECT a . limit + ¤',
    'SELECT "limit" + ¤',
    'SELECT a WHERE limit = ¤',
    'SELECT a WHERE limit + ¤ > 1',
    'SELECT a WHERE limit != ¤',
    'SELECT a WHERE limit NOT IN (1, ¤)',
    'SELECT offset, ¤',
    'SELECT offset != ¤',
    'SELECT f(offset) , ¤',
    'SELECT a[OFFSET(¤)]',
    'SELECT a WHERE offset IN (1, ¤)',
    'SELECT a WHERE offset IS NULL AND b = ¤',
    'SELECT a WHERE offset BETWEEN ¤ AND ¤',
    'SELECT a FROM UNNEST(b) WITH OFFSET AS c WHERE d = ¤',
    'SELECT a AS offset , ¤',
    'SELECT unlimited(¤)',
    'SELECT TOP 5 a, ¤ FROM b',
    'SELECT TOP (5) a, ¤ FROM b',
    'SELECT top, ¤ FROM b',
    'SELECT sum(top) + ¤ FROM b',
  ]
  for (const template of elsewhere) {
    it(`does not concern: ${template}`, () => {
      for (const any of [null, -1, '', 'x']) {
        const result = compiled(write(template), 'postgresql', withValue(any))
        assert.ok('text' in result, JSON.stringify(result))
      }
    })
  }

  it('ends at the pipe operator of BigQuery', () => {
    const template = write('FROM a |> LIMIT 10 |> EXTEND ¤ AS b |> LIMIT 1')
    assert.ok('text' in compiled(template, 'bigquery', withValue(null)))
    for (const other of [template, write('SELECT a LIMIT 1 |> ¤')])
      assert.equal(refusal(other, 'postgresql', withValue(null)).code, 'variable_in_row_count')
  })
})
