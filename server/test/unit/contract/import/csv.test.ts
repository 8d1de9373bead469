import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readCsv } from '../../../../src/contract/import/csv.ts'
import { cases } from '../../../support/cases.ts'

type Read = readonly [line: number, fields: readonly string[] | string]

/** Returns the records of a text that arrives in these parts. */
async function read(parts: readonly Buffer[], maxBytes = 10_000): Promise<Read[]> {
  // eslint-disable-next-line @typescript-eslint/require-await
  async function* chunks() {
    yield* parts
  }
  const records: Read[] = []
  for await (const some of readCsv(chunks(), { maxBytes })) {
    for (const { line, fields } of some)
      records.push([line, typeof fields === 'string' ? fields : fields.map((field) => field.toString())])
  }
  return records
}

const readWhole = (text: string, maxBytes?: number) => read([Buffer.from(text)], maxBytes)
const bytewise = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))

const more = 'has text after a closing quote; double the quotes within a field'
const within = 'has a quote within a field; enclose the field in quotes and double the quotes within it'

/** Returns the problem of a record that is the last, because the lines after it may be part of it. */
const last = (problem: string, line: number) =>
  `${problem}. No row from line ${line} on is imported, because the following lines may be part of this row: fix it and import the file again`
const unclosed = (line: number, opened = line) =>
  last(`has a quote that is not closed (the quote opens on line ${opened})`, line)
const moreThanOnce = (line: number) => last(`${more} (the quote opens on line ${line})`, line)

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
    ['more after a quote, within a field that could continue', '"a"b,c\nd\n', [[1, moreThanOnce(1)]]],
    [
      'more after a quote, within a field that ends on its line',
      '"a "b" c",d\ne\n',
      [
        [1, more],
        [2, ['e']],
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
      'a\nb,"c\nd,e\nf',
      [
        [1, ['a']],
        [2, unclosed(2)],
      ],
    ],
    ['a quote that opens below the first line', '"a\nb","c\nd', [[1, unclosed(1, 2)]]],
    [
      'one quote that is not closed at the very end',
      'a\n"',
      [
        [1, ['a']],
        [2, unclosed(2)],
      ],
    ],
    ['a quote that another one closes', '"a\n"b"\nc\n', [[1, moreThanOnce(1)]]],
    ['the same with an even number of quotes on each line', 'a,"b\n"c,"d",\ne\n', [[1, moreThanOnce(1)]]],
    [
      'a quote after a space, which opens a field of several lines',
      'a, "b\nc\n",\nd\n',
      [[1, last(within, 1)]],
    ],
    ['a quote within a field before an open one', 'a"b,"c\nd\n",\ne\n', [[1, last(within, 1)]]],
    [
      'a field of several lines that ends where rows could',
      'a,"b\nc,d",\ne\n',
      [
        [1, ['a', 'b\nc,d', '']],
        [3, ['e']],
      ],
    ],
    [
      'semicolons',
      'a;"b;c"\nd,e;f\n',
      [
        [1, ['a', 'b;c']],
        [2, ['d,e', 'f']],
      ],
    ],
    [
      'tabs',
      'a\t"b\tc"\nd,e;\tf\n',
      [
        [1, ['a', 'b\tc']],
        [2, ['d,e;', 'f']],
      ],
    ],
    ['vertical bars', 'a|"b|c"\n', [[1, ['a', 'b|c']]]],
    ...['sep=;\n', 'SEP=;\r\n', '"sep=;"\n', '\nsep=;\n'].map(
      (first) =>
        [
          `the separator of ${JSON.stringify(first)}`,
          `${first}a,b;c\n`,
          [[first.split('\n').length, ['a,b', 'c']]],
        ] as const,
    ),
    ['a second sep=;', 'sep=;\nsep=,\n', [[2, ['sep=,']]]],
  ] as const) {
    it(`reads ${title}, as a whole and byte by byte`, async () => {
      assert.deepEqual(await readWhole(text), records)
      // The reader looks for a byte order mark in the first chunk only.
      if (!text.startsWith('\ufeff')) assert.deepEqual(await read(bytewise(text)), records)
    })
  }

  it('reads records up to the maximum size, however they are cut', async () => {
    const tooLong = 'is longer than 10 bytes'
    const next: Read = [3, ['b']]
    for (const [record, ...expected] of [
      ['123456789\n', [2, ['123456789']], next],
      ['1234567890\n', [2, tooLong], next],
      ['1234567890123456789012345\n', [2, tooLong], next],
      ['"1234567"\n', [2, ['1234567']], next],
      ['"12"3456"\n', [2, more], next],
      ['"12"345678"\n', [2, last(`${more} (the quote opens on line 2)`, 2)]],
      ['"12345678"\n', [2, last(`${tooLong}, or the quote that opens on line 2 is not closed`, 2)]],
      ['"12\n4567"\n', [2, ['12\n4567']], [4, ['b']]],
      ['"12\n",567890\n', [2, tooLong], [4, ['b']]],
    ] as const) {
      const text = `a\n${record}b\n`
      const records = [[1, ['a']], ...expected]
      assert.deepEqual(await readWhole(text, 10), records)
      for (let cut = 0; cut <= text.length; cut++) {
        const parts = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))]
        assert.deepEqual(await read(parts, 10), records, `cut at ${cut}`)
      }
      assert.deepEqual(await read(bytewise(text), 10), records)
    }
  })

  it('reads the rest after an unclosed quote without buffering it', async (t) => {
    let copied = 0
    const concat = Buffer.concat.bind(Buffer)
    t.mock.method(Buffer, 'concat', (parts: Buffer[]) => {
      const whole = concat(parts)
      copied += whole.length
      return whole
    })
    let sent = 0
    async function* chunks() {
      yield Buffer.from('a\n"')
      for (; sent < 1000; sent++) yield await Promise.resolve(Buffer.from('x'.repeat(99) + '\n'))
    }
    const records: unknown[] = []
    for await (const some of readCsv(chunks(), { maxBytes: 1000 })) records.push(...some)
    assert.equal(records.length, 2)
    assert.equal(sent, 1000)
    assert.ok(copied < 10_000, `${copied} bytes`)
  })

  it('reads the rest without parsing it when no more records are needed', async () => {
    let sent = 0
    async function* chunks() {
      for (; sent < 10; sent++) yield await Promise.resolve(Buffer.from('a\n'.repeat(1000)))
    }
    let count = 0
    for await (const some of readCsv(chunks(), { maxBytes: 1000, isEnough: () => count > 0 }))
      count += some.length
    assert.deepEqual([count, sent], [32, 10])
  })

  it('stops at a record of too many columns', async () => {
    const commas = ','.repeat(16_383)
    assert.equal((await readWhole(`a${commas}\n`, 20_000))[0]?.[1].length, 16_384)
    const tooMany = last('has more than 16384 columns', 1)
    assert.deepEqual(await readWhole(`a,${commas}\nb`, 20_000), [[1, tooMany]])
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
      { numRuns: cases(500) },
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
      { numRuns: cases(300) },
    )
  })
})
