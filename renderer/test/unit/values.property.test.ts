import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { VariableSource } from '../../src/index.ts'
import { hostileText, scalar } from '../arbitraries.ts'
import { cases } from '../../../server/test/support/cases.ts'
import { asText, compileWith, sqlDialects } from '../support.ts'

const template =
  'SELECT {{ user_group.provided_id }}, {{ user_group.name }} WHERE a = {{ passed.scalar }} AND ' +
  'b IN ({{ passed.list }}, {{ passed.scalar }}) AND c NOT IN ({{ passed.list }}) AND d <> {{ user_group.provided_id }}'

function userGroup(providedId: string, name: string, scalar: unknown, list: unknown[]): VariableSource {
  return {
    providedId,
    name,
    properties: JSON.parse(JSON.stringify({ scalar, list })) as VariableSource['properties'],
  }
}

for (const dialect of sqlDialects) {
  const items =
    dialect === 'clickhouse'
      ? fc.array(scalar, { minLength: 1, maxLength: 5 })
      : fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 5 })
  it(`the text depends on no value, and every value is bound (${dialect})`, () => {
    fc.assert(
      fc.property(hostileText, hostileText, scalar, items, (providedId, name, value, list) => {
        const { text, values } = compileWith(template, userGroup(providedId, name, value, list), dialect)
        const plain = userGroup(
          'a',
          'b',
          'c',
          list.map(() => 'd'),
        )
        assert.equal(asText(text), compileWith(template, plain, dialect).text)
        const bound = [providedId, name, value, ...list, value, ...list, providedId]
        assert.deepEqual(
          values,
          ['sqlite', 'oracle'].includes(dialect)
            ? bound.map((v) => (typeof v === 'boolean' ? Number(v) : v))
            : bound,
        )
      }),
      { numRuns: cases(30) },
    )
  })
}
