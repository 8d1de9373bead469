/** Wrong usage of a command. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Failure of a command that was used correctly. Exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
