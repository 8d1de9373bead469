import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { includes, parsePosition, type Position } from '../../../src/lease/position.ts'

function position(text: string): Position {
  return parsePosition(text) ?? assert.fail(text)
}

describe('position', () => {
  for (const [later, earlier] of [
    ['a-2', 'a-1'],
    ['a-10', 'a-9'],
    ['a-1.0.0', 'a-0.9.9'],
    ['a-1.10.0', 'a-1.9.9'],
    ['a-1.2.3', 'a-1.2.2'],
    ['0z9-18446744073709551617', '0z9-18446744073709551616'],
    [`a-1${'0'.repeat(150)}`, `a-${'9'.repeat(150)}`],
  ] as const) {
    it(`${later.slice(0, 30)} includes ${earlier.slice(0, 30)}`, () => {
      assert.ok(includes(position(later), position(earlier)))
      assert.ok(includes(position(later), position(later)))
      assert.ok(!includes(position(earlier), position(later)))
    })
  }

  it('ignores leading zeros', () => {
    assert.ok(includes(position('a-007'), position('a-7')))
    assert.ok(includes(position('a-7'), position('a-007')))
  })

  for (const [a, b] of [
    ['a-1', 'b-1'],
    ['a-1', 'a-1.0.0'],
  ] as const) {
    it(`${a} and ${b} have no order`, () => {
      assert.ok(!includes(position(a), position(b)))
      assert.ok(!includes(position(b), position(a)))
    })
  }

  for (const text of [
    '',
    '1',
    'a-',
    '-1',
    'A-1',
    'a-1.',
    'a-.1',
    'a-1..2',
    'a--1',
    'a-x',
    ' a-1',
    'a-1\n',
    `a-${'1'.repeat(200)}`,
  ])
    // prettier-ignore
    it(`is not ${JSON.stringify(text.slice(0, 20))}`, () => assert.equal(parsePosition(text), undefined))

  it('may be missing', () => {
    assert.equal(parsePosition(null), undefined)
    assert.equal(parsePosition(undefined), undefined)
  })
})
