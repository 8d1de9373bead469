import { writeSync } from 'node:fs'
import { CommandError } from './errors.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { withoutTokens } from '../domain/fault.ts'

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

/**
 * Writes a line to standard output synchronously. The line may have a token that is shown only once.
 * @throws CommandError if standard output cannot be written
 */
export function printLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`)
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written)
    } catch (error) {
      const code = errorCodeOf(error)
      // The pipe is full: its reader is slower.
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      else {
        throw new CommandError(
          `the command succeeded, but its output could not be written (${String(code)}). If the output had a token, the token is lost: issue another`,
        )
      }
    }
  }
}

/** Writes rows as a table with aligned columns. */
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

/** Escapes control characters, which could control the terminal. */
export function printable(cell: string | number): string {
  return String(cell).replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Removes tokens, secret keys and database passwords from an error message. Messages about wrong usage repeat arguments, and
 * an argument may be a secret by mistake.
 */
export function withoutSecrets(text: string): string {
  return withoutTokens(text)
    .replace(/(:\/\/[^:@/\s]*):\S*@/g, '$1:…@')
    .replace(/[A-Za-z0-9+/]{43}=/g, '[secret key]')
}

/** Formats a time in ISO 8601, to the second. */
export function formatTime(ms: number): string
export function formatTime(ms: number | null): string | null
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace(/\.\d+/, '')
}
