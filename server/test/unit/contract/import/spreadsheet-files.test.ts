import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { delimiters, type Delimiter } from '../../../../src/contract/import/csv.ts'
import { rowWriters, type BulkFormat } from '../../../../src/contract/import/import-rows.ts'
import { readRows, type ReadRow } from '../../../support/bulk.ts'

// Files as spreadsheet programs, shells and people write them.

const acme = { name: 'Acme; Ltd, "A"', mapping: '{"sales":"eu"}', properties: '{"plan":"gold"}' }
const zoe = { name: 'Zoë 😀' }
/** Content of each readable file. */
const userGroups = [
  ['c1', acme],
  ['c2', zoe],
] as const

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const csv = (delimiter: string, { end = '\r\n', more = 0 } = {}) => {
  const line = (...fields: string[]) => fields.join(delimiter) + delimiter.repeat(more) + end
  return (
    line('user_group_id', 'name', 'mapping', 'properties') +
    line('c1', ...Object.values(acme).map(quoted)) +
    line('c2', zoe.name, '', '')
  )
}
const ndjson = (end = '\n') =>
  userGroups
    .map(([id, { name, ...json }]) => {
      const members = Object.entries(json).map(([key, text]) => `,"${key}":${text}`)
      return `{"user_group_id":"${id}","name":${JSON.stringify(name)}${members.join('')}}${end}`
    })
    .join('')

const utf16le = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
const utf16be = (text: string) => utf16le(text).swap16()
const utf32le = (text: string) =>
  Buffer.from(Uint32Array.from(Array.from(`\ufeff${text}`), (char) => char.codePointAt(0) as number).buffer)

const readable: readonly (readonly [
  title: string,
  format: BulkFormat,
  file: string | Buffer,
  firstLine: number,
  delimiter?: Delimiter,
])[] = [
  ['CSV with commas', 'csv', csv(','), 2],
  ['CSV with semicolons', 'csv', csv(';'), 2],
  ['CSV with tabs', 'csv', csv('\t'), 2],
  ['CSV with vertical bars', 'csv', csv('|'), 2],
  ['CSV with a given delimiter', 'csv', csv(';'), 2, ';'],
  ['CSV UTF-8 of Excel, with a byte order mark', 'csv', `\ufeff${csv(',')}`, 2],
  ['CSV UTF-8 of Excel with semicolons', 'csv', `\ufeff${csv(';')}`, 2],
  ['Unicode text of Excel: UTF-16 with tabs', 'csv', utf16le(csv('\t')), 2],
  ['UTF-16 with the higher byte first', 'csv', utf16be(csv(';')), 2],
  ['CSV of a Macintosh, with carriage returns', 'csv', csv(',', { end: '\r' }), 2],
  ['the same with semicolons in UTF-16', 'csv', utf16le(csv(';', { end: '\r' })), 2],
  ['CSV with line feeds', 'csv', csv(',', { end: '\n' }), 2],
  ['CSV with sep=', 'csv', `sep=;\r\n${csv(';')}`, 3],
  ['CSV with sep= and a byte order mark', 'csv', `\ufeffsep=,\r\n${csv(',')}`, 3],
  ['CSV with sep= and a tab', 'csv', `sep=\t\r\n${csv('\t')}`, 3],
  ['CSV with sep= and a given delimiter', 'csv', `sep=,\r\n${csv(';')}`, 3, ';'],
  ['CSV with empty columns at the end', 'csv', csv(';', { more: 3 }), 2],
  ['CSV with empty columns at the end of rows', 'csv', csv(',').replace(',,\r\n', ',,,,\r\n'), 2],
  ['CSV with empty rows at the end', 'csv', `${csv(';')};;;\r\n;;;\r\n\r\n`, 2],
  ['CSV with empty rows at the start', 'csv', `;;;\r\n\r\n${csv(';')}`, 4],
  [
    'CSV with column names in quotes',
    'csv',
    csv(',').replace(/^.*/, (line) => line.split(',').map(quoted).join()),
    2,
  ],
  ['CSV without an end of the last line', 'csv', csv(';').trimEnd(), 2],
  ['NDJSON', 'ndjson', ndjson(), 1],
  ['NDJSON with a byte order mark', 'ndjson', `\ufeff${ndjson()}`, 1],
  ['NDJSON of Windows PowerShell: UTF-16', 'ndjson', utf16le(ndjson('\r\n')), 1],
  ['NDJSON in UTF-16 with the higher byte first', 'ndjson', utf16be(ndjson()), 1],
  ['NDJSON with carriage returns', 'ndjson', ndjson('\r'), 1],
  ['NDJSON with carriage returns and line feeds', 'ndjson', ndjson('\r\n'), 1],
]

/** Files that are refused as a whole. */
const refused: readonly (readonly [
  title: string,
  format: BulkFormat,
  file: string | Buffer,
  message: RegExp,
])[] = [
  [
    'a JSON array on one line',
    'ndjson',
    `[${ndjson().trimEnd().replaceAll('\n', ',')}]`,
    /^Line 1 starts a JSON array, but NDJSON has one object per line\. Nothing is imported\. .* jq -c '\.\[\]' /,
  ],
  [
    'a JSON array with an object per line',
    'ndjson',
    `[\n${ndjson().trimEnd().replaceAll('\n', ',\n')}\n]`,
    /jq -c '\.\[\]'/,
  ],
  [
    'a JSON array with a byte order mark',
    'ndjson',
    `\ufeff\n[{"user_group_id":"a"}]`,
    /^Line 2 starts a JSON array/,
  ],
  [
    'a pretty-printed JSON array',
    'ndjson',
    JSON.stringify([{ user_group_id: 'a' }], null, 2),
    /jq -c '\.\[\]'/,
  ],
  [
    'a pretty-printed object',
    'ndjson',
    JSON.stringify({ user_group_id: 'a', properties: {} }, null, 2),
    /^Line 1 starts an object that spans several lines, but NDJSON has one .* jq -c '\.' /,
  ],
  [
    'an object that continues on the next line',
    'ndjson',
    '{"user_group_id":"a",\r\n"name":"A"}',
    /jq -c '\.' /,
  ],
  ['an object in an object', 'ndjson', '{"data": [\n{"user_group_id":"a"}\n]}', /jq -c '\.' /],
  [
    'UTF-16 without a byte order mark',
    'csv',
    utf16le(csv(',')).subarray(2),
    /^The file starts with null bytes, .*: save it as UTF-8$/,
  ],
  ['NDJSON in UTF-16 without a byte order mark', 'ndjson', utf16be(ndjson()).subarray(2), /null bytes/],
  ['UTF-32', 'csv', utf32le(csv(',')), /null bytes/],
  [
    'column names with other case and spaces',
    'csv',
    csv(';').replace('user_group_id', 'User Group ID'),
    /it has "User Group ID" instead of "user_group_id"$/,
  ],
  [
    'a delimiter that is not the given one',
    'csv',
    csv(','),
    /^Line 1 must name the columns, .*; it has "user_group_id,name,mapping,properties"$/,
  ],
  ['a workbook of Excel', 'csv', 'PK\u0003\u0004\u0014\u0000', /it has "PK\\u0003\\u0004\\u0014\\u0000"$/],
  [
    'Windows-1252 in a column name',
    'csv',
    Buffer.from('user_group_id;größe\r\n', 'latin1'),
    /it has "gr\ufffd\ufffde"$/,
  ],
]

/** Rows that are refused: the file, the line and the reason. The rows around them are imported. */
const refusedRows: readonly (readonly [title: string, file: Buffer, line: number, message: RegExp])[] = [
  [
    'Windows-1252',
    Buffer.from('user_group_id;name\r\na;A\r\nb;Zo\xeb\r\nc;C\r\n', 'latin1'),
    3,
    /^The column name is not valid UTF-8: save the file as UTF-8$/,
  ],
  [
    'half a character in UTF-16',
    utf16le('user_group_id;name\na;A\nb;\ud83d\nc;C\n'),
    3,
    /^The column name is not valid UTF-8/,
  ],
  [
    'a null byte',
    Buffer.from('user_group_id,name\na,A\nb,\u0000\nc,C\n'),
    3,
    /^name: must not have control characters/,
  ],
  [
    'a line that is too long',
    Buffer.from(`user_group_id,name\na,A\nb,${'x'.repeat(1_048_576)}\nc,C\n`),
    3,
    /^The row is longer than 1048576 bytes$/,
  ],
]

describe('a file', () => {
  for (const [title, format, file, firstLine, delimiter] of readable) {
    it(`is read: ${title}`, async () => {
      const expected = userGroups.map(([id, content], i): ReadRow => [firstLine + i, id, content])
      assert.deepEqual(await readRows(format, file, delimiter), expected)
      const bytes = Array.from(Buffer.from(file), (byte) => Buffer.of(byte))
      assert.deepEqual(await readRows(format, bytes, delimiter), expected)
    })
  }

  for (const [title, format, file, message] of refused) {
    it(`is refused as a whole: ${title}`, async () => {
      const delimiter = title.includes('given one') ? ';' : undefined
      await assert.rejects(readRows(format, file, delimiter), (error) => {
        assert.equal((error as { code?: string }).code, 'validation_failed')
        assert.match((error as Error).message, message)
        return true
      })
    })
  }

  for (const [title, file, line, message] of refusedRows) {
    it(`has a row that is refused: ${title}`, async () => {
      const rows = await readRows('csv', file)
      assert.deepEqual(
        rows.map(([at, id, content]) => (Array.isArray(content) ? at : id)),
        ['a', line, 'c'],
      )
      const [, , content] = rows[1] as ReadRow
      assert.match((content as string[])[1] ?? '', message)
    })
  }

  it('in UTF-16 is read wherever its chunks end', async () => {
    const name = 'é😀'.repeat(40_000)
    const row = `{"user_group_id":"a","properties":{"a":"${name}"}}`
    for (const encode of [utf16le, utf16be]) {
      const file = encode(`${row}\n${row}`)
      for (const end of [65_536, 65_537, 65_538, 65_539]) {
        const rows = await readRows('ndjson', [file.subarray(0, end), file.subarray(end)])
        assert.deepEqual(rows, await readRows('ndjson', `${row}\n${row}`))
      }
    }
    const [whole, cut] = await readRows('csv', utf16le('user_group_id\na\nb').subarray(0, -1))
    assert.deepEqual([whole?.[1], cut?.[1]], ['a', null])
  })

  it('of an export with any delimiter gives the same user groups, whatever a spreadsheet would make of them', async () => {
    const texts = [
      "=cmd|'/c calc'!A0",
      '+1',
      '-1',
      '@SUM(A1)',
      "'quoted",
      '"',
      'a;b',
      'a|b',
      'a,b',
      ' a ',
      '1e5',
      '007',
      'sep=;',
      'a\u2028b',
      'name',
    ]
    const exported = texts.map((text, i) => ({
      providedId: `${text}${i}`,
      name: text,
      mapping: i % 2 === 0 ? null : JSON.stringify({ [text]: text }),
      properties: JSON.stringify({ [text]: `${text}\n\t` }),
    }))
    for (const [delimiter, char] of Object.entries(delimiters)) {
      const needsQuotes = (text: string) => [char, '"', '\r', '\n'].some((special) => text.includes(special))
      const lineOf = (fields: readonly string[]) =>
        `${fields.map((field) => (needsQuotes(field) ? quoted(field) : field)).join(char)}\r\n`
      const file =
        lineOf(['user_group_id', 'name', 'mapping', 'properties']) +
        exported.map((row) => lineOf(Object.values(row).map(String))).join('')
      if (char === ',') assert.equal(file, rowWriters.csv.head + exported.map(rowWriters.csv.row).join(''))
      const rows = await readRows('csv', file, delimiter as Delimiter)
      const detected = await readRows('csv', file)
      assert.deepEqual(detected, rows)
      assert.deepEqual(
        rows.map(([, id, content]) => [id, content]),
        exported.map(({ providedId, ...content }) => [providedId, content]),
      )
    }
  })
})
