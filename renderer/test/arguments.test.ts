import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSql, renderText } from '../src/index.ts'
import { active } from './introspection-server.ts'
import { example } from './support.ts'

/** As called from JavaScript, where nothing checks the types. */
const compile = compileSql as (...args: unknown[]) => unknown
const render = renderText as (...args: unknown[]) => unknown
const options = { dialect: 'postgresql' }
const template = 'SELECT {{ user_group.properties.region }}'

describe('from JavaScript, a TypeError says what to pass', () => {
  const odd: [string, unknown][] = [
    ["the service's answer", active],
    ['what introspect promised', Promise.resolve(example)],
    ['nothing', undefined],
    ['a token', 'ugt_customer_x'],
    ['an object', {}],
    ['a user group without properties', { providedId: 'a', name: 'b' }],
    ['a list of properties', { ...example, properties: [] }],
  ]
  for (const [what, userGroup] of odd) {
    it(`for ${what} as the user group`, () => {
      const error = {
        name: 'TypeError',
        message: /^userGroup must have .*: pass what IntrospectionClient.introspect returned, /,
      }
      assert.throws(() => compile(template, userGroup, options), error)
      assert.throws(() => compile('SELECT 1', userGroup, options), error)
      assert.throws(() => render('{{ user_group.name }}', userGroup), error)
    })
  }

  it('for the null of a token that is not active', () => {
    const error = { name: 'TypeError', message: /^userGroup is null: the token is not active/ }
    assert.throws(() => compile(template, null, options), error)
    assert.throws(() => render('{{ user_group.name }}', null), error)
  })

  it('for a template that is no text', () => {
    const error = { name: 'TypeError', message: 'template must be a string' }
    for (const odd of [undefined, null, 1, [template], Buffer.from(template)]) {
      assert.throws(() => compile(odd, example, options), error)
      assert.throws(() => render(odd, example), error)
    }
  })

  it('for a dialect that is missing or unknown', () => {
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
          /^dialect must be one of postgresql, .*: pass \{ dialect: 'postgresql' \}, or another, as the third argument$/,
      })
    }
  })
})
