import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  checkTemplate,
  compileSql,
  renderText,
  TemplateError,
  type Json,
  type SqlDialect,
  type VariableSource,
} from '../../src/index.ts'
import { refusal, sqlDialects } from '../support.ts'

const ada: VariableSource = {
  providedId: 'customer-42',
  name: 'Example customer',
  properties: null,
  viewer: {
    id: 'u-7',
    name: 'Ada',
    properties: { role: 'manager', level: 3 },
    timeZone: 'Europe/Berlin',
    locale: 'de-DE',
  },
}
const nameless: VariableSource = {
  ...ada,
  viewer: { id: 'u-7', name: null, properties: null, timeZone: null, locale: null },
}

describe('a variable of the viewer', () => {
  it('has what the session says', () => {
    const names = ['id', 'name', 'properties.role', 'properties["level"]', 'time_zone', 'locale']
    const template = `SELECT ${names.map((name) => `{{ viewer.${name} }}`).join(', ')}`
    const { values } = compileSql(template, ada, { dialect: 'sqlite' })
    assert.deepEqual(values, ['u-7', 'Ada', 'manager', 3, 'Europe/Berlin', 'de-DE'])
    assert.equal(renderText('Hello {{ viewer.name }}!', ada), 'Hello Ada!')
  })

  it('is unset with a user group token', () => {
    for (const viewer of [undefined, null]) {
      const ofToken = { ...ada, ...(viewer === null && { viewer }) }
      if (viewer === undefined) delete (ofToken as { viewer?: unknown }).viewer
      for (const name of ['id', 'name', 'properties.role', 'time_zone', 'locale']) {
        const error = refusal(`SELECT {{ viewer.${name} }}`, 'sqlite', ofToken)
        assert.equal(error.code, 'unset_variable')
        assert.match(error.message, /^viewer\.\S+ is not set: the token is no viewer session\./)
        assert.throws(() => renderText(`{{ viewer.${name} }}`, ofToken), { code: 'unset_variable' })
      }
    }
  })

  it('is unset if the session does not say it', () => {
    for (const name of ['name', 'properties', 'properties.role', 'time_zone', 'locale']) {
      const { code, message } = refusal(`SELECT {{ viewer.${name} }}`, 'sqlite', nameless)
      assert.equal(code, 'unset_variable')
      assert.match(message, /is not set \(/)
    }
    assert.equal(refusal('SELECT {{ viewer.properties.city }}', 'sqlite', ada).code, 'unset_variable')
  })

  it('is unknown under another name', () => {
    for (const name of [
      'viewer',
      'viewer.role',
      'viewer.timeZone',
      'viewer.provided_id',
      'viewer.constructor',
    ])
      assert.equal(refusal(`SELECT {{ ${name} }}`, 'sqlite', ada).code, 'unknown_variable')
  })

  it('cannot be in an optional clause', () => {
    const template = 'SELECT a FROM s WHERE b = 1 [[ AND c = {{ viewer.id }} AND d = {{ day }} ]]'
    const options = { dialect: 'sqlite', optional: ['day'] } as const
    for (const run of [
      () => checkTemplate(template, options),
      () => compileSql(template, ada, { ...options, variables: { day: 1 } }),
    ])
      assert.throws(run, { code: 'invalid_optional_clause', variable: 'viewer.id' })
  })

  it('cannot be one of `variables`', () => {
    const variables = { viewer: { id: 'u-8' } }
    const error = {
      name: 'TypeError',
      message: 'variables cannot contain viewer: its values come from the token',
    }
    assert.throws(() => compileSql('SELECT 1', ada, { dialect: 'sqlite', variables }), error)
    assert.throws(() => renderText('', ada, { variables }), error)
  })

  it('can be required', () => {
    const options = { dialect: 'postgresql', require: ['user_group.provided_id', 'viewer.id'] } as const
    const own = 'SELECT a FROM s WHERE customer = {{ user_group.provided_id }}'
    checkTemplate(`${own} AND person IN ({{ viewer.id }})`, options)
    for (const template of [
      own,
      `${own} AND person = {{ viewer.name }}`,
      `${own} AND (a OR person = {{ viewer.id }})`,
    ])
      assert.throws(() => checkTemplate(template, options), {
        code: 'missing_variable',
        variable: 'viewer.id',
      })
  })

  it('is compared like one of the user group', () => {
    const condition = fc.constantFrom(
      ...['c = ¤', '(¤) = c', 'c IN (¤)', 'c NOT IN (¤, 1)', 'c <> ¤', '¤ IS NULL', 'c > ¤', 'c LIKE ¤', "c = ¤ || ''", 'c = lower(¤)', 'c = ANY(¤)'],
      ...['¤ = ANY(c)', 'day AT TIME ZONE ¤ = d', 'CASE c WHEN ¤ THEN 1 END = 1', 'c = {{ number ¤n }}', 'day = {{ date ¤n }}', 'c = ¤ LIMIT ¤'],
    ) // prettier-ignore
    const fields = fc.constantFrom(
      ['user_group.name', 'viewer.name'],
      ['user_group.properties.value', 'viewer.properties.value'],
    )
    const values = fc.constantFrom<Json>('EU', '42', '2026-01-31', '', 42, 0.5, true, null, ['EU', 'US'], [])
    let compiled = 0
    fc.assert(
      fc.property(
        condition,
        fields,
        values,
        fc.constantFrom(...sqlDialects),
        (written, names, value, dialect) => {
          const name = typeof value === 'string' ? value : 'EU'
          const properties = { value }
          const source: VariableSource = {
            ...{ providedId: 'customer-42', name, properties },
            viewer: { id: 'u-7', name, properties, timeZone: null, locale: null },
          }
          const [ofUserGroup, ofViewer] = names.map((name) => {
            const template = `SELECT ¤, a FROM s WHERE ${written}`
              .replaceAll('¤n', name)
              .replaceAll('¤', `{{ ${name} }}`)
            return {
              compiled: outcome(() => compileSql(template, source, { dialect })),
              checked: check(template, dialect, name),
            }
          })
          if (typeof ofViewer?.compiled === 'object') compiled++
          assert.deepEqual(ofViewer, ofUserGroup)
        },
      ),
      { numRuns: 2000 },
    )
    assert.ok(compiled > 300, `only ${compiled} compiled`)
  })
})

function check(template: string, dialect: SqlDialect, name: string): unknown {
  return outcome(() => checkTemplate(template, { dialect, require: [name] }))
}

function outcome(run: () => unknown): unknown {
  try {
    return run() ?? 'accepted'
  } catch (error) {
    if (error instanceof TemplateError) return error.code
    throw error
  }
}
