import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TemplateError } from '../src/index.ts'
import { cases } from '../../server/test/support/cases.ts'
import { openDatabase, realDatabases } from './databases.ts'
import { compiled, refusal, sqlDialects, value, withValue } from './support.ts'

/** Values that some database interprets as all rows, and similar ones. */
const odd = fc.constantFrom(null, -1, '-1', '', 'x', true, 2.5)

const operand = ['1', '2', '.5', '1.', "'1'", 'NULL', 'n', 'limit', 'offset', 'top', '"limit"', 's.limit']
const operators = [
  '+',
  '-',
  '*',
  '/',
  '%',
  '|',
  '||',
  '&',
  '~',
  '!',
  '!=',
  '=',
  '<',
  '>',
  '<>',
  '<=>',
  '^',
  '::int',
  '->',
  '@',
  '|/',
  '||/',
]
const words = [
  'NOT',
  'IS',
  'DISTINCT',
  'FROM',
  'IN',
  'AND',
  'OR',
  'BETWEEN',
  'LIKE',
  'CASE',
  'WHEN',
  'THEN',
  'ELSE',
  'END',
  'DIV',
  'COLLATE',
  'PERCENT',
  'ROWS',
  'ONLY',
  'WITH',
  'TIES',
  'AS',
  'BY',
  'FETCH',
  'FIRST',
  'NEXT',
  'LIMIT',
  'OFFSET',
  'TOP',
  'ALL',
]
const calls = [
  '(',
  '(',
  ')',
  ')',
  ',',
  'abs(',
  'coalesce(',
  'nullif(',
  'ifnull(',
  'iif(',
  'round(',
  'cast(',
  'like(',
  'least(',
  'min(',
  '[',
  ']',
]
const queries = ['(SELECT', 'SELECT', 'UNION', 'EXCEPT', 'FROM s', 'WHERE', 'VALUES (', ';', '|>', 'RETURNING', 'ON'] // prettier-ignore

/** Text after LIMIT with at least one variable. */
function rest(parts: readonly string[]): fc.Arbitrary<string> {
  const token = fc.oneof(
    { weight: 3, arbitrary: fc.constant(value) },
    { weight: 7, arbitrary: fc.constantFrom(...parts) },
  )
  return fc
    .array(token, { minLength: 1, maxLength: 9 })
    .filter((tokens) => tokens.includes(value))
    .map((tokens) => tokens.join(' '))
}

/** Expressions of which many are valid. */
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(value, value, '1', '2', 'NULL', "'1'"),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '%', '|', '=', '<', 'OR', 'AND', '<>'),
        tie('expression'),
      )
      .map((parts) => parts.join(' ')),
    fc.tuple(fc.constantFrom('+', '-', '~', 'NOT', ''), tie('expression')).map((parts) => parts.join(' ')),
    fc
      .tuple(
        fc.constantFrom('', 'abs', 'round', 'coalesce', 'SELECT', 'nullif'),
        tie('expression'),
        tie('expression'),
      )
      .map(([name, a, b]) =>
        name === 'SELECT'
          ? `(SELECT ${a})`
          : ['coalesce', 'nullif'].includes(name)
            ? `${name}(${a}, ${b})`
            : `${name}(${a})`,
      ),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c]) => `CASE WHEN ${a} IS DISTINCT FROM ${b} THEN ${c} END`),
  ),
}))

describe('row count, with generated templates', () => {
  it('is never null, whatever surrounds the variable', () => {
    const parts = [...operand, ...operators, ...words, ...calls, '(SELECT'].filter(
      // These prove that the first word is a column, or end the row count.
      (part) =>
        !['=', '<', '>', '<>', '<=>', ',', ')', 'IN', 'AND', 'OR', 'BETWEEN', 'AS', '!='].includes(part),
    )
    fc.assert(
      fc.property(rest(parts), fc.constantFrom(...sqlDialects), odd, (text, dialect, bound) => {
        fc.pre(!text.includes('FROM') && !/\bTOP\b/.test(text))
        refusal(`SELECT n FROM s LIMIT ${text}`, dialect, withValue(bound))
      }),
      { numRuns: cases(1000), seed: 1 },
    )
  })

  for (const dialect of realDatabases) {
    it(`never returns all rows because of the value (${dialect})`, async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      const all = 200
      await database.execute('CREATE TABLE s (n int)')
      const rows = Array.from({ length: all }, (_, n) => `(${n})`)
      await database.execute(`INSERT INTO s VALUES ${rows.join()}`)
      const count = async (template: string, bound: unknown) => {
        const statement = compiled(template, dialect, withValue(bound))
        if (statement instanceof TemplateError) return 'refused'
        return database.query(statement).then(
          ({ length }) => length,
          () => 'failed',
        )
      }
      let refused = 0
      let run = 0
      const template = fc.oneof(
        rest([...operand, ...operators, ...words, ...calls, ...queries]),
        expression.filter((text) => text.includes(value)),
        fc
          .tuple(expression, expression)
          .map(([a, b]) => `${a} OFFSET ${b}`)
          .filter((text) => text.includes(value)),
      )
      await fc.assert(
        fc.asyncProperty(template, odd, async (text, bound) => {
          const statement = `SELECT n FROM s LIMIT ${text}`
          const returned = await count(statement, bound)
          if (returned === 'refused') refused++
          if (typeof returned === 'number') run++
          if (returned === all) assert.equal(await count(statement, 1), all, statement)
        }),
        { numRuns: cases(150), seed: 1, endOnFailure: true },
      )
      t.diagnostic(`${refused} statements were refused, and the database ran ${run}`)
      for (const [bound, expected] of [
        [2, 2],
        ['2', dialect === 'postgresql' ? 2 : undefined],
        [0, 0],
      ] as const) {
        const returned = await count(`SELECT n FROM s LIMIT ${value}`, bound)
        if (expected !== undefined) assert.equal(returned, expected)
      }
    })
  }
})
