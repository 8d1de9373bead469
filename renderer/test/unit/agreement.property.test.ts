import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { checkTemplate, compileSql, TemplateError, type Json } from '../../src/index.ts'
import { example, sqlDialects } from '../support.ts'

const condition = fc.constantFrom(
  ...['c = ¤', '(¤) = c', 'c IN (¤)', 'c <> ¤', '¤ IS NULL OR c = ¤', 'c > ¤', 'c LIKE ¤', "c = ¤ || ''", 'coalesce(c, ¤) = d', 'c = coalesce(¤, d)'],
  ...['day AT TIME ZONE ¤ = d', 'date_trunc(¤, day) = d', 'CASE c WHEN ¤ THEN 1 END = 1', 'CASE WHEN c = ¤ THEN d END = 1', 'f(a, c = ¤)', '¤', 'a + ¤ = 1'],
  ...['¤ = ANY(c)', 'c = ANY(¤)', "json_value(c, '$.c') = ¤", "(c->>'c') = ¤"],
) // prettier-ignore
const template = fc.oneof(
  fc
    .tuple(
      condition,
      fc.constantFrom('AND', 'OR', 'AND NOT'),
      condition,
      fc.constantFrom('', 'LIMIT ¤', 'ORDER BY ¤', 'QUALIFY c = ¤', 'FOR UPDATE', 'SETTINGS a = 1, c = ¤'),
    )
    .map(
      ([a, operator, b, end]) => `SELECT d FROM s WHERE ${a} ${operator} ${b} [[ AND e > {{ f }} ]] ${end}`,
    ),
  condition.map((one) => `SELECT ¤ AS x, a, ${one} FROM s`),
  condition.map((one) => `UPDATE s SET a = 1, b = 2, ${one} WHERE c = ¤`),
  condition.map((one) => `SELECT a FROM f(1, ${one}) [[ JOIN s ON x = {{ f }} ]]`),
  fc.constantFrom(
    'SELECT upper(¤)',
    "SELECT 'a' || ¤",
    'SELECT ¤ + 1',
    'SELECT ¤ IN (1)',
    'INSERT INTO s VALUES (1, ¤)',
  ),
)

it('a template that checkTemplate accepts compiles for every user group', () => {
  let accepted = 0
  fc.assert(
    fc.property(
      template,
      fc.constantFrom('user_group.provided_id', 'user_group.properties.value'),
      fc.constantFrom(...sqlDialects),
      fc.constantFrom<Json>('EU', '42', '', 42, 0.5, true, null, ['EU', 'US'], []),
      fc.boolean(),
      (written, name, dialect, value, hasFilter) => {
        const text = written.replaceAll('¤', `{{ ${name} }}`)
        try {
          checkTemplate(text, { dialect, optional: ['f'] })
        } catch (error) {
          if (error instanceof TemplateError) return
          throw error
        }
        accepted++
        try {
          const variables = hasFilter ? { f: 1 } : {}
          compileSql(text, { ...example, properties: { value } }, { dialect, optional: ['f'], variables })
        } catch (error) {
          // The value, not the template, is not possible in that place.
          const code = error instanceof TemplateError ? error.code : String(error)
          assert.ok(['unusable_value', 'list_outside_in'].includes(code), `${dialect}: ${text}: ${code}`)
          assert.ok(code !== 'list_outside_in' || Array.isArray(value), text)
        }
      },
    ),
    { numRuns: 3000 },
  )
  assert.ok(accepted > 300, `only ${accepted} were accepted`)
})
