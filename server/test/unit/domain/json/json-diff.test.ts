import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonDiff } from '../../../../src/domain/json/json-diff.ts'

const parse = (text: string): unknown => JSON.parse(text)

describe('the difference of two JSON values', () => {
  const same = ['null', '1', '""', '[]', '{}', '{"a":{"b":[1,{"c":null}]}}', '{"__proto__":{"a":1}}']
  for (const text of same) {
    it(`of ${text} and itself is empty`, () => assert.deepEqual(jsonDiff(parse(text), parse(text)), []))
  }

  it('is empty if only the order of members or the notation differs', () => {
    assert.deepEqual(jsonDiff(parse('{"a":1,"b":1.0}'), parse('{"b":10e-1,"a":1}')), [])
  })

  const cases: [before: string, after: string, differences: object[]][] = [
    ['1', '2', [{ path: '', before: 1, after: 2 }]],
    ['{"a":1}', '{"a":2}', [{ path: '/a', before: 1, after: 2 }]],
    ['{"a":1}', '{}', [{ path: '/a', before: 1 }]],
    ['{}', '{"a":1}', [{ path: '/a', after: 1 }]],
    ['{"a":null}', '{}', [{ path: '/a', before: null }]],
    ['{}', '{"a":null}', [{ path: '/a', after: null }]],
    ['{"a":{"b":{"c":1,"d":2}}}', '{"a":{"b":{"c":1,"d":3}}}', [{ path: '/a/b/d', before: 2, after: 3 }]],
    // Arrays are compared as a whole, because their indexes are not stable names.
    ['{"a":[1,2]}', '{"a":[1,3]}', [{ path: '/a', before: [1, 2], after: [1, 3] }]],
    ['{"a":[]}', '{"a":{}}', [{ path: '/a', before: [], after: {} }]],
    ['{"a":null}', '{"a":{"b":1}}', [{ path: '/a', before: null, after: { b: 1 } }]],
    ['{"a":1}', '{"a":"1"}', [{ path: '/a', before: 1, after: '1' }]],
    ['{"":{"":1}}', '{"":{"":2}}', [{ path: '//', before: 1, after: 2 }]],
    ['{"a/b":{"~":1}}', '{"a/b":{"~":2}}', [{ path: '/a~1b/~0', before: 1, after: 2 }]],
    [
      '{"a":1,"b":2,"c":3}',
      '{"d":4,"c":3,"a":0}',
      [
        { path: '/a', before: 1, after: 0 },
        { path: '/b', before: 2 },
        { path: '/d', after: 4 },
      ],
    ],
  ]
  for (const [before, after, differences] of cases) {
    it(`of ${before} and ${after} is at ${differences.map((one) => (one as { path: string }).path).join()}`, () => {
      assert.deepEqual(jsonDiff(parse(before), parse(after)), differences)
    })
  }

  it('treats names of built-in object properties as ordinary members', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const sent = parse(`{"${name}":{"a":1}}`)
      assert.deepEqual(jsonDiff({}, sent), [{ path: `/${name}`, after: { a: 1 } }])
      assert.deepEqual(jsonDiff(sent, {}), [{ path: `/${name}`, before: { a: 1 } }])
      assert.deepEqual(jsonDiff(sent, parse(`{"${name}":{"a":2}}`)), [
        { path: `/${name}/a`, before: 1, after: 2 },
      ])
    }
  })

  it('takes linear time for many members', () => {
    const wide = (value: number) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, { value }]))
    assert.equal(jsonDiff(wide(1), wide(2)).length, 1000)
  })

  it('distinguishes long names', () => {
    const key = 'k'.repeat(100)
    const [first, second] = jsonDiff({}, { [`${key}1`]: 1, [`${key}2`]: 2 })
    assert.deepEqual([first?.path, second?.path], [`/${key}1`, `/${key}2`])
  })
})
