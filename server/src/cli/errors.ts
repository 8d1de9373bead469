import { OperatorError } from '../domain/util/operator-error.ts'

/** Wrong usage of a command. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The reader of standard output, standard error or a FIFO is gone. Exit code 141, as after SIGPIPE, without a message. */
export class ClosedOutputError extends Error {
  override readonly name = 'ClosedOutputError'
}

/** Failure of a command that was used correctly. Exit code 1. */
export class CommandError extends OperatorError {
  override readonly name = 'CommandError'
}
