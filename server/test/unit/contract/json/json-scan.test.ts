import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readStrictJson } from '../../../../src/contract/json/strict-json.ts'
import { Fault } from '../../../../src/domain/fault.ts'

// A text beyond a limit is refused before its end: what follows the limit is not read. A syntax error there shows it, because it would be
// reported first.

const repeated = (count: number, itemOf: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => itemOf(i)).join()
const inProperties = (value: string) => `{"user_group_id":"a","properties":{"a":${value}}}`
const inMapping = (entries: string) => `{"user_group_id":"a","mapping":{${entries}}}`
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const stringOf = (length: number) => `"${'x'.repeat(length)}"`

interface Limit {
  /** Text at the limit. */
  readonly read: string
  /** Text beyond it. */
  readonly refused: string
  readonly path: string
  readonly message: RegExp
}

const limits: Record<string, Limit> = {
  'levels of arrays': {
    read: inProperties(arrays(63)),
    refused: inProperties(arrays(64)),
    path: '/properties',
    message: /^must be at most 32 levels deep$/,
  },
  'levels of objects': {
    read: inProperties('{"a":'.repeat(63) + '0' + '}'.repeat(63)),
    refused: inProperties('{"a":'.repeat(64) + '0' + '}'.repeat(64)),
    path: '/properties',
    message: /^must be at most 32 levels deep$/,
  },
  'levels of an array as the body': {
    read: arrays(65),
    refused: arrays(66),
    path: '',
    message: /^must be an object$/,
  },
  'levels of a field that is not properties': {
    read: `{"other":${arrays(64)}}`,
    refused: `{"other":${arrays(65)}}`,
    path: '/other',
    message: /^must be at most 64 levels deep$/,
  },
  'levels of a mapping': {
    read: inMapping(`"a":${arrays(63)}`),
    refused: inMapping(`"a":${arrays(64)}`),
    path: '/mapping',
    message: /^must be an object of strings, or null$/,
  },
  fields: {
    read: `{${repeated(200, (i) => `"${i}":0`)}}`,
    refused: `{${repeated(201, (i) => `"${i}":0`)}}`,
    path: '',
    message: /^must have at most 200 fields$/,
  },
  'entries of a mapping': {
    read: inMapping(repeated(2000, (i) => `"${i}":"1"`)),
    refused: inMapping(repeated(2001, (i) => `"${i}":"1"`)),
    path: '/mapping',
    message: /^must have at most 1000 entries$/,
  },
  'characters of a mapping key': {
    read: inMapping(`"${'\\ud83d\\ude00'.repeat(255)}":"1"`),
    refused: inMapping(`"${'\\ud83d\\ude00'.repeat(255)}x":"1"`),
    path: `/mapping/${'\ud83d\ude00'.repeat(32)}…`,
    message: /^its key must have 1 to 255 characters$/,
  },
  'a string in properties': {
    read: inProperties(stringOf(131_064)),
    refused: inProperties(stringOf(131_066)),
    path: '/properties',
    message: /^must be at most 65536 bytes \(64 KiB\) as compact JSON in UTF-8$/,
  },
  'escapes in properties': {
    read: inProperties(`"${'\\u00e9\\/'.repeat(43_000)}"`),
    refused: inProperties(`"${'\\u00e9\\/'.repeat(44_000)}"`),
    path: '/properties',
    message: /^must be at most 65536 bytes/,
  },
  'a string in an unknown field': {
    read: `{"other":[${stringOf(131_060)}]}`,
    refused: `{"other":[${stringOf(131_080)}]}`,
    path: '/other',
    message: /^must be at most 65536 bytes/,
  },
  'strings in an array as the body': {
    read: `[[${stringOf(131_000)}]]`,
    refused: `[[${stringOf(132_000)}]]`,
    path: '',
    message: /^must be an object$/,
  },
  'characters of properties outside of strings': {
    read: inProperties(`[${repeated(24_400, () => '{}')}]`),
    refused: inProperties(`[${repeated(24_600, () => '{}')}]`),
    path: '/properties',
    message: /^must be at most 65536 bytes/,
  },
  'digits of a number': {
    read: inProperties(`0.${'0'.repeat(73_000)}`),
    refused: inProperties(`0.${'0'.repeat(74_000)}`),
    path: '/properties',
    message: /^must be at most 65536 bytes/,
  },
  'characters of several fields outside of strings': {
    read: `{"a":[${repeated(20_000, () => '1')}],"b":[${repeated(16_000, () => '1')}]}`,
    refused: `{"a":[${repeated(20_000, () => '1')}],"b":[${repeated(17_000, () => '1')}]}`,
    path: '/b',
    message: /^has too many values: all fields together may have 73536 characters outside of strings$/,
  },
  'values in a mapping': {
    read: inMapping(`"a":[${repeated(15_900, () => '1')}]`),
    refused: inMapping(`"a":[${repeated(16_100, () => '1')}]`),
    path: '/mapping',
    message: /^must be an object of strings, or null$/,
  },
  'characters of a mapping outside of strings': {
    read: inMapping(repeated(1000, (i) => `"${i}":0.0000000000000000000000001`)),
    refused: inMapping(repeated(1100, (i) => `"${i}":0.0000000000000000000000001`)),
    path: '/mapping',
    message: /^has too many values/,
  },
  'characters of the name of a field': {
    read: `{"${'\\ud83d\\ude00'.repeat(255)}":1}`,
    refused: `{"${'\\ud83d\\ude00'.repeat(255)}x":1}`,
    path: `/${'\ud83d\ude00'.repeat(32)}…`,
    message: /^is not a known field$/,
  },
  'values of an array as the body': {
    read: `[${repeated(36_000, () => '1')}]`,
    refused: `[${repeated(37_000, () => '1')}]`,
    path: '',
    message: /^must be an object$/,
  },
}

/** Breaks the syntax near the end. */
const broken = (text: string) => `${text.slice(0, -1)}?`

for (const [title, { read, refused, path, message }] of Object.entries(limits)) {
  it(`a text is read up to a limit, and refused beyond it whatever follows: ${title}`, () => {
    readStrictJson(Buffer.from(read))
    assert.throws(() => readStrictJson(Buffer.from(broken(read))), { code: 'malformed_json', fields: [] })
    for (const text of [refused, broken(refused)]) {
      assert.throws(
        () => readStrictJson(Buffer.from(text)),
        (error) => {
          assert.ok(error instanceof Fault)
          assert.equal(error.code, 'validation_failed')
          assert.equal(error.fields[0]?.path, path)
          assert.match(error.fields[0].message, message)
          return true
        },
      )
    }
  })
}

describe('a text of any size is read', () => {
  for (const [title, text] of Object.entries({
    'a long string as a field': `{"name":${stringOf(1_000_000)}}`,
    'a mapping of the largest entries': inMapping(
      repeated(900, (i) => `"${String(i).padStart(255, 'k')}":"${'\\u00e9'.repeat(140)}"`),
    ),
    'white space': `{"properties":{${' '.repeat(1_000_000)}}}`,
    'the largest properties': inProperties(`[${repeated(21_800, () => '{}')}]`),
  })) {
    it(title, () => {
      assert.deepEqual(readStrictJson(Buffer.from(text)).value, JSON.parse(text))
    })
  }
})

it('a fault before a limit does not end the reading', () => {
  const text = `{"a":"\\ud800","properties":${arrays(500_000)}}`
  assert.throws(() => readStrictJson(Buffer.from(text)), { code: 'validation_failed' })
})

it('a value that is a field has the limits of that field', () => {
  const keys = (count: number) => `{${repeated(count, (i) => `"key ${i}":""`)}}`
  const read = (text: string, member: string) => () =>
    readStrictJson(Buffer.from(text), { whole: `The column ${member}`, firstLine: 1, member })
  read(keys(2000), 'mapping')()
  assert.throws(read(keys(2001), 'mapping'), { message: 'The column mapping must have at most 1000 entries' })
  read(keys(8000), 'properties')()
  assert.throws(read(keys(20_000), 'properties'), {
    message: 'The column properties must be at most 65536 bytes (64 KiB) as compact JSON in UTF-8',
  })
  assert.throws(read(`{"a":${stringOf(132_000)}}`, 'properties'), { code: 'validation_failed' })
})

for (const size of [1, 20_000]) {
  it(`the text of a member is compact, also behind characters of several bytes: ${size} of each`, () => {
    const value = {
      name: ' é '.repeat(size),
      properties: { 'é €': ['😀'.repeat(size), { '\n': [], b: ' \\" ' }] },
      mapping: { '😀': '€'.repeat(size) },
    }
    const text = JSON.stringify(value, null, '\t ').replace('"mapping"', `${' '.repeat(5000)}"mapping"`)
    const { members } = readStrictJson(Buffer.from(text))
    assert.deepEqual(
      [...members].map(([name, { text }]) => [name, text]),
      [
        ['name', ''],
        ['properties', JSON.stringify(value.properties)],
        ['mapping', JSON.stringify(value.mapping)],
      ],
    )
  })
}

it('a duplicate key is reported with its path and position behind characters of several bytes', () => {
  const text = '{"é":"😀",\n"properties":{"a":[0,{"€":{"😀":1,"b":2,"\\ud83d\\ude00":3}}]}}'
  assert.throws(() => readStrictJson(Buffer.from(text)), {
    message: '/properties/a/1/€/😀 is a duplicate key, at line 2, column 41',
  })
})
