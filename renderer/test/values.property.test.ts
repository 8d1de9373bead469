import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { compileSql, type VariableSource } from '../src/index.ts'
import { hostileText, scalar } from './arbitraries.ts'
import { asText, sqlDialects } from './support.ts'

const template =
  'SELECT {{ user_group.provided_id }}, {{ user_group.name }} WHERE a = {{ user_group.properties.scalar }} AND ' +
  'b IN ({{ user_group.properties.list }}, {{ user_group.properties.scalar }}) AND c NOT IN ({{ user_group.properties.list }})'

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
        const { text, values } = compileSql(template, userGroup(providedId, name, value, list), { dialect })
        const plain = userGroup(
          'a',
          'b',
          'c',
          list.map(() => 'd'),
        )
        assert.equal(asText(text), compileSql(template, plain, { dialect }).text)
        const bound = [providedId, name, value, ...list, value, ...list]
        assert.deepEqual(
          values,
          ['sqlite', 'oracle'].includes(dialect)
            ? bound.map((v) => (typeof v === 'boolean' ? Number(v) : v))
            : bound,
        )
      }),
      { numRuns: 300 },
    )
  })
}
