import { isatty } from 'node:tty'
import { CommanderError } from 'commander'
import { Fault } from '../domain/fault.ts'
import { OperatorError } from '../domain/util/operator-error.ts'
import { ClosedOutputError, UsageError } from './errors.ts'
import { printMessage, withoutSecrets } from './output.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** 128 and the number of SIGPIPE, which ends other programs whose reader is gone. */
const closedPipe = 141

/**
 * Prints an error to standard error, without stack traces.
 * @returns exit code: 0 success, 1 failure, 2 wrong usage, 141 if the reader of the output is gone, which needs no message
 */
export function reportError(error: unknown): number {
  if (error instanceof ClosedOutputError) return closedPipe
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) return printError(error.message, 2)
  if (error instanceof Fault) {
    const isUsage = error.code === 'malformed_json' || error.code === 'validation_failed'
    return printError(error.reason ? `${error.message} (${error.reason})` : error.message, isUsage ? 2 : 1)
  }
  if (error instanceof OperatorError) return printError(error.message, 1)
  return printError(descriptionOf(error), 1)
}

/** Describes a system error or a defect, without the messages of drivers and of JSON.parse, which quote values. */
function descriptionOf(error: unknown): string {
  if (!(error instanceof Error)) return `internal error (${typeof error})`
  if ('syscall' in error) return error.message
  const code = errorCodeOf(error)
  const kind = code === undefined ? error.name : `${error.name} ${code}`
  const quotesValues = error instanceof SyntaxError || error.name === 'SqliteError' || 'severity' in error
  return quotesValues ? `internal error (${kind})` : `internal error: ${error.message} (${kind})`
}

/** Prints a line of text, or of the log if a service fails without a terminal. */
function printError(message: string, exitCode: number): number {
  const text = withoutSecrets(message)
  const isLogged = process.argv[2] === 'serve' && !isatty(2)
  try {
    printMessage(isLogged ? JSON.stringify({ level: 60, time: Date.now(), msg: text }) : `ugs: ${text}`)
  } catch {
    // Only the exit code is left.
  }
  return exitCode
}
