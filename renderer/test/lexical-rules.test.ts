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

  it('where the variable in it is malformed too', () => {
    const { code, variable: name } = refusal("SELECT '{{1,2},{3,4}}'")
    assert.equal(code, 'variable_in_literal')
    assert.equal(name, undefined)
  })
})
