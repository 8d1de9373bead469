import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readCsv } from '../../../src/contract/import/csv.ts'

type Read = readonly [line: number, fields: readonly string[] | string]

/** Returns the records of a text that arrives in these parts. */
async function read(parts: readonly Buffer[], maxBytes = 10_000): Promise<Read[]> {
  // eslint-disable-next-line @typescript-eslint/require-await
  async function* chunks() {
    yield* parts
  }
  const records: Read[] = []
  for await (const some of readCsv(chunks(), maxBytes)) {
    for (const { line, fields } of some)
      records.push([line, typeof fields === 'string' ? fields : fields.map((field) => field.toString())])
  }
  return records
}

const readWhole = (text: string, maxBytes?: number) => read([Buffer.from(text)], maxBytes)
const bytewise = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))

const more = 'has text after a closing quote; double the quotes within a field'
const within = 'has a quote within a field; enclose the field in quotes and double the quotes within it'
const unclosed = 'has a quote that is not closed'

describe('CSV', () => {
  for (const [title, text, records] of [
    ['nothing', '', []],
    ['one field', 'a', [[1, ['a']]]],
    [
      'line feeds',
      'a,b\nc,d\n',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'carriage returns too',
      'a,b\r\n"c","d"\r\n',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'no end of the last line',
      'a\n"b"',
      [
        [1, ['a']],
        [2, ['b']],
      ],
    ],
    [
      'half an end of the last line',
      'a\n"b"\r',
      [
        [1, ['a']],
        [2, ['b']],
      ],
    ],
    [
      'the same without quotes',
      'a\nb\r',
      [
        [1, ['a']],
        [2, ['b']],
      ],
    ],
    [
      'empty fields',
      ',\n"",\n,""\n',
      [
        [1, ['', '']],
        [2, ['', '']],
        [3, ['', '']],
      ],
    ],
    ['an empty field in quotes', '""', [[1, ['']]]],
    [
      'blank lines',
      '\n\r\na\n\n\r\nb\n\n',
      [
        [3, ['a']],
        [6, ['b']],
      ],
    ],
    [
      'white space, which is kept',
      ' a , b\n \n',
      [
        [1, [' a ', ' b']],
        [2, [' ']],
      ],
    ],
    [
      'quotes, commas and lines in quotes',
      '"a""b","c,d","e\r\nf\n"\ng\n',
      [
        [1, ['a"b', 'c,d', 'e\r\nf\n']],
        [4, ['g']],
      ],
    ],
    ['nothing but quotes', '"""",""""""\n', [[1, ['"', '""']]]],
    ['a carriage return within a field', 'a\rb,c\n', [[1, ['a\rb', 'c']]]],
    [
      'a byte order mark',
      '\ufeffa,b\n\ufeffc\n',
      [
        [1, ['a', 'b']],
        [2, ['\ufeffc']],
      ],
    ],
    ['a byte order mark before a quote', '\ufeff"a,b"\n', [[1, ['a,b']]]],
    ['a byte order mark alone', '\ufeff', []],
    ['characters of several bytes', 'é,"😀"\n', [[1, ['é', '😀']]]],
    [
      'a quote within a field',
      'a"b,c\nd\n',
      [
        [1, within],
        [2, ['d']],
      ],
    ],
    [
      'a quote after a space',
      'a, "b"\nd\n',
      [
        [1, within],
        [2, ['d']],
      ],
    ],
    [
      'more after a quote',
      '"a"b,c\nd\n',
      [
        [1, more],
        [2, ['d']],
      ],
    ],
    [
      'a space after a quote',
      '"a" ,c\nd\n',
      [
        [1, more],
        [2, ['d']],
      ],
    ],
    [
      'a carriage return too many',
      '"a"\r\r\nd\n',
      [
        [1, more],
        [2, ['d']],
      ],
    ],
    [
      'a quote that is not closed',
      'a,"b\nc,d\ne',
      [
        [1, unclosed],
        [2, ['c', 'd']],
        [3, ['e']],
      ],
    ],
    [
      'one quote that is not closed at the very end',
      'a\n"',
      [
        [1, ['a']],
        [2, unclosed],
      ],
    ],
    [
      'a quote that another one closes',
      '"a\n"b"\nc\n',
      [
        [1, more],
        [2, ['b']],
        [3, ['c']],
      ],
    ],
    [
      'two faults on end',
      '"a"b\n"c"d\ne\n',
      [
        [1, more],
        [2, more],
        [3, ['e']],
      ],
    ],
  ] as const) {
    it(`reads ${title}, as a whole and byte by byte`, async () => {
      assert.deepEqual(await readWhole(text), records)
      // The reader looks for a byte order mark in the first chunk only.
      if (!text.startsWith('\ufeff')) assert.deepEqual(await read(bytewise(text)), records)
    })
  }

  it('reads records up to the maximum size, however they are cut', async () => {
    const tooLong = 'is longer than 10 bytes, or a quote is not closed'
    for (const [record, isAllowed] of [
      ['123456789\n', true],
      ['1234567890\n', false],
      ['"1234567"\n', true],
      ['"12345678"\n', false],
      ['"12\n4567"\n', true],
    ] as const) {
      const text = `a\n${record}b\n`
      const line = record.includes('\n4') ? 4 : 3
      const fields = [record.trimEnd().replaceAll('"', '')]
      const expected: Read[] = [
        [1, ['a']],
        [2, isAllowed ? fields : tooLong],
        [line, ['b']],
      ]
      assert.deepEqual(await readWhole(text, 10), expected)
      for (let cut = 0; cut <= text.length; cut++) {
        const parts = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))]
        assert.deepEqual(await read(parts, 10), expected, `cut at ${cut}`)
      }
      assert.deepEqual(await read(bytewise(text), 10), expected)
    }
  })

  it('buffers at most one maximum record of an unclosed quote', async () => {
    const line = Buffer.from('x'.repeat(99) + '\n')
    let largest = 0
    async function* chunks() {
      yield Buffer.from('a\n"')
      for (let i = 0; i < 1000; i++) yield await Promise.resolve(line)
    }
    let count = 0
    for await (const records of readCsv(chunks(), 1000)) {
      count += records.length
      largest = Math.max(largest, records.length)
    }
    assert.equal(count, 1 + 1 + 999)
    assert.ok(largest <= 12, `${largest} records at once`)
  })

  // Mostly special characters, so that they occur next to each other.
  const oddText = fc
    .array(fc.constantFrom('"', '""', ',', '\n', '\r\n', '\r', 'a', 'é', ' '), { maxLength: 40 })
    .map((parts) => parts.join(''))

  const cuts = (length: number) => fc.array(fc.nat({ max: length }), { maxLength: 12 })

  function cutAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
    const ends = [0, ...[...positions].sort((a, b) => a - b), bytes.length]
    return ends.slice(1).map((end, i) => bytes.subarray(ends[i], end))
  }

  it('reads the same records however the input is cut', async () => {
    const cut = oddText.chain((text) => {
      const bytes = Buffer.from(text)
      return fc.tuple(fc.constant(bytes), cuts(bytes.length))
    })
    await fc.assert(
      fc.asyncProperty(cut, async ([bytes, positions]) => {
        assert.deepEqual(await read(cutAt(bytes, positions)), await read([bytes]))
      }),
      { numRuns: 2000 },
    )
  })

  it('returns the written fields with their line numbers', async () => {
    const field = fc
      .array(fc.constantFrom('"', ',', '\n', '\r\n', 'a', 'é', ' '), { maxLength: 6 })
      .map((parts) => parts.join(''))
    const written = fc.record({
      records: fc.array(
        fc.array(fc.record({ field, isQuoted: fc.boolean() }), { minLength: 2, maxLength: 4 }),
      ),
      end: fc.constantFrom('\n', '\r\n'),
      positions: fc.array(fc.nat({ max: 200 }), { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(written, async ({ records, end, positions }) => {
        let text = ''
        const expected: Read[] = []
        for (const record of records) {
          expected.push([text.split('\n').length, record.map((cell) => cell.field)])
          const cells = record.map((cell) =>
            cell.isQuoted || /[",\r\n]/.test(cell.field)
              ? `"${cell.field.replaceAll('"', '""')}"`
              : cell.field,
          )
          text += cells.join() + end
        }
        const bytes = Buffer.from(text)
        const within = positions.filter((position) => position <= bytes.length)
        assert.deepEqual(await read(cutAt(bytes, within)), expected)
      }),
      { numRuns: 1000 },
    )
  })
})
