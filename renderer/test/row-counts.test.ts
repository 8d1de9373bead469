import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDatabase } from './databases.ts'
import { compiled, refusal, sqlDialects, value, withValue } from './support.ts'

/** ¤ is the variable. */
const write = (template: string) => template.replaceAll('¤', value)

describe('row count', () => {
  const counts = [
    'LIMIT ¤',
    'limit\n¤',
    'LIMIT (¤)',
    'LIMIT ((¤))',
    'LIMIT /* rows */ ¤',
    'LIMIT CAST(¤ AS int)',
    'LIMIT ¤::int',
    'LIMIT ¤ + 1',
    'LIMIT 10, ¤',
    'LIMIT ¤, 10',
    'LIMIT 10 OFFSET ¤',
    'OFFSET ¤ ROWS FETCH NEXT 10 ROWS ONLY',
    'OFFSET 0 ROWS FETCH NEXT ¤ ROWS ONLY',
    'FETCH FIRST ¤ ROWS ONLY',
    'FETCH FIRST (¤) ROWS ONLY',
    'LIMIT COALESCE(1, ¤)',
    'WHERE a IN (SELECT b FROM c LIMIT ¤)',
    'WHERE a IN (SELECT b FROM c LIMIT 1) LIMIT ¤',
    'WHERE offset > 1 LIMIT ¤',
  ]
  const partly = [
    'LIMIT 1 + ¤',
    'LIMIT least(¤, 10)',
    'LIMIT (SELECT ¤)',
    'LIMIT (SELECT b FROM c WHERE d = ¤)',
    'LIMIT (SELECT b FROM c LIMIT 1) + ¤',
    'LIMIT CASE WHEN ¤ = 2 THEN 2 ELSE 1 END',
  ]

  for (const template of [...counts, ...partly]) {
    it(`refuses null: ${template}`, () => {
      const { code, message, variable, line } = refusal(
        write(`SELECT a FROM b\n${template}`),
        'postgresql',
        withValue(null),
      )
      assert.deepEqual([code, variable], ['unusable_value', 'user_group.properties.value'])
      assert.ok(line >= 2)
      assert.match(message, /^user_group\.properties\.value is null in a row count .*all rows/)
      assert.ok(message.includes(`COALESCE(${value}, 100)`), message)
    })
  }

  for (const template of counts) {
    it(`refuses anything but an integer from 0: ${template}`, () => {
      for (const odd of [-1, '-1', '', ' ', '1 ', 'x', 2.5, '2.5', 1e300, true, '9'.repeat(17)]) {
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

  it('is the same in every dialect', () => {
    for (const dialect of sqlDialects) {
      for (const odd of [null, '', -1]) {
        assert.equal(refusal(`SELECT a LIMIT ${value}`, dialect, withValue(odd)).code, 'unusable_value')
      }
    }
  })

  it('may be null only in an argument with a fallback', () => {
    const template = write('SELECT a FROM b LIMIT COALESCE(¤, 100)')
    assert.ok('text' in compiled(template, 'postgresql', withValue(null)))
    assert.ok('text' in compiled(write('SELECT a LIMIT ifnull( ¤ , 1)'), 'sqlite', withValue(null)))
    assert.equal(refusal(template, 'sqlite', withValue(-1)).code, 'unusable_value')
  })

  const elsewhere = [
    'SELECT ¤ LIMIT 10',
    'SELECT a, COALESCE(¤, 1) FROM b',
    'SELECT (SELECT a LIMIT 1), ¤',
    'SELECT a LIMIT 1; SELECT ¤',
    'FROM a |> LIMIT 10 |> WHERE b = ¤',
    'SELECT limit FROM a WHERE b = ¤',
    'SELECT a.limit, ¤',
    'SELECT a . limit + ¤',
    'SELECT "limit" + ¤',
    'SELECT a WHERE limit = ¤',
    'SELECT offset, ¤',
    'SELECT f(offset) , ¤',
    'SELECT a WHERE offset IN (1, ¤)',
    'SELECT a WHERE offset IS NULL AND b = ¤',
    'SELECT a WHERE offset BETWEEN ¤ AND ¤',
    'SELECT a FROM UNNEST(b) WITH OFFSET AS c WHERE d = ¤',
    'SELECT a AS offset , ¤',
    'SELECT a ORDER BY offset DESC, ¤',
    'SELECT unlimited(¤)',
  ]
  for (const template of elsewhere) {
    it(`does not concern: ${template}`, () => {
      for (const any of [null, -1, '', 'x']) {
        const result = compiled(write(template), 'postgresql', withValue(any))
        assert.ok('text' in result, JSON.stringify(result))
      }
    })
  }
})

for (const dialect of ['postgresql', 'sqlite'] as const) {
  it(`on a real database, no value makes LIMIT return all rows (${dialect})`, async (t) => {
    const database = await openDatabase(t, dialect)
    await database.execute('CREATE TABLE sales (amount int); INSERT INTO sales VALUES (1), (2), (3), (4)')
    for (const [odd, rows] of [[null], [-1], ['-1'], [''], [2, 2], ['2', 2], [0, 0]] as const) {
      const result = compiled(`SELECT amount FROM sales LIMIT ${value}`, dialect, withValue(odd))
      assert.equal('text' in result ? (await database.query(result)).length : undefined, rows)
    }
    const withDefault = compiled(
      `SELECT amount FROM sales LIMIT COALESCE(${value}, 3)`,
      dialect,
      withValue(null),
    )
    assert.ok('text' in withDefault)
    assert.equal((await database.query(withDefault)).length, 3)
  })
}
