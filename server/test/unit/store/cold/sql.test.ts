import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { either, list, postgres, raw, rowsOf, sql } from '../../../../src/store/cold/sql.ts'

describe('SQL for both dialects', () => {
  it('numbers the parameters of PostgreSQL, also those of parts', () => {
    const statement = sql`SELECT 1 FROM t WHERE a = ${1} AND ${sql`b = ${'x'}`} AND c IN (${list([2, 3])})`
    assert.deepEqual(statement.render('postgres'), {
      text: 'SELECT 1 FROM t WHERE a = $1 AND b = $2 AND c IN ($3, $4)',
      values: [1, 'x', 2, 3],
    })
    assert.deepEqual(statement.render('sqlite'), {
      text: 'SELECT 1 FROM t WHERE a = ? AND b = ? AND c IN (?, ?)',
      values: [1, 'x', 2, 3],
    })
  })

  it('leaves out what the other dialect needs, with its parameters', () => {
    const statement = sql`${either({ sqlite: sql`a = ${1}`, postgres: raw('b') })} ${postgres`AND c = ${2}`}`
    assert.deepEqual(statement.render('sqlite'), { text: 'a = ?', values: [1] })
    assert.deepEqual(statement.render('postgres'), { text: 'b AND c = $1', values: [2] })
    assert.equal(postgres`LOCK TABLE t`.render('sqlite').text, '')
  })

  it('makes a table of rows', () => {
    const rows = [
      { id: 1, hash: Buffer.from([0, 255]), name: "a 'b' \\ é" },
      { id: 2 ** 53 - 1, hash: Buffer.alloc(0), name: null },
    ]
    const statement = sql`SELECT * FROM ${rowsOf('given', { id: 'bigint', hash: 'bytea', name: 'text' }, rows)}`
    assert.deepEqual(statement.render('postgres'), {
      text: 'SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS given (id, hash, name)',
      values: [[1, 2 ** 53 - 1], rows.map(({ hash }) => hash), ["a 'b' \\ é", null]],
    })
    const database = new BetterSqlite3(':memory:')
    const { text, values } = statement.render('sqlite')
    assert.deepEqual(database.prepare(text).all(...values), rows)
    database.close()
  })
})
