/** The command was called in a wrong way: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command was called rightly and could not do it: exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
