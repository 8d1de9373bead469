import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TemplateError, type SqlDialect, type TemplateErrorCode } from '../../src/index.ts'
import { everywhere, mark, rules, variable, type Rules } from '../lexical-cases.ts'
import { compiled, placeholders, refusal } from '../support.ts'

for (const [dialect, { code, refused }] of Object.entries(rules) as [SqlDialect, Rules][]) {
  describe(`lexical rules of ${dialect}`, () => {
    for (const template of [...everywhere.code, ...code]) {
      it(`code continues after ${JSON.stringify(template)}`, () => {
        const before = `SELECT ${template} , `
        assert.deepEqual(compiled(`${before}${variable} , 'end'`, dialect), {
          text: `${before}${placeholders[dialect](1)} , 'end'`,
          values: ['Example customer'],
        })
      })
    }

    for (const reason of Object.keys({ ...everywhere.refused, ...refused }) as TemplateErrorCode[]) {
      for (const template of [...(everywhere.refused[reason] ?? []), ...(refused[reason] ?? [])]) {
        it(`refuse ${JSON.stringify(template)} as ${reason}`, () => {
          // A template without a mark is refused by itself, with and without a variable after it.
          const templates = template.includes(mark)
            ? [template.replaceAll(mark, variable)]
            : [template, `${template} , ${variable}`]
          for (const text of templates) {
            const result = compiled(`SELECT ${text}`, dialect)
            assert.ok(result instanceof TemplateError, `it is accepted: ${JSON.stringify(result)}`)
            if (template.includes(mark) || text === template) assert.equal(result.code, reason)
          }
        })
      }
    }
  })
}

describe('a refusal contains a remedy', () => {
  const remedies: Partial<Record<SqlDialect, string>> = {
    postgresql: `LIKE '%' || ${variable} || '%'`,
    mysql: `LIKE CONCAT('%', ${variable}, '%')`,
    sqlite: `LIKE '%' || ${variable} || '%'`,
    sqlserver: `LIKE '%' + ${variable} + '%'`,
    bigquery: `LIKE CONCAT('%', ${variable}, '%')`,
    snowflake: `LIKE '%' || ${variable} || '%'`,
  }
  for (const [dialect, remedy] of Object.entries(remedies) as [SqlDialect, string][]) {
    it(`for a literal of ${dialect}, and the remedy works`, () => {
      const { message, variable: name } = refusal(`SELECT a LIKE '%${variable}%'`, dialect)
      assert.ok(message.includes(remedy), message)
      assert.ok(message.includes(`region = ${variable}`), message)
      assert.equal(name, 'passed.name')
      assert.ok('text' in compiled(`SELECT a ${remedy}`, dialect))
    })
  }

  const typed: [SqlDialect, string, string][] = [
    ['postgresql', `DATE '${variable}'`, `{{ date passed.name }} instead of date '…'`],
    ['bigquery', `TIMESTAMP "${variable}"`, `CAST(${variable} AS timestamp) instead of timestamp '…'`],
    ['postgresql', `INTERVAL '${variable} days'`, `+ ${variable} * INTERVAL '1 day'`],
    ['mysql', `INTERVAL '${variable}' DAY`, `+ INTERVAL ${variable} DAY`],
    ['bigquery', `INTERVAL '${variable}' DAY`, `+ INTERVAL ${variable} DAY`],
    ['snowflake', `INTERVAL '${variable} days'`, `DATEADD(day, ${variable}, …)`],
  ]
  for (const [dialect, literal, remedy] of typed) {
    it(`for ${literal} of ${dialect}`, () => {
      const { code, message } = refusal(`SELECT a > ${literal}`, dialect)
      assert.equal(code, 'variable_in_literal')
      assert.ok(message.includes(remedy), message)
      assert.doesNotMatch(message, /LIKE/)
    })
  }

  it('for an unknown variable, by its name', () => {
    const { message, variable: name } = refusal("SELECT '{{ region }}'")
    assert.match(message, /^\{\{ region \}\} is in a literal: .*; write literal braces as \{ \{ /)
    assert.equal(name, 'region')
  })

  it('for braces in a literal', () => {
    const concatenations: Partial<Record<SqlDialect, string>> = {
      postgresql: "'{' || '{1,2}'",
      mysql: "CONCAT('{', '{1,2}')",
      sqlite: "'{' || '{1,2}'",
      sqlserver: "'{' + '{1,2}'",
      bigquery: "CONCAT('{', '{1,2}')",
      snowflake: "'{' || '{1,2}'",
    }
    for (const [dialect, concatenation] of Object.entries(concatenations) as [SqlDialect, string][]) {
      for (const literal of ['{{1,2},{3,4}}', '{{1}}', '{{{1}}}', '{{', '%{{%', '{{ a b }}']) {
        const { code, message, variable: name } = refusal(`SELECT '${literal}'`, dialect)
        assert.equal(code, 'variable_in_literal')
        assert.equal(name, undefined)
        assert.match(message, /^\{\{ opens a variable, in a literal too, but none follows: /)
        assert.ok(message.includes("as in '{ {1,2},{3,4}}'") && message.includes(concatenation), message)
      }
      assert.ok('text' in compiled(`SELECT '{ {1,2},{3,4}}', ${concatenation}`, dialect))
    }
  })

  it('for braces in comments, identifiers and code', () => {
    assert.match(
      refusal('SELECT 1 -- {{').message,
      /^\{\{ opens a variable, in a comment too, .*: write \{ \{ /,
    )
    assert.match(
      refusal('SELECT "{{"').message,
      /^\{\{ opens a variable, in a quoted identifier too, .*: use a name without/,
    )
    assert.match(
      refusal('SELECT {{1,2}}').message,
      /^What follows \{\{ is not a variable: .*; write literal braces as \{ \{ /,
    )
  })
})
