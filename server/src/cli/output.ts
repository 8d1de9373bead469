import { writeSync } from 'node:fs'
import { CommandError } from './errors.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { withoutTokens } from '../domain/fault.ts'

/** Writes one value as JSON, for a program. */
export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

/**
 * Writes a line, and knows that it is written: it may hold a token that is shown this once.
 * @throws CommandError where standard output cannot take it.
 */
export function printLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`)
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written)
    } catch (error) {
      const code = errorCodeOf(error)
      // A pipe whose reader is slower.
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      else {
        throw new CommandError(
          `it is done, but standard output cannot be written (${String(code)}): a token that it would have shown is lost; make another`,
        )
      }
    }
  }
}

/** Writes rows in columns, for a person. */
export function printTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): void {
  const cells = [head, ...rows.map((row) => row.map((cell) => printable(cell ?? '-')))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  for (const row of cells) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

/** Control characters, which could drive the terminal, are shown escaped. */
export function printable(cell: string | number): string {
  return String(cell).replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * What was called in a wrong way is repeated, and may be a secret in the place of an id: a token, a secret key, or the URL of a
 * database with its password.
 */
export function withoutSecrets(text: string): string {
  return withoutTokens(text)
    .replace(/(:\/\/[^:@/\s]*):\S*@/g, '$1:…@')
    .replace(/[A-Za-z0-9+/]{43}=/g, '[secret key]')
}

/** A time as people and programs read it, to the second. */
export function formatTime(ms: number): string
export function formatTime(ms: number | null): string | null
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace(/\.\d+/, '')
}
