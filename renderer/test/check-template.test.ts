import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTemplate, TemplateError, variablesOf, type CheckOptions } from '../src/index.ts'

function problemOf(template: string, options: Partial<CheckOptions> = {}): string {
  try {
    checkTemplate(template, { dialect: 'postgresql', ...options })
    return 'none'
  } catch (error) {
    if (error instanceof TemplateError) return `${error.code} ${error.line}:${error.column}`
    throw error
  }
}

describe('checkTemplate', () => {
  it('accepts what compileSql may accept', () => {
    const template = `SELECT {{ user_group.team_id }} FROM {{ identifier user_group.properties.schema }}.sales
      WHERE a IN ({{ user_group.properties.any }}) AND b = ANY({{ filter.list }}) AND day > {{ date filter.from }}
      [[ AND c = {{ filter.c }} ]] [[ AND d = {{ filter.d }} ]] LIMIT {{ filter.rows }}`
    const options = {
      variables: ['filter.list', 'filter.from', 'filter.rows'],
      optional: ['filter.c', 'filter.d'],
      identifiers: { 'user_group.properties.schema': ['eu'] },
    }
    assert.equal(problemOf(template, options), 'none')
  })

  const refused: readonly (readonly [template: string, problem: string])[] = [
    ["SELECT\n '{{ user_group.name }}'", 'variable_in_literal 2:3'],
    ['SELECT {{ region }}', 'unknown_variable 1:8'],
    ['SELECT {{ user_group.id }}', 'unknown_variable 1:8'],
    ['SELECT {{ identifier user_group.name }}', 'identifier_not_allowed 1:8'],
    ['SELECT a LIMIT {{ user_group.properties.n }} + 1', 'variable_in_row_count 1:16'],
    ['SELECT a [[ WHERE b = {{ f }} ]]', 'invalid_optional_clause 1:10'],
    ["SELECT '", 'malformed_template 1:8'],
    ['SELECT $1', 'placeholder_in_template 1:8'],
  ]
  for (const [template, problem] of refused) {
    it(`refuses ${template}`, () => assert.equal(problemOf(template), problem))
  }

  it('checks the statement with each clause and without', () => {
    const options = { optional: ['f', 'g'] }
    assert.equal(problemOf("SELECT E'a' [[ , {{ f }} , ]]\n 'b'", options), 'malformed_template 2:2')
    assert.equal(
      problemOf('SELECT a LIMIT [[ {{ f }} + ]] [[ {{ g }} ]] 1', options),
      'variable_in_row_count 1:19',
    )
  })

  describe('requires a variable', () => {
    const require = ['user_group.provided_id']
    const id = '{{ user_group.provided_id }}'
    const cases: readonly (readonly [template: string, problem: string])[] = [
      [`SELECT a WHERE b = ${id}`, 'none'],
      [`SELECT a WHERE b = {{ user_group["provided_id"] }};`, 'none'],
      [`SELECT a WHERE b = ${id}; SELECT c WHERE d = ${id} ;; -- end`, 'none'],
      ['SELECT a', 'missing_variable 1:1'],
      [`SELECT a WHERE b = ${id};\n  SELECT c`, 'missing_variable 2:3'],
      [`SELECT a; SELECT c WHERE b = ${id}`, 'missing_variable 1:1'],
      ['SELECT a WHERE b = {{ user_group.name }}', 'missing_variable 1:1'],
      ['', 'none'],
    ]
    for (const [template, problem] of cases) {
      it(`in ${template}`, () => assert.equal(problemOf(template, { require }), problem))
    }

    it('outside optional clauses and row counts, and as a value', () => {
      const template = 'SELECT a [[ WHERE b = {{ filter.b }} ]]'
      const options = { optional: ['filter.b'], require: ['filter.b'] }
      assert.equal(problemOf(template, options), 'missing_variable 1:1')
      const identifiers = { 'user_group.provided_id': ['eu'] }
      const named = 'SELECT a FROM {{ identifier user_group.provided_id }}'
      assert.equal(problemOf(named, { require, identifiers }), 'missing_variable 1:1')
      const counted = 'SELECT a LIMIT {{ user_group.provided_id }}'
      assert.equal(problemOf(counted, { require }), 'missing_variable 1:1')
    })
  })

  it('checks its arguments', () => {
    assert.throws(() => problemOf('SELECT 1', { require: ['not a name'] }), TypeError)
    assert.throws(
      () => problemOf('SELECT 1', { variables: { filter: {} } as unknown as string[] }),
      TypeError,
    )
    assert.throws(() => problemOf(1 as unknown as string), TypeError)
  })
})

describe('variablesOf', () => {
  it('returns every occurrence with its position', () => {
    const template = 'a {{ user_group.name }}\n {{identifier filter["x y"].z}} {{ "{{" }} {{ date d }}{{ d }}'
    assert.deepEqual(variablesOf(template), [
      { name: 'user_group.name', path: ['user_group', 'name'], form: undefined, line: 1, column: 3 },
      { name: 'filter["x y"].z', path: ['filter', 'x y', 'z'], form: 'identifier', line: 2, column: 2 },
      { name: 'd', path: ['d'], form: 'date', line: 2, column: 44 },
      { name: 'd', path: ['d'], form: undefined, line: 2, column: 56 },
    ])
    assert.deepEqual(variablesOf('SELECT 1'), [])
    assert.throws(() => variablesOf('{{ 1 }}'), { code: 'malformed_template' })
  })
})
