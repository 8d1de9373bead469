import { writeSync } from 'node:fs'
import { ClosedOutputError, CommandError } from './errors.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { withoutTokens } from '../domain/fault.ts'

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

/**
 * Writes a line to standard output. The line may have a token that is shown only once.
 * @throws CommandError if standard output cannot be written, ClosedOutputError
 */
export function printLine(text: string): void {
  try {
    writeAll(1, `${text}\n`)
  } catch (error) {
    throw outputError(
      error,
      `${problemOf(1, error)}. The command succeeded, but its output could not be written (${errorCodeOf(error)}). If the output had a token, the token is lost: issue another`,
    )
  }
}

/** Writes the help or the version to standard output. @throws as `printLine` */
export function printHelp(text: string): void {
  try {
    writeAll(1, text)
  } catch (error) {
    throw outputError(error, problemOf(1, error))
  }
}

/**
 * Writes a line to standard error, for a person.
 * @throws CommandError if standard error cannot be written, ClosedOutputError
 */
export function printMessage(text: string): void {
  try {
    writeAll(2, `${text}\n`)
  } catch (error) {
    throw outputError(error, problemOf(2, error))
  }
}

/** Returns the error of a failed write. */
export function outputError(error: unknown, message: string): Error {
  return errorCodeOf(error) === 'EPIPE' ? new ClosedOutputError(message) : new CommandError(message)
}

/** Returns the descriptor and the reason, in the words of the system, of a failed write to standard output or standard error. */
export function problemOf(descriptor: 1 | 2, error: unknown): string {
  const reason = /^\w+: ([^,]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? 'cannot be written'
  return `standard ${descriptor === 1 ? 'output' : 'error'}: ${reason}`
}

/** Writes synchronously, so that nothing is lost when the process ends. */
function writeAll(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      if (errorCodeOf(error) !== 'EAGAIN') throw error
      // The pipe is full: its reader is slower.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
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
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  printLine(lines.join('\n'))
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
