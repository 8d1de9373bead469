import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/index.ts'
import { compiled, example, refusal, withValue } from '../support.ts'

describe('variable', () => {
  const found = [
    ['{{ user_group.provided_id }}', 'customer-42'],
    ['{{ user_group.name }}', 'Example customer'],
    ['{{user_group.name}}', 'Example customer'],
    ['{{\t\r\n user_group.name \r\n\t}}', 'Example customer'],
    ['{{ user_group["name"] }}', 'Example customer'],
    ['{{ user_group.properties.region }}', 'EU'],
    ['{{ user_group.properties["region"] }}', 'EU'],
    [String.raw`{{ user_group.properties["re\u0067ion"] }}`, 'EU'],
    ['{{ user_group.properties.nested.deep.value }}', 1],
    ['{{ user_group.properties["sales region"]["north.west"] }}', 'NW'],
    ['{{ user_group.properties.nested["deep"].value }}', 1],
  ] as const
  for (const [variable, value] of found) {
    it(`reads ${JSON.stringify(variable)}`, () => {
      assert.deepEqual(compiled(`SELECT ${variable} x`), { text: 'SELECT $1 x', values: [value] })
    })
  }

  it('accepts any key in brackets', () => {
    for (const key of [
      '',
      ' ',
      '}}',
      '{{',
      '"',
      '\\',
      ']',
      "it's",
      'ключ',
      '🙂',
      '$1',
      '--',
      '/*',
      '\n',
      '\0',
    ]) {
      const userGroup = { ...example, properties: { [key]: 'found' } }
      const template = `SELECT {{ user_group.properties[${JSON.stringify(key)}] }}`
      assert.deepEqual(compiled(template, 'bigquery', userGroup), {
        text: 'SELECT ?',
        values: ['found'],
      })
    }
  })

  const unset = [
    'user_group.properties.missing',
    'user_group.properties.nested.missing',
    'user_group.properties.nested.deep.value.more',
    'user_group.properties.Region',
    'user_group.properties["region "]',
    'user_group.properties.nothing.more',
    'user_group.properties.region.length',
    'user_group.properties.regions.length',
    'user_group.properties.regions["0"]',
    'user_group.properties.constructor',
    'user_group.properties.constructor.name',
    'user_group.properties.__proto__',
    'user_group.properties.__proto__.constructor.name',
    'user_group.properties.toString',
    'user_group.properties["hasOwnProperty"]',
    'user_group.name.length',
  ]
  for (const name of unset) {
    it(`unset: ${name}`, () => {
      const error = refusal(`SELECT 1\n  + {{ ${name} }}`)
      assert.equal(error.code, 'unset_variable')
      assert.equal(error.variable, name)
      assert.equal(error.message, `${name} is not set (line 2, column 5)`)
    })
  }

  it('unset if the user group has no properties', () => {
    const userGroup = { ...example, properties: null }
    assert.equal(refusal('{{ user_group.properties.region }}', 'sqlite', userGroup).code, 'unset_variable')
    assert.equal(refusal('{{ user_group.properties }}', 'sqlite', userGroup).code, 'unset_variable')
  })

  it('may have the name of an inherited member, if it is set', () => {
    const properties = JSON.parse(
      '{"__proto__":{"constructor":"a"},"constructor":{"name":"b"},"length":"c"}',
    ) as JsonObject
    const template =
      'SELECT {{ user_group.properties.__proto__.constructor }}, {{ user_group.properties.constructor.name }}, {{ user_group.properties.length }}'
    assert.deepEqual(compiled(template, 'bigquery', { ...example, properties }), {
      text: 'SELECT ?, ?, ?',
      values: ['a', 'b', 'c'],
    })
  })

  const unknown = ['name', 'user', 'user_group', 'user_group.id', 'user_group.token', 'USER_GROUP.name']
  for (const name of [
    ...unknown,
    'user_group.Name',
    'user_groups.name',
    'user_group.constructor',
    'x.name',
  ]) {
    it(`unknown: ${name}`, () => {
      const error = refusal(`SELECT {{ ${name} }}`)
      assert.equal(error.code, 'unknown_variable')
      assert.match(error.message, new RegExp(`^There is no variable ${name}: `))
      assert.equal(error.variable, name)
    })
  }

  const malformed = [
    '{{',
    '{{}}',
    '{{ }}',
    '{{ user_group.name',
    '{{ user_group.name }',
    '{{ user_group.name } }',
    '{{ user_group.name | upper }}',
    '{{ user_group.name; DROP TABLE sales }}',
    "{{ user_group.name || '' }}",
    '{{ user_group.properties.regions[0] }}',
    '{{ user_group.properties["region] }}',
    "{{ user_group.properties['region'] }}",
    '{{ user_group.properties["\t"] }}',
    String.raw`{{ user_group.properties["\x"] }}`,
    '{{ user_group.properties[""x"] }}',
    '{{ user_group.properties["region"}}',
    '{{ user_group..name }}',
    '{{ user_group . name }}',
    '{{ user_group.properties.2024 }}',
    '{{ user_group.properties.größe }}',
    '{{ user_group.properties.sales-region }}',
    '{{\u00a0user_group.name }}',
    '{{ user_group.name\u200b}}',
    '{{ {{ user_group.name }} }}',
    '{{{ user_group.name }}}',
    '{{ user_group.name }} }}',
    '{{ /* */ user_group.name }}',
    '{{ "user_group.name" }}',
    ']]}}',
  ]
  for (const template of malformed) {
    it(`malformed: ${JSON.stringify(template)}`, () => {
      assert.equal(refusal(`SELECT ${template}`).code, 'malformed_template')
    })
  }

  it('needs linear time for long keys', () => {
    const key = '\\"'.repeat(1_000_000)
    const template = `SELECT {{ user_group.properties[${JSON.stringify(key)}] }}`
    assert.equal(refusal(template).code, 'unset_variable')
  })

  it('never reveals its value in a message', () => {
    for (const value of [{ a: 'secret' }, ['secret', ['secret']], ['secret'], 'secret\0', 'secret\ud800']) {
      const { message, stack } = refusal(
        'SELECT {{ user_group.properties.value }}',
        'postgresql',
        withValue(value),
      )
      assert.doesNotMatch(`${message} ${stack}`, /secret/)
    }
  })
})
