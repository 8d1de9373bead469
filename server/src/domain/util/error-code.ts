/** What the system calls an error, such as `EACCES`; undefined where it has no code. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
