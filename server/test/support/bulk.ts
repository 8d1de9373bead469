import assert from 'node:assert/strict'
import type { ImportRow } from '../../src/domain/user-group/user-group-import.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { Delimiter } from '../../src/contract/import/csv.ts'
import { rowReaders, type BulkFormat } from '../../src/contract/import/import-rows.ts'

/** A row from the reader: its content, or the code and message of its error. */
export type ReadRow = readonly [
  line: number,
  providedId: string | null,
  content: object | readonly [code: string, message: string],
]

async function* chunksOf(parts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part))
}

/** Returns the rows of a body that arrives in these parts. */
export async function readRows(
  format: BulkFormat,
  body: string | Buffer | readonly (string | Buffer)[],
  delimiter?: Delimiter,
): Promise<ReadRow[]> {
  const parts = Array.isArray(body) ? (body as readonly (string | Buffer)[]) : [body as string | Buffer]
  const all: ImportRow[] = []
  for await (const rows of rowReaders[format](chunksOf(parts), delimiter)) all.push(...rows)
  return all.map(({ line, providedId, content }) => [
    line,
    providedId,
    content instanceof Fault ? [content.code, content.message] : content,
  ])
}

/** A line of the response to an import. */
export interface ImportLine {
  readonly line: number
  readonly user_group_id: string | null
  readonly outcome: string
  readonly error?: { readonly code: string; readonly message: string; readonly fields?: readonly unknown[] }
}

export interface ImportSummary {
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly dry_run: boolean
}

/** Returns the lines of the response to an import, and the summary at its end. */
export function importedIn(lines: readonly unknown[]): { results: ImportLine[]; summary: ImportSummary } {
  const { summary } = lines.at(-1) as { summary?: ImportSummary }
  assert.ok(summary !== undefined, 'the last line is no summary')
  const results = lines.slice(0, -1) as ImportLine[]
  const { dry_run, ...counts } = summary
  assert.equal(typeof dry_run, 'boolean')
  const counted: Record<string, number> = { rows: results.length }
  for (const name of ['created', 'updated', 'unchanged', 'refused'])
    counted[name] = results.filter(({ outcome }) => outcome === name).length
  assert.deepEqual(counts, counted)
  for (const { outcome, error } of results) assert.equal(error !== undefined, outcome === 'refused')
  return { results, summary }
}

/** Returns line and outcome of each row, or the error code of a refused one. */
export function outcomesOf(results: readonly ImportLine[]): (readonly [number, string])[] {
  return results.map(({ line, outcome, error }) => [line, error?.code ?? outcome] as const)
}

/** Every kind of invalid row in NDJSON with its error code, one line per row. */
export const badRows: readonly (readonly [
  title: string,
  row: string | Buffer,
  code: string,
  message: RegExp,
])[] = [
  [
    'not JSON',
    '{"user_group_id":"bad",}',
    'malformed_json',
    /^The row is not JSON: .* at line LINE, column 24$/,
  ],
  ['cut off', '{"user_group_id":"bad","name":"A', 'malformed_json', /unexpected end at line LINE, /],
  ['two values', '{"user_group_id":"bad","name":"A"} {}', 'malformed_json', /not JSON/],
  [
    'not UTF-8',
    Buffer.from('7b22757365725f67726f75705f6964223a22ff222c226e616d65223a2241227d', 'hex'),
    'malformed_json',
    /^The row is not valid UTF-8$/,
  ],
  [
    'a duplicate key',
    '{"user_group_id":"bad","name":"A","name":"B"}',
    'malformed_json',
    /^\/name is a duplicate key, at line LINE, /,
  ],
  [
    'an inexact number',
    '{"user_group_id":"bad","name":"A","properties":{"n":12345678901234567890}}',
    'malformed_json',
    /^\/properties\/n is a number beyond /,
  ],
  [
    'a lone surrogate',
    '{"user_group_id":"bad","name":"\\ud800"}',
    'malformed_json',
    /^\/name has a lone surrogate/,
  ],
  ['a byte order mark', '\ufeff{"user_group_id":"bad","name":"A"}', 'malformed_json', /byte order mark/],
  ['an unknown field', '{"user_group_id":"bad","name":"A","nam":1}', 'validation_failed', /^nam: /],
  ['a wrong type', '{"user_group_id":"bad","name":1}', 'validation_failed', /^name: must be a string/],
  ['no object', '["bad"]', 'validation_failed', /object/],
  ['null', 'null', 'validation_failed', /object/],
  [
    'a name that is too long',
    `{"user_group_id":"bad","name":"${'x'.repeat(256)}"}`,
    'validation_failed',
    /^name: /,
  ],
  [
    'an id that is too long',
    `{"user_group_id":"${'x'.repeat(256)}","name":"A"}`,
    'validation_failed',
    /^user_group_id: /,
  ],
  ['a control character', '{"user_group_id":"bad","name":"a\\u0000"}', 'validation_failed', /^name: /],
  [
    'properties that are too large',
    `{"user_group_id":"bad","name":"A","properties":{"a":"${'x'.repeat(65_536)}"}}`,
    'validation_failed',
    /^properties: /,
  ],
  [
    'properties that are too deep',
    `{"user_group_id":"bad","name":"A","properties":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`,
    'validation_failed',
    /^properties: /,
  ],
  [
    'a mapping that is wrong',
    '{"user_group_id":"bad","name":"A","mapping":{"a":1}}',
    'validation_failed',
    /^mapping\.?\/?a/,
  ],
  ['no id', '{"name":"A"}', 'validation_failed', /^user_group_id: is required/],
  [
    'a row that is too long',
    `{"user_group_id":"bad","name":"A"${' '.repeat(1024 * 1024)}}`,
    'validation_failed',
    /^The row is longer than 1048576 bytes$/,
  ],
]
