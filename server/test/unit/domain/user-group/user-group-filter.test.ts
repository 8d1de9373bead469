import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  endOfPrefix,
  hasProperty,
  numberOf,
  foldText,
} from '../../../../src/domain/user-group/user-group-filter.ts'

describe('the end of a prefix', () => {
  const cases: [prefix: string, end: string | null][] = [
    ['a', 'b'],
    ['customer-', 'customer.'],
    ['az', 'a{'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
    ['\u{10ffff}', null],
    ['', null],
    ['\ud7ff', '\ue000'],
    ['\uffff', '\u{10000}'],
    ['😀', '😁'],
  ]
  for (const [prefix, end] of cases) {
    it(`${JSON.stringify(prefix)} is ${JSON.stringify(end)}`, () => assert.equal(endOfPrefix(prefix), end))
  }

  it('comes after all texts with the prefix and before all later texts, in the order of UTF-8', () => {
    const texts = [
      '',
      'a',
      'a\u{10ffff}',
      'ab',
      'b',
      '\ud7ff',
      '\ud7ffx',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '😀a',
    ]
    for (const prefix of texts.filter((text) => text !== '')) {
      const end = endOfPrefix(prefix)
      const isBefore = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
      for (const text of texts) {
        const isWithin = !isBefore(text, prefix) && (end === null || isBefore(text, end))
        assert.equal(isWithin, text.startsWith(prefix), JSON.stringify({ prefix, end, text }))
      }
    }
  })
})

describe('a JSON number', () => {
  const spelt: Record<string, number> = { '0': 0, '-0': -0, '5': 5, '5.0': 5, '1e3': 1000, '-1.5E-2': -0.015 }
  for (const [text, value] of Object.entries(spelt)) {
    it(`is parsed from ${text}`, () => assert.equal(numberOf(text), value))
  }
  for (const text of [
    '',
    ' 5',
    '5 ',
    '05',
    '+5',
    '.5',
    '5.',
    '1e',
    '0x10',
    'NaN',
    'Infinity',
    '1_000',
    '٣',
    '5\n',
  ]) {
    it(`is not parsed from ${JSON.stringify(text)}`, () => assert.equal(numberOf(text), undefined))
  }
})

describe('a property', () => {
  const properties = JSON.stringify({
    plan: 'gold',
    seats: 5,
    price: 1e21,
    zero: -0,
    trial: true,
    none: null,
    list: ['a'],
    deep: { er: { '': 'bottom' } },
    five: '5',
    length: 'long',
  })
  const found: [path: string[], value: string][] = [
    [['plan'], 'gold'],
    [['seats'], '5'],
    [['seats'], '5.0'],
    [['seats'], '50e-1'],
    [['price'], '1000000000000000000000'],
    [['zero'], '0'],
    [['zero'], '-0'],
    [['trial'], 'true'],
    [['deep', 'er', ''], 'bottom'],
    [['five'], '5'],
    [['length'], 'long'],
  ]
  for (const [path, value] of found) {
    it(`at ${path.join('/')} is ${value}`, () => assert.ok(hasProperty(properties, path, value)))
  }
  const missed: [path: string[], value: string][] = [
    [['plan'], 'Gold'],
    [['plan'], ''],
    [['seats'], '5 '],
    [['five'], '5.0'],
    [['trial'], 'True'],
    [['trial'], '1'],
    [['none'], 'null'],
    [['none'], ''],
    [['list'], 'a'],
    [['list', '0'], 'a'],
    [['list', 'length'], '1'],
    [['plan', 'length'], '4'],
    [['deep'], '[object Object]'],
    [['deep', 'er'], 'bottom'],
    [['missing'], 'undefined'],
    [['constructor', 'name'], 'Object'],
    [['__proto__'], ''],
    [[], properties],
  ]
  for (const [path, value] of missed) {
    it(`at ${path.join('/')} is not ${value}`, () => assert.ok(!hasProperty(properties, path, value)))
  }

  it('is missing without properties', () => assert.ok(!hasProperty(null, ['plan'], 'gold')))
  it('may have any name', () => assert.ok(hasProperty('{"__proto__":{"a":"b"}}', ['__proto__', 'a'], 'b')))
})

describe('without case and accents', () => {
  for (const [a, b] of [
    ['ACME', 'acme'],
    ['ÖSTERREICH', 'österreich'],
    ['ПРИВЕТ', 'привет'],
    ['Müller', 'muller'],
    ['MU\u0308LLER', 'muller'],
    ['İzmir', 'izmir'],
    ['Ångström, Čapek', 'angstrom, capek'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΠΑΠΑΔΌΠΟΥΛΟΣ', 'παπαδοπουλος'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['Łódź', 'lodz'],
    ['SØREN', 'soren'],
    ['IŞIK', 'ışık'],
    ['ＡＢＣ １２', 'abc 12'],
    ['ﬁlter', 'FILTER'],
    ['ﾊﾟ', 'ハ'],
    ['Ѐ', 'е'],
    ['ᾼ', 'ᾳ'],
    ['a\u00adb\u200bc\u202ed', 'abcd'],
    ['שָׁלוֹם', 'שלום'],
    ['مُحَمَّد', 'محمد'],
  ] as const) {
    it(`${a} is ${b}`, () => assert.equal(foldText(a), foldText(b)))
  }
  it('finds a word in capitals in a longer text', () =>
    assert.ok(foldText('οδος 5').includes(foldText('ΟΔΟΣ'))))
  it('vowel signs of Devanagari still differ', () => assert.notEqual(foldText('कि'), foldText('का')))
  it('syllables of Hangul still differ', () => assert.ok(!foldText('한').includes(foldText('하'))))
})
