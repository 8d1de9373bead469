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

/** The result of a command. */
export interface Output {
  /** Printed instead of everything else with `--json`. */
  readonly json: unknown
  /** A token or secret, alone on standard output. */
  readonly secret?: string
  readonly table?: Table
  /** A line on standard error, for a person. */
  readonly message?: string | undefined
  /** Reason why the command fails, although it has a result. */
  readonly failure?: string | undefined
}

/** @throws CommandError if the output has a failure, and as `printLine` */
export function printOutput({ json, secret, table, message, failure }: Output, asJson = false): void {
  if (asJson) printJson(json)
  else {
    if (secret !== undefined) printLine(secret)
    if (table !== undefined) printTable(...table)
    if (message !== undefined) printMessage(message)
  }
  if (failure !== undefined) throw new CommandError(failure)
}

type Table = Parameters<typeof printTable>

/** A member of a row, under its name, or a heading and what it shows. Times are shown to the second. */
export type Column<Row> = (keyof Row & string) | readonly [heading: string, cell: (row: Row) => unknown]

/** Returns rows of a response of the API as a table. */
export function tableOf<Row extends object>(columns: readonly Column<Row>[], rows: readonly Row[]): Table {
  const described = columns.map((column) => (typeof column === 'string' ? memberColumn(column) : column))
  return [
    described.map(([heading]) => heading),
    rows.map((row) => described.map(([, cell]) => cellOf(cell(row as Row & Record<string, unknown>)))),
  ]
}

/** Returns a table of names and values. */
export function fieldTable(fields: readonly (readonly [name: string, value: unknown])[]): Table {
  return [['FIELD', 'VALUE'], fields.map(([name, value]) => [name, cellOf(value)])]
}

function memberColumn(name: string): [string, (row: Record<string, unknown>) => unknown] {
  const isTime = name.endsWith('_at')
  return [
    name === 'api_environment_tag' ? 'ENVIRONMENT' : name.replace(/_at$/, '').toUpperCase(),
    (row) => (isTime ? shortTime(row[name] as string | null) : row[name]),
  ]
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value)) return value.join(',')
  return value === null || value === undefined ? null : JSON.stringify(value)
}

/** Shortens a time of the API to the second. */
export function shortTime(time: string): string
export function shortTime(time: string | null): string | null
export function shortTime(time: string | null): string | null {
  return time === null ? null : time.replace(/\.\d+/, '')
}

/** Writes rows as a table with aligned columns. */
function printTable(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): void {
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
