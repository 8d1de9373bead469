import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { checkTemplate, compileSql, TemplateError } from '../src/index.ts'
import { cases } from '../../server/test/support/cases.ts'
import { openDatabase, realDatabases } from './databases.ts'
import { example } from './support.ts'

const id = '{{ user_group.provided_id }}'

/** Statements that select `s.c`, with conditions on it in all kinds of places. */
const { query } = fc.letrec<{ condition: string; query: string; from: string; branch: string }>((tie) => {
  const [condition, branch] = [tie('condition'), tie('branch')]
  return {
    condition: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 8, arbitrary: fc.constantFrom(`s.c = ${id}`, `s.c = ${id}`, `${id} = s.c`, `s.c IN (${id})`, `s.c <> ${id}`, `s.c NOT IN (${id})`, '1 = 1', 's.n > 0', 's.c = 42', `(s.c) = ${id}`) },
      { weight: 5, arbitrary: fc.tuple(condition, fc.constantFrom('AND', 'AND', 'AND', 'OR'), condition).map((parts) => parts.join(' ')) },
      condition.map((inner) => `(${inner})`),
      condition.map((inner) => `NOT ${inner}`),
      condition.map((inner) => `(${inner}) IS NOT NULL`),
      condition.map((inner) => `coalesce(${inner}, 1 = 1)`),
      fc.tuple(condition, condition).map(([a, b]) => `CASE WHEN ${a} THEN ${b} ELSE 1 = 1 END`),
      condition.map((inner) => `s.n BETWEEN 0 AND 9 AND ${inner}`),
      tie('query').map((inner) => `EXISTS (${inner})`),
      tie('query').map((inner) => `s.c IN (${inner})`),
    ),
    from: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom('s', 's', 'r AS s', 's, u', 's CROSS JOIN u'),
      fc.tuple(fc.constantFrom('JOIN', 'INNER JOIN', 'LEFT JOIN'), condition).map(([join, on]) => `s ${join} u ON ${on}`),
      fc.tuple(condition, condition).map(([a, b]) => `s JOIN u ON ${a} LEFT JOIN u AS v ON ${b}`),
      tie('query').map((inner) => `(${inner}) AS s`),
      tie('query').map((inner) => `(${inner}) AS s, u`),
      tie('query').map((inner) => `(${inner}) AS x, s`),
    ),
    branch: fc.oneof(
      { weight: 4, arbitrary: fc.tuple(tie('from'), condition).map(([from, where]) => `SELECT s.n, s.c FROM ${from} WHERE ${where}`) },
      { weight: 1, arbitrary: tie('from').map((from) => `SELECT s.n, s.c FROM ${from}`) },
      { weight: 1, arbitrary: fc.tuple(tie('from'), condition).map(([from, having]) => `SELECT s.n, s.c FROM ${from} GROUP BY s.n, s.c HAVING ${having}`) },
    ),
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      branch,
      fc.tuple(branch, fc.constantFrom('UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'), branch).map((parts) => parts.join(' ')),
      fc.tuple(branch, branch).map(([cte, main]) => `WITH r AS (${cte}) ${main}`),
      fc.tuple(branch, branch).map(([cte, main]) => `WITH s AS (${cte.replace('FROM s', 'FROM r AS s')}) ${main}`),
    ),
  }
}) // prettier-ignore

for (const dialect of realDatabases) {
  it(`a statement that meets require returns only the rows of the user group (${dialect})`, async (t) => {
    const database = await openDatabase(t, dialect)
    if (database === undefined) return
    for (const table of ['s', 'r', 'u']) {
      await database.execute(`CREATE TABLE ${table} (n int, c int)`)
      await database.execute(`INSERT INTO ${table} VALUES (1, 42), (2, 7), (3, NULL)`)
    }
    let ran = 0
    await fc.assert(
      fc.asyncProperty(query, async (template) => {
        try {
          checkTemplate(template, { dialect, require: ['user_group.provided_id'] })
        } catch (error) {
          if (error instanceof TemplateError) return
          throw error
        }
        for (const providedId of ['42', '042', '7', ' 7']) {
          const statement = compileSql(template, { ...example, providedId }, { dialect })
          const rows: unknown[][] = await database.query(statement).catch((error: unknown) => {
            // The generator repeats names.
            assert.doesNotMatch(String(error), /syntax error at/)
            return []
          })
          if (rows.length > 0) ran++
          assert.deepEqual(
            rows.filter(([, c]) => String(c) !== providedId),
            [],
            template,
          )
        }
      }),
      { numRuns: cases(300), endOnFailure: true },
    )
    t.diagnostic(`${ran} results had rows`)
    assert.ok(ran >= 5, `only ${ran} statements returned rows`)
  })
}
