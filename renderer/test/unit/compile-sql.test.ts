import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSql, type SqlDialect } from '../../src/index.ts'
import { dialects } from '../../src/sql/dialects.ts'
import {
  asText,
  compiled,
  compileWith,
  example,
  placeholders,
  refusal,
  sqlDialects,
  value,
  withValue,
} from '../support.ts'

const region = '{{ passed.region }}'
const regions = '{{ passed.regions }}'
const none = '{{ passed.none }}'

describe('compileSql binds', () => {
  for (const dialect of sqlDialects) {
    const placeholder = placeholders[dialect]
    const [first, second, third] = [placeholder(1), placeholder(2), placeholder(3)]

    it(`each occurrence with its own placeholder (${dialect})`, () => {
      assert.deepEqual(compiled(`SELECT ${region}, {{ passed.name }} WHERE a = ${region} -- end`, dialect), {
        text: `SELECT ${first}, ${second} WHERE a = ${third} -- end`,
        values: ['EU', 'Example customer', 'EU'],
      })
    })

    it(`a list as the items of IN and NOT IN (${dialect})`, () => {
      assert.deepEqual(compiled(`a IN (${regions}) AND b NOT IN ( 'x', ${region} )`, dialect), {
        text: `a IN (${first}, ${second}) AND b NOT IN ( 'x', ${third} )`,
        values: ['EU', 'US', 'EU'],
      })
    })

    it(`an empty list so that nothing is in it or outside it (${dialect})`, () => {
      if (dialect === 'clickhouse') {
        // NOT IN (NULL) is true there.
        for (const list of [none, `${region}, ${none}`, '{{ passed.nothing }}'])
          assert.equal(refusal(`a NOT IN (${list})`, dialect).code, 'unusable_value')
        assert.equal(refusal(`a IN (${value})`, dialect, withValue(['EU', null])).code, 'unusable_value')
        return
      }
      assert.deepEqual(compiled(`a IN (${none}) OR a NOT IN (${none}, ${region}) `, dialect), {
        text: `a IN (NULL) OR a NOT IN (NULL, ${first}) `,
        values: ['EU'],
      })
    })

    it(`strings, numbers and null unchanged (${dialect})`, () => {
      for (const bound of ['', "'", '\\', '🙂', '0', 0, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, null]) {
        const { text, values } = compileWith(`SELECT ${value}`, withValue(bound), dialect)
        assert.deepEqual([asText(text), values], [`SELECT ${first}`, [bound]])
      }
    })

    it(`booleans as the driver accepts them (${dialect})`, () => {
      const expected = ['sqlite', 'oracle'].includes(dialect) ? [1, 0] : [true, false]
      const { text, values } = compileWith(`a IN (${value})`, withValue([true, false]), dialect)
      assert.deepEqual([asText(text), values], [`a IN (${first}, ${second})`, expected])
    })

    it(`nothing if there is no variable (${dialect})`, () => {
      for (const text of ['', ' ', 'SELECT 1', "SELECT '}}' AS a", '{ fn now() }']) {
        assert.deepEqual(compiled(text, dialect), { text, values: [] })
      }
    })

    it(`variables between operators, brackets and comments (${dialect})`, () => {
      const template = `SELECT(${region})+${region}*-${region} /* a */ , -- b\n${region}\r\n, f(${region},${region});`
      const { text, values } = compileWith(template, example, dialect)
      let position = 0
      assert.equal(
        text,
        template.replaceAll(region, () => placeholder(++position)),
      )
      assert.deepEqual(values, Array(6).fill('EU'))
    })
  }

  it('refuses an unknown dialect', () => {
    for (const dialect of ['postgres', '', '__proto__', 'constructor']) {
      assert.throws(() => compileSql('SELECT 1', example, { dialect: dialect as SqlDialect }), {
        name: 'TypeError',
        message: /^dialect must be one of postgresql, mysql, mariadb, /,
      })
    }
  })
})

describe('list', () => {
  const items = [
    `a in(${regions})`,
    `a iN /* c */ ( -- c\n ${regions} )`,
    `a IN (${regions}, 'x')`,
    `a IN ('x', 1 + 2, f(1, 2), (SELECT max(b) FROM c), ${regions}, 3)`,
    `a IN (${none}, ${regions})`,
    `f((a IN (${regions})), 1)`,
    `a IN (SELECT b FROM c WHERE d IN (${regions}))`,
    `position.a IN (${regions})`,
  ]
  for (const template of items) {
    it(`accepted in ${template}`, () => {
      assert.deepEqual(compiled(template), {
        text: template.replaceAll(none, 'NULL').replaceAll(regions, '$1, $2'),
        values: ['EU', 'US'],
      })
    })
  }

  const others = [
    regions,
    `(${regions})`,
    `a = ${regions}`,
    `a IN ${regions}`,
    `f(${regions})`,
    `f(a, ${regions})`,
    `a = f(ANY(1), ${regions})`,
    `a IN (f(${regions}))`,
    `a IN ((${regions}))`,
    `a IN (ARRAY[1, ${regions}, 2])`,
    `a IN (b.c[1, ${regions}])`,
    `a IN ({'b': 1, ${regions}, 'c': 2})`,
    `a IN (1 + ${regions})`,
    `a IN (${regions} + 1)`,
    `a IN (${regions}::text)`,
    `a IN ('x' || ${regions})`,
    `a IN (SELECT ${regions})`,
    `a IN (SELECT b, ${regions})`,
    `a IN (/* c */ SELECT DISTINCT b, ${regions})`,
    `a IN ((SELECT b) UNION SELECT b, ${regions})`,
    `a IN (WITH c AS (SELECT 1) SELECT b, ${regions})`,
    `a IN (VALUES (1), (${regions}))`,
    `a IN (VALUES (1, ${regions}))`,
    `a IN (FROM t |> SELECT a, ${regions})`,
    `position('a' IN (${regions}))`,
    `s.in(${regions})`,
    `s . in (${regions})`,
    `"in"(${regions})`,
    `a 'in' (${regions})`,
    `within(${regions})`,
    `a IN x(${regions})`,
    `a IN ) (${regions})`,
    `a IN (1), (2, ${regions})`,
    `SELECT 'IN (' , ${regions} , ')'`,
    `SELECT 1 /* IN ( */ , ${regions} /* ) */`,
    `a IN (${regions}`,
    `a IN (1, ${regions};`,
  ]
  for (const template of others) {
    it(`refused in ${template}`, () => {
      const error = refusal(template)
      assert.equal(error.code, 'list_outside_in')
      assert.equal(error.variable, 'passed.regions')
      assert.match(error.message, /region IN \(\{\{ passed\.regions \}\}\)/)
      assert.equal(
        refusal(template.replaceAll(regions, value), 'postgresql', withValue(['x'])).code,
        error.code,
      )
      assert.equal(refusal(template.replaceAll(regions, value), 'postgresql', withValue([])).code, error.code)
    })
  }

  it('may contain scalars only', () => {
    for (const item of [[], ['EU'], {}, { a: 1 }, undefined, NaN]) {
      const error = refusal(`a IN (${value})`, 'mysql', withValue(['EU', item]))
      assert.equal(error.code, 'unusable_value')
    }
    assert.equal(refusal(`a IN (${value})`, 'mysql', withValue(Array(3))).code, 'unusable_value')
    assert.deepEqual(compiled(`a IN (${value})`, 'bigquery', withValue(['a', 1, null])), {
      text: 'a IN (?, ?, ?)',
      values: ['a', 1, null],
    })
  })
})

describe('compileSql refuses', () => {
  for (const unusable of [
    {},
    { region: 'EU' },
    NaN,
    Infinity,
    -Infinity,
    1n,
    () => 1,
    Symbol('x'),
    new Date(),
  ]) {
    it(`${typeof unusable === 'object' ? JSON.stringify(unusable) : String(unusable)} as a value`, () => {
      for (const dialect of sqlDialects) {
        assert.equal(refusal(`SELECT ${value}`, dialect, withValue(unusable)).code, 'unusable_value')
      }
    })
  }

  it('properties as a whole', () => {
    assert.equal(refusal('SELECT {{ user_group.properties }}').code, 'unusable_value')
  })

  it('lone surrogates, which drivers would replace, and U+0000 if the database cannot store it', () => {
    for (const dialect of sqlDialects) {
      for (const text of ['\ud83d', 'a\ude42', '\ude42\ud83d']) {
        assert.equal(refusal(`SELECT ${value}`, dialect, withValue(text)).code, 'unusable_value')
        assert.equal(refusal(`a IN (${value})`, dialect, withValue([text])).code, 'unusable_value')
      }
    }
    assert.equal(refusal(`SELECT ${value}`, 'postgresql', withValue('a\0')).code, 'unusable_value')
    assert.deepEqual(compiled(`SELECT ${value}`, 'sqlite', withValue('a\0')), {
      text: 'SELECT ?',
      values: ['a\0'],
    })
  })

  for (const dialect of sqlDialects) {
    const { maxValues } = dialects[dialect]
    it(`more than ${maxValues} values (${dialect})`, () => {
      const list = Array.from({ length: maxValues }, (_, i) => i)
      const template = `a IN (${value})`
      assert.equal(compileWith(template, withValue(list), dialect).values.length, maxValues)
      assert.equal(refusal(template, dialect, withValue([...list, 0])).code, 'too_many_values')
      assert.equal(
        refusal(`${template} AND b = {{ passed.name }}`, dialect, withValue(list)).code,
        'too_many_values',
      )
    })
  }

  it('lone surrogates in the template, which would make two dollar quotes equal', () => {
    const [a, b] = ['$\ud800$', '$\ud801$']
    assert.throws(
      () =>
        compileSql(`SELECT ${a} ${b} , ${a} , {{ passed.name }} , ${b}`, example, {
          dialect: 'postgresql',
        }),
      { name: 'TemplateError', code: 'malformed_template' },
    )
  })

  it('U+0000 in the template', () => {
    for (const dialect of sqlDialects) {
      for (const template of ['\0', 'SELECT 1 \0', "SELECT '\0'", '-- \0', `${region}\0`]) {
        assert.equal(refusal(template, dialect).code, 'malformed_template')
      }
    }
  })

  const touching = [
    `a${region}`, `1${region}`, `_${region}`, `é${region}`, `$${region}`, `#${region}`,
    `.${region}`, `\\${region}`, `{${region}`, `}${region}`, `:${region}`, `\f${region}`, `'x'${region}`, `"x"${region}`,
    `${region}${region}`, `${region}a`, `${region}1`, `${region}_`, `${region}é`, `${region}\u2003`, `${region}$`, `${region}.a`,
    `${region}'x'`, `${region}"x"`, `${region}\\`, `${region}{`, `${region}}`, `${region}\v`, `${region}[a]`, `[a]${region}`,
    `\`a\`${region}`, `${region}\`a\``, `@${region}`, `@@${region}`, `?${region}`, `${region}?`, `$$x$$${region}`, `${region}$$x$$`,
  ] // prettier-ignore
  for (const template of touching) {
    it(`text that could form one token with a placeholder: ${JSON.stringify(template)}`, () => {
      for (const dialect of sqlDialects) {
        const result = compiled(`SELECT ${template}`, dialect)
        // Arrays and subscripts, in dialects where [ is not a quote.
        if (/^\[a\]\{|\}\[a\]$/.test(template) && dialect !== 'sqlite' && dialect !== 'sqlserver') continue
        assert.ok(
          'code' in result &&
            /^(variable_touches_text|variable_in_comment|placeholder_in_template|malformed_template)$/.test(
              result.code,
            ),
          `${dialect}: ${JSON.stringify(result)}`,
        )
      }
      if (!/[$?@:{}[`]/.test(template.replaceAll(region, ''))) {
        assert.equal(refusal(`SELECT ${template}`).code, 'variable_touches_text')
      }
    })
  }

  it('with line and column', () => {
    const error = refusal(`SELECT 1,\r\n  2,\n\t'${region}'`)
    assert.equal(error.name, 'TemplateError')
    assert.equal(error.line, 3)
    assert.equal(error.column, 3)
    assert.match(error.message, /\(line 3, column 3\)$/)
  })
})
