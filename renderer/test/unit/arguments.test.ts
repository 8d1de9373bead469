import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSql, renderText } from '../../src/index.ts'
import { active } from '../introspection-server.ts'
import { example } from '../support.ts'

/** compileSql without type checks, as JavaScript calls it. */
const compile = compileSql as (...args: unknown[]) => unknown
const render = renderText as (...args: unknown[]) => unknown
const options = { dialect: 'postgresql' }
const template = 'SELECT {{ user_group.properties.region }}'

describe('an invalid argument is a TypeError with a remedy', () => {
  const odd: [string, unknown][] = [
    ["the service's response", active],
    ['what introspect promised', Promise.resolve(example)],
    ['nothing', undefined],
    ['a token', 'ugt_customer_x'],
    ['an object', {}],
    ['a user group without properties', { providedId: 'a', name: 'b' }],
    ['a list of properties', { ...example, properties: [] }],
  ]
  for (const [title, userGroup] of odd) {
    it(`${title} as the user group`, () => {
      const error = {
        name: 'TypeError',
        message: /^userGroup must have .*: pass what IntrospectionClient.introspect returned, /,
      }
      assert.throws(() => compile(template, userGroup, options), error)
      assert.throws(() => compile('SELECT 1', userGroup, options), error)
      assert.throws(() => render('{{ user_group.name }}', userGroup), error)
    })
  }

  it('null of an inactive token', () => {
    const error = { name: 'TypeError', message: /^userGroup is null: the token is inactive/ }
    assert.throws(() => compile(template, null, options), error)
    assert.throws(() => render('{{ user_group.name }}', null), error)
  })

  it('a template that is not a string', () => {
    const error = { name: 'TypeError', message: 'template must be a string' }
    for (const odd of [undefined, null, 1, [template], Buffer.from(template)]) {
      assert.throws(() => compile(odd, example, options), error)
      assert.throws(() => render(odd, example), error)
    }
  })

  it('a missing or unknown dialect', () => {
    for (const odd of [
      [],
      [null],
      [{}],
      ['postgresql'],
      [{ dialect: 'postgres' }],
      [{ dialect: ['mysql'] }],
    ]) {
      assert.throws(() => compile(template, example, ...odd), {
        name: 'TypeError',
        message:
          /^dialect must be one of postgresql, .*: pass it as the last argument, for example \{ dialect: 'postgresql' \}$/,
      })
    }
  })
})
