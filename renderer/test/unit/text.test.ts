import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { renderText, TemplateError } from '../../src/index.ts'
import { example, withValue } from '../support.ts'

const value = '{{ user_group.properties.value }}'

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

  it('joins lists', () => {
    assert.equal(renderText(value, withValue(['EU', '<US>', 1, true])), 'EU, &lt;US&gt;, 1, true')
    assert.equal(renderText(`[${value}]`, withValue([])), '[]')
  })

  it('takes other variables, and no forms', () => {
    const options = { variables: { filter: { from: '2026-01-01' } } }
    assert.equal(renderText('From {{ filter.from }}', example, options), 'From 2026-01-01')
    for (const form of ['identifier', 'date'])
      assert.equal(
        codeOf(() => renderText(`{{ ${form} filter.from }}`, example, options)),
        'unusable_value',
      )
  })

  it('refuses an unknown format', () => {
    for (const format of ['xml', 'constructor', null])
      assert.throws(() => renderText('', example, { format: format as 'text' }), TypeError)
  })
})

describe('renderText for other formats', () => {
  it('plain text is not escaped', () => {
    assert.equal(renderText(value, withValue('<b>&"\\*'), { format: 'text' }), '<b>&"\\*')
  })

  it('Markdown has no formatting, links, HTML and line breaks', () => {
    const markdown = (bound: unknown) => renderText(value, withValue(bound), { format: 'markdown' })
    assert.equal(markdown('*a* [b](c)'), '\\*a\\* \\[b\\]\\(c\\)')
    // In a block of HTML, a backslash escapes nothing.
    assert.equal(markdown('<b>&amp;'), '&lt;b&gt;&amp;amp\\;')
    assert.equal(markdown('a\n\n# b\r\n1. c\t\u2028d'), 'a \\# b 1\\. c d')
    assert.equal(markdown('https://a.b'), 'https\\:\\/\\/a\\.b')
  })

  it('JSON has no values of other types', () => {
    for (const f of [() => 1, Symbol('x'), { toJSON: () => undefined }])
      assert.equal(
        codeOf(() => renderText('{{ f }}', example, { format: 'json', variables: { f } })),
        'unusable_value',
      )
  })

  it('JSON has values, and text in strings', () => {
    const json = (template: string, bound: unknown) =>
      JSON.parse(renderText(template, withValue(bound), { format: 'json' })) as unknown
    for (const bound of ['"\\\n</script>\u2028', 1, true, null, ['a', 1], { a: { b: '<' } }, []]) {
      assert.deepEqual(json(`{"a\\"b": ${value}, "c": "d"}`, bound), { 'a"b': bound, c: 'd' })
    }
    for (const bound of ['"', '\\', '\n', '","x":"y']) {
      assert.deepEqual(json(`["\\\\ of ${value}!", ${value}]`, bound), [`\\ of ${bound}!`, bound])
    }
    assert.deepEqual(json(`["${value}"]`, ['a', 1]), ['a, 1'])
    const text = renderText(value, withValue('<!--</script>&\u2029'), { format: 'json' })
    assert.doesNotMatch(text, /[<>&\u2029]/)
    const refused = [`["${value}"]`, `["\\${value}"]`]
    for (const template of refused)
      assert.equal(
        codeOf(() => json(template, template.includes('\\') ? '"' : null)),
        'unusable_value',
      )
  })
})
