import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { rowWriters } from '../../../../src/contract/import/import-rows.ts'
import { badRows, readRows, type ReadRow } from '../../../support/bulk.ts'
import { cases } from '../../../support/cases.ts'

const good = (line: number, id = `g${line}`): ReadRow => [line, id, { name: 'G' }]

/** Returns a body in which the odd rows are valid and the even rows are the given ones. */
function between(rows: readonly (string | Buffer)[], end: string): Buffer {
  const goodRow = (line: number) => `{"user_group_id":"g${line}","name":"G"}${end}`
  return Buffer.concat([
    Buffer.from(goodRow(1)),
    ...rows.flatMap((row, i) => [Buffer.from(row), Buffer.from(end + goodRow(i * 2 + 3))]),
  ])
}

describe('NDJSON', () => {
  for (const [name, end] of [
    ['line feeds', '\n'],
    ['carriage returns', '\r\n'],
  ] as const) {
    it(`refuses exactly the invalid rows, with ${name}`, async () => {
      const rows = await readRows(
        'ndjson',
        between(
          badRows.map(([, row]) => row),
          end,
        ),
      )
      assert.equal(rows.length, badRows.length * 2 + 1)
      for (const [i, [line, id, content]] of rows.entries()) {
        if (i % 2 === 0) assert.deepEqual([line, id, content], good(i + 1))
        else {
          const [title, , code, message] = badRows[(i - 1) / 2] as (typeof badRows)[number]
          assert.ok(Array.isArray(content), title)
          assert.equal(content[0], code, `${title}: ${content[1]}`)
          assert.match(String(content[1]), new RegExp(message.source.replace('LINE', String(line))), title)
          assert.ok(id === null || id === 'bad' || title === 'an id that is too long', `${title}: ${id}`)
          assert.equal(line, i + 1)
        }
      }
    })
  }

  it('returns the id of a refused row if it has one', async () => {
    const rows = await readRows(
      'ndjson',
      '{"user_group_id":"known","name":1}\n{"user_group_id":1}\n{"user_group_id":{}}\n[]\n{"user_group_id":"a\\nb"}',
    )
    assert.deepEqual(
      rows.map(([, id]) => id),
      ['known', null, null, null, 'a\nb'],
    )
  })

  it('skips blank lines and counts them', async () => {
    const body = '\n \t\n{"user_group_id":"g3","name":"G"}\r\n\r\n\n{"user_group_id":"g6","name":"G"}\n\n'
    assert.deepEqual(await readRows('ndjson', body), [good(3), good(6)])
    assert.deepEqual(await readRows('ndjson', '\n\n'), [])
    assert.deepEqual(await readRows('ndjson', ''), [])
  })

  it('does not need a line feed at the end', async () => {
    assert.deepEqual(await readRows('ndjson', '{"user_group_id":"g1","name":"G"}'), [good(1)])
  })

  it('accepts a row of exactly the maximum size', async () => {
    const row = '{"user_group_id":"g1","name":"G"}'
    const padded = row.replace('}', `${' '.repeat(1024 * 1024 - row.length)}}`)
    assert.deepEqual(await readRows('ndjson', `${padded}\n`), [good(1)])
  })
})

/** Rows of CSV that are refused under the columns `user_group_id,name,mapping,properties`. */
const badRecords: readonly (readonly [
  title: string,
  record: string | Buffer,
  code: string,
  message: RegExp,
])[] = [
  ['a column too many', 'bad,A,,,x', 'validation_failed', /^The row has 5 columns, but line 1 has 4$/],
  ['no id', ',A,,', 'validation_failed', /^user_group_id: is required/],
  ['a quote within a field', 'bad,A"B,,', 'validation_failed', /^The row has a quote within a field/],
  ['more after a quote', 'bad,"A" or "B",,', 'validation_failed', /^The row has text after a closing quote/],
  [
    'not UTF-8',
    Buffer.from('6261642cff2c2c', 'hex'),
    'malformed_json',
    /^The column name is not valid UTF-8: save the file as UTF-8$/,
  ],
  [
    'a mapping that is not JSON',
    'bad,A,{,',
    'malformed_json',
    /^The column mapping is not JSON: unexpected end at line LINE, /,
  ],
  ['properties with more after them', 'bad,A,,{} {}', 'malformed_json', /^The column properties is not JSON/],
  [
    'what would be another column',
    'bad,A,,"{},""name"":""B"""',
    'malformed_json',
    /^The column properties is not JSON/,
  ],
  [
    'a duplicate key',
    'bad,A,,"{""a"":1,""a"":2}"',
    'malformed_json',
    /^\/a is a duplicate key, at line LINE, /,
  ],
  [
    'an inexact number',
    'bad,A,,{"n":1e400}'.replaceAll('"', '""').replace('{', '"{').replace('}', '}"'),
    'malformed_json',
    /^\/n is a number/,
  ],
  ['a name that is too long', `bad,${'x'.repeat(256)},,`, 'validation_failed', /^name: /],
  ['a control character', 'bad,a\u0001,,', 'validation_failed', /^name: /],
  ['an empty id in quotes', '"",A,,', 'validation_failed', /^user_group_id: is required/],
  ['a wrong type', 'bad,A,"[""a""]",', 'validation_failed', /^mapping: /],
  [
    'a row that is too long',
    `bad,${'x'.repeat(1024 * 1024)},,`,
    'validation_failed',
    /^The row is longer than 1048576 bytes/,
  ],
]

const head = 'user_group_id,name,mapping,properties'

const nothingMore = (line: number) =>
  `No row from line ${line} on is imported, because the following lines may be part of this row: fix it and import the file again`

/** Rows on line 3 after which nothing is imported, with their error. */
const lastRecords = [
  [
    'a quote that is not closed',
    'bad,"A,,',
    /^The row has a quote that is not closed \(the quote opens on line 3\)$/,
  ],
  [
    'a quote that is not closed, in its second line',
    'bad,"A\nB","C,',
    /^The row has a quote that is not closed \(the quote opens on line 4\)$/,
  ],
  [
    'a quote that one of a later row closes, with more after it',
    'bad,"A,,\n"c",C,,',
    /^The row has text after a closing quote; .* \(the quote opens on line 3\)$/,
  ],
  [
    'a quote that one of a later row closes, with too few columns',
    'bad,"A,,\nc,C,",',
    /^The row has 3 columns, but line 1 has 4$/,
  ],
  [
    'a quote that one of a later row closes, with too many columns',
    'bad,A,"{},\nc,C,",{},{}',
    /^The row has 5 columns, but line 1 has 4$/,
  ],
  [
    'a quote that one of a later row closes, with the right columns',
    'bad,A,,"{}\nc,C,"',
    /^The column properties is not JSON: unexpected character at line 4, column 1$/,
  ],
  ['text with a quote in it after an open quote', 'bad,"Say "A,,', /^The row has text after a closing quote/],
  ['an open quote after a space', 'bad, "A,,', /^The row has a quote within a field/],
  ['an open quote after a stray one', 'bad,5" or,"{,', /^The row has a quote within a field/],
  ['a quote that ends a field too early', 'bad,"A",,B,C', /^The row has 5 columns, but line 1 has 4$/],
  ['a line break without quotes', 'bad,A', /^The row has 2 columns, but line 1 has 4$/],
  [
    'an open quote in a row that is too long',
    `bad,"${'x'.repeat(1024 * 1024)},,`,
    /^The row is longer than 1048576 bytes, or the quote that opens on line 3 is not closed$/,
  ],
] as const

describe('CSV rows', () => {
  for (const end of ['\n', '\r\n']) {
    it(`are refused if and only if they are invalid, with ${JSON.stringify(end)}`, async () => {
      const goodRow = (line: number) => `"g${line}",G,,${end}`
      const body = Buffer.concat([
        Buffer.from(`${head}${end}${goodRow(2)}`),
        ...badRecords.flatMap(([, row], i) => [Buffer.from(row), Buffer.from(end + goodRow(i * 2 + 4))]),
      ])
      const rows = await readRows('csv', body)
      assert.equal(rows.length, badRecords.length * 2 + 1)
      for (const [i, [line, id, content]] of rows.entries()) {
        assert.equal(line, i + 2)
        if (i % 2 === 0) assert.deepEqual([line, id, content], good(i + 2))
        else {
          const [title, , code, message] = badRecords[(i - 1) / 2] as (typeof badRecords)[number]
          assert.ok(Array.isArray(content), title)
          assert.equal(content[0], code, `${title}: ${content[1]}`)
          assert.match(String(content[1]), new RegExp(message.source.replace('LINE', String(line))), title)
        }
      }
    })
  }

  for (const [title, record, message] of lastRecords) {
    it(`are not imported after ${title}`, async () => {
      const body = `${head}\ng2,G,,\n${record}\nevil,Renamed,,null\n`
      const [first, [line, id, content] = [], ...others] = await readRows('csv', body)
      assert.deepEqual([first, line, id, others], [good(2), 3, null, []])
      const [code, text = ''] = content as string[]
      assert.ok(code === 'validation_failed' || code === 'malformed_json')
      assert.ok(text.endsWith(`. ${nothingMore(3)}`), text)
      assert.match(text.slice(0, -nothingMore(3).length - 2), message)
    })
  }

  it('are imported after a refused one with several lines that are no rows', async () => {
    const body = `${head}\na,"A\nB",,\nb,B,,"{\n""a"":\n!}"\nc,C,,\n`
    assert.deepEqual(
      (await readRows('csv', body)).map(([line, id, content]) => [line, id, Array.isArray(content)]),
      [
        [2, 'a', true],
        [4, null, true],
        [7, 'c', false],
      ],
    )
  })

  it('are read only where rows are, wherever a stray quote is', async () => {
    const text = fc
      .array(fc.constantFrom('"', ',', '\n', 'evil,E,{}\n', ',""\n', 'a', ' '), { maxLength: 5 })
      .map((parts) => parts.join(''))
      .filter((value) => !value.replaceAll(/["\s]/g, '').startsWith(','))
    const quoted = (value: string) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
    const damagedFile = fc.record({
      names: fc.array(text, { minLength: 1, maxLength: 6 }),
      place: fc.nat(),
    })
    const first = 'user_group_id,name,properties\n'
    await fc.assert(
      fc.asyncProperty(damagedFile, async ({ names, place }) => {
        const records = names.map((name, i) => {
          const properties = i % 2 === 0 ? '' : `{"name":\n${JSON.stringify(name)}}`
          return `r${i},${quoted(name)},${quoted(properties)}\n`
        })
        const body = first + records.join('')
        // Within quotes, next to one, or before a field that starts with a comma, apart from quotes, it can make other valid rows.
        const places = Array.from(body).flatMap((_, i) => {
          const isOutside = (body.slice(0, i).split('"').length - 1) % 2 === 0
          return i >= first.length && isOutside && !body.slice(i - 1, i + 1).includes('"') ? [i] : []
        })
        const at = places[place % places.length] as number
        const whole = await readRows('csv', body)
        const damaged = await readRows('csv', `${body.slice(0, at)}"${body.slice(at)}`)
        const lineAt = body.slice(0, at).split('\n').length
        const damagedLine = whole.findLast(([line]) => line <= lineAt)?.[0]
        for (const row of damaged) {
          const [line, , content] = row
          if (Array.isArray(content) || line === damagedLine) continue
          assert.deepEqual(
            row,
            whole.find((other) => other[0] === line),
          )
        }
      }),
      { numRuns: cases(300) },
    )
  })

  it('have the number of their first line, also after fields with several lines', async () => {
    const body = `${head}\na,A,"{\n""x"":\n""y""}",\n\nb,B,,"{\n""p"":\n!}"\n"c\nd",C,,\ne,E,,\n`
    const rows = await readRows('csv', body)
    assert.deepEqual(
      rows.map(([line, id]) => [line, id]),
      [
        [2, 'a'],
        [6, null],
        [9, 'c\nd'],
        [11, 'e'],
      ],
    )
    assert.deepEqual(rows[0]?.[2], { name: 'A', mapping: '{"x":"y"}' })
    assert.match((rows[1]?.[2] as string[])[1] ?? '', /at line 8, column 1$/)
    assert.deepEqual(rows[3]?.[2], { name: 'E' })
  })

  it('may have the columns in any order, and omit some', async () => {
    assert.deepEqual(await readRows('csv', 'properties,user_group_id\n{},a\n,b\nnull,c\n'), [
      [2, 'a', { properties: '{}' }],
      [3, 'b', {}],
      [4, 'c', { properties: null }],
    ])
    assert.deepEqual(await readRows('csv', 'user_group_id\na'), [[2, 'a', {}]])
  })

  it('may follow a byte order mark and blank lines', async () => {
    for (const start of ['\ufeff', '\ufeff\r\n', '\n\n'])
      assert.deepEqual(
        (await readRows('csv', `${start}"user_group_id","name"\r\n\r\ng,G\r\n`)).map(([, id]) => id),
        ['g'],
      )
  })

  for (const [title, line, message] of [
    ['an unknown column', 'user_group_id,Name', /it has "Name" instead of "name"$/],
    ['white space in a column', 'user_group_id, name', /it has " name" instead of "name"$/],
    ['a column twice', 'user_group_id,name,name', /it names a column twice$/],
    ['no id', 'name,mapping', /it lacks user_group_id$/],
    ['colons', 'user_group_id:name', /it has "user_group_id:name"$/],
    ['another title', 'User Group ID,name', /it has "User Group ID" instead of "user_group_id"$/],
    ['a quote that is not closed', 'user_group_id,"name\na,A', /it has a quote that is not closed/],
    ['a quote that is wrong', 'user_group_id,"name"x', /it has text after a closing quote/],
    ['what is not UTF-8', Buffer.from('757365725f67726f75705f69642cff', 'hex'), /it has "\ufffd"$/],
    ['a control character, which is shown escaped', 'user_group_id,\u001b[31m', /it has "\\u001b\[31m"$/],
    ['nothing but blank lines', '\n\n', /properties\)$/],
  ] as const) {
    it(`need a first line that names the columns: ${title}`, async () => {
      await assert.rejects(
        readRows('csv', title.startsWith('nothing') ? line : [line, '\na,A\n']),
        (error) => {
          assert.equal((error as { code?: string }).code, 'validation_failed')
          assert.match(
            (error as Error).message,
            /^Line 1 must name the columns, separated by commas, semicolons, tabs or "\|" \(user_group_id, name, mapping, properties\)/,
          )
          assert.match((error as Error).message, message)
          return true
        },
      )
    })
  }
})

describe('a body', () => {
  // The reader joins chunks to 65,536 bytes. The filler makes a chunk end at the cut.
  const longRow = `z,${'x'.repeat(1000)},,\n`
  const fillers = {
    ndjson: `${' '.repeat(65_535)}\n`,
    csv: `${`${head}\n${longRow.repeat(64)}z,`.padEnd(65_533, 'x')},,\n`,
  }
  const bodies = {
    ndjson:
      '{"user_group_id":"é","name":"😀"}\r\n\n{"user_group_id":"b",}\n[]\n{"user_group_id":"c","properties":{"a":1}}',
    csv: `\r\né,😀,,\r\n\n"a ""b""","C\nD",,"{""a"":""\u00fc""}"\r\nx"y,,,\n"x" ,,,\n\nb,B,null,\n,,,\n"c",C,,\n"d,D,,\n"e",E,,`,
  }
  for (const format of ['ndjson', 'csv'] as const) {
    it(`of ${format} gives the same rows wherever it is cut`, async () => {
      const bytes = Buffer.from(bodies[format])
      const filler = Buffer.from(fillers[format])
      const whole = await readRows(format, Buffer.concat([filler, bytes]))
      assert.ok(whole.length >= 4)
      for (let cut = 0; cut <= bytes.length; cut++) {
        const parts = [Buffer.concat([filler, bytes.subarray(0, cut)]), bytes.subarray(cut)]
        assert.deepEqual(await readRows(format, parts), whole, `cut after ${cut} bytes`)
      }
      const body = format === 'csv' ? Buffer.concat([Buffer.from(head), bytes]) : bytes
      const eachByte = Array.from(body, (byte) => Buffer.of(byte))
      assert.deepEqual(await readRows(format, eachByte), await readRows(format, body))
    })
  }

  it('in small parts is not copied again for each part', async (t) => {
    let copied = 0
    const concat = Buffer.concat.bind(Buffer)
    t.mock.method(Buffer, 'concat', (parts: Buffer[]) => {
      const whole = concat(parts)
      copied += whole.length
      return whole
    })
    const size = 10_000
    const parts = Array.from({ length: size }, () => 'x')
    for (const [format, start, end] of [
      ['ndjson', '{"user_group_id":"', '"}\n'],
      ['csv', 'user_group_id\n"', '"\n'],
    ] as const) {
      copied = 0
      const [row] = await readRows(format, [start, ...parts, end])
      assert.equal((row?.[2] as string[])[0], 'validation_failed')
      assert.ok(copied < 10 * size, `${copied} bytes of ${size}`)
    }
  })

  const anyText = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('"', ',', '\\', ' ', 'é', '😀', "'"),
        fc.string({ minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 20,
    })
    .filter((text) => text.trim() !== '' && !/\p{Cc}/u.test(text))
  const json = (value: unknown) => JSON.stringify(value)
  const userGroup = fc.record({
    providedId: anyText,
    name: anyText,
    mapping: fc.option(fc.dictionary(anyText, anyText, { minKeys: 1, maxKeys: 3 }).map(json)),
    properties: fc.option(
      fc
        .dictionary(fc.string(), fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant('\r\n')))
        .map(json),
    ),
  })

  it('of an export gives the exported user groups in both formats', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(userGroup, { maxLength: 8 }), async (userGroups) => {
        for (const format of ['ndjson', 'csv'] as const) {
          const { head: first, row } = rowWriters[format]
          const rows = await readRows(format, first + userGroups.map(row).join(''))
          assert.deepEqual(
            rows.map(([, providedId, content]) => [providedId, content]),
            userGroups.map(({ providedId, ...content }) => [providedId, content]),
          )
        }
      }),
      { numRuns: cases(200) },
    )
  })
})
