import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { renderText, TemplateError } from '../src/index.ts'
import { example, value, withValue } from './support.ts'

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof TemplateError) return error.code
    throw error
  }
  return 'nothing'
}

describe('renderText', () => {
  it('replaces variables', () => {
    assert.equal(
      renderText('Sales of {{ user_group.name }} in {{ user_group.properties.region }}', example),
      'Sales of Example customer in EU',
    )
    assert.equal(renderText('No variables & no escaping', example), 'No variables & no escaping')
    assert.equal(renderText('', example), '')
  })

  it('escapes HTML in values only', () => {
    assert.equal(
      renderText(`<b title="${value}">&amp;</b>`, withValue('<script>"&\'`</script>')),
      '<b title="&lt;script&gt;&quot;&amp;&#39;&#96;&lt;/script&gt;">&amp;</b>',
    )
  })

  it('never interprets a value as a template or a replacement pattern', () => {
    for (const text of ['{{ user_group.name }}', '$1', '$$', '%s']) {
      assert.equal(renderText(value, withValue(text)), text)
    }
    assert.equal(renderText(value, withValue('$&')), '$&amp;')
  })

  it('accepts numbers and booleans, including 0 and false, and the empty string', () => {
    assert.equal(renderText(value, withValue(0)), '0')
    assert.equal(renderText(value, withValue(-1.5)), '-1.5')
    assert.equal(renderText(value, withValue(false)), 'false')
    assert.equal(renderText(value, withValue('')), '')
  })

  for (const refused of [null, ['EU', null], [[]], {}, { a: 1 }, NaN, Infinity]) {
    it(`refuses ${JSON.stringify(refused)}`, () => {
      assert.equal(
        codeOf(() => renderText(value, withValue(refused))),
        'unusable_value',
      )
    })
  }

  it('refuses unset, unknown and malformed variables', () => {
    assert.equal(
      codeOf(() => renderText('{{ user_group.properties.missing }}', example)),
      'unset_variable',
    )
    assert.equal(
      codeOf(() => renderText('{{ user_group.properties.constructor }}', example)),
      'unset_variable',
    )
    assert.equal(
      codeOf(() => renderText('{{ name }}', example)),
      'unknown_variable',
    )
    assert.equal(
      codeOf(() => renderText('a {{ b', example)),
      'malformed_template',
    )
  })

  it('writes two braces for {{ "{{" }}', () => {
    assert.equal(
      renderText('{{ "{{" }} x }} {{"{{"}}{{user_group.name}}', example),
      '{{ x }} {{Example customer',
    )
    assert.equal(renderText('a{{\n"{{"\t}}', example), 'a{{')
  })

  for (const template of ['a {{ b', '{{ ng.model }', '{{{', '{{ "}}" }}', "{{ '{{' }}", '{{ "{{"']) {
    it(`explains how to write two braces, after ${template}`, () => {
      assert.throws(() => renderText(template, example), {
        code: 'malformed_template',
        message: /^What follows \{\{ is not a variable: .*; write literal braces as \{\{ "\{\{" \}\}/,
      })
    })
  }

  it('keeps single braces', () => {
    assert.equal(renderText('} }} { { {{user_group.name}}', example), '} }} { { Example customer')
  })
})
