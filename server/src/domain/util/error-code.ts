/** Returns the code of a system error, such as `EACCES`, or undefined if it has none. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
