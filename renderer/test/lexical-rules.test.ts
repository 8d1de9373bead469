import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TemplateError, type SqlDialect, type TemplateErrorCode } from '../src/index.ts'
import { everywhere, mark, rules, variable, type Rules } from './lexical-cases.ts'
import { compiled, refusal } from './support.ts'

const placeholders: Record<SqlDialect, string> = {
  postgresql: '$1',
  mysql: '?',
  sqlite: '?',
  sqlserver: '@p1',
  bigquery: '?',
  snowflake: '?',
}

for (const [dialect, { code, refused }] of Object.entries(rules) as [SqlDialect, Rules][]) {
  describe(`the lexical rules of ${dialect}`, () => {
    for (const template of [...everywhere.code, ...code]) {
      it(`leave a variable in code after ${JSON.stringify(template)}`, () => {
        const before = `SELECT ${template} , `
        assert.deepEqual(compiled(`${before}${variable} , 'end'`, dialect), {
          text: `${before}${placeholders[dialect]} , 'end'`,
          values: ['Example customer'],
        })
      })
    }

    for (const reason of Object.keys({ ...everywhere.refused, ...refused }) as TemplateErrorCode[]) {
      for (const template of [...(everywhere.refused[reason] ?? []), ...(refused[reason] ?? [])]) {
        it(`refuse ${JSON.stringify(template)} as ${reason}`, () => {
          // Without a mark, the template is at fault by itself: with a variable after it, and without one.
          const templates = template.includes(mark)
            ? [template.replaceAll(mark, variable)]
            : [template, `${template} , ${variable}`]
          for (const text of templates) {
            const result = compiled(`SELECT ${text}`, dialect)
            assert.ok(result instanceof TemplateError, `it is taken: ${JSON.stringify(result)}`)
            if (template.includes(mark) || text === template) assert.equal(result.code, reason)
          }
        })
      }
    }
  })
}

describe('a refusal says how to write it', () => {
  const cures: Record<SqlDialect, string> = {
    postgresql: `LIKE '%' || ${variable} || '%'`,
    mysql: `LIKE CONCAT('%', ${variable}, '%')`,
    sqlite: `LIKE '%' || ${variable} || '%'`,
    sqlserver: `LIKE '%' + ${variable} + '%'`,
    bigquery: `LIKE CONCAT('%', ${variable}, '%')`,
    snowflake: `LIKE '%' || ${variable} || '%'`,
  }
  for (const [dialect, cure] of Object.entries(cures) as [SqlDialect, string][]) {
    it(`in a literal of ${dialect}, in a way that works`, () => {
      const { message, variable: name } = refusal(`SELECT a LIKE '%${variable}%'`, dialect)
      assert.ok(message.includes(cure), message)
      assert.ok(message.includes(`region = ${variable}`), message)
      assert.equal(name, 'user_group.name')
      assert.ok('text' in compiled(`SELECT a ${cure}`, dialect))
    })
  }

  const typed: [SqlDialect, string, string][] = [
    ['postgresql', `DATE '${variable}'`, `CAST(${variable} AS date) in place of date '…'`],
    ['bigquery', `TIMESTAMP "${variable}"`, `CAST(${variable} AS timestamp) in place of timestamp '…'`],
    ['postgresql', `INTERVAL '${variable} days'`, `+ ${variable} * INTERVAL '1 day'`],
    ['mysql', `INTERVAL '${variable}' DAY`, `+ INTERVAL ${variable} DAY`],
    ['bigquery', `INTERVAL '${variable}' DAY`, `+ INTERVAL ${variable} DAY`],
    ['snowflake', `INTERVAL '${variable} days'`, `DATEADD(day, ${variable}, …)`],
  ]
  for (const [dialect, literal, cure] of typed) {
    it(`in ${literal} of ${dialect}`, () => {
      const { code, message } = refusal(`SELECT a > ${literal}`, dialect)
      assert.equal(code, 'variable_in_literal')
      assert.ok(message.includes(cure), message)
      assert.doesNotMatch(message, /LIKE/)
    })
  }

  it('for what is unknown too, by its name', () => {
    const { message, variable: name } = refusal("SELECT '{{ region }}'")
    assert.match(message, /^\{\{ region \}\} is in a literal: .*; braces that open no variable, as \{ \{ /)
    assert.equal(name, 'region')
  })

  it('for braces in a literal that open no variable', () => {
    const concatenations: Record<SqlDialect, string> = {
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
        assert.match(message, /^\{\{ opens a variable, in a literal too, and what follows is none: /)
        assert.ok(message.includes("as in '{ {1,2},{3,4}}'") && message.includes(concatenation), message)
      }
      assert.ok('text' in compiled(`SELECT '{ {1,2},{3,4}}', ${concatenation}`, dialect))
    }
  })

  it('for braces elsewhere that open no variable', () => {
    assert.match(
      refusal('SELECT 1 -- {{').message,
      /^\{\{ opens a variable, in a comment too, .*: write \{ \{ /,
    )
    assert.match(
      refusal('SELECT "{{"').message,
      /^\{\{ opens a variable, in a quoted identifier too, .*: use a name without/,
    )
    assert.match(refusal('SELECT {{1,2}}').message, /^What follows \{\{ is not a variable: .*, as \{ \{ /)
  })
})
