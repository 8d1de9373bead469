const maxKeyLength = 64
const maxSteps = 64

/** Returns a JSON Pointer (RFC 6901) for people to read: long keys and paths are truncated. */
export function shownPointer(path: readonly (string | number)[]): string {
  return path
    .slice(0, maxSteps)
    .map((step) => {
      const key = String(step)
      // A response must not contain a lone surrogate, whether sent by the client or left by the truncation.
      const shown = (key.length > maxKeyLength ? `${key.slice(0, maxKeyLength)}…` : key).toWellFormed()
      return `/${escaped(shown)}`
    })
    .join('')
}

/** Returns a JSON Pointer (RFC 6901) without truncation. */
export function jsonPointer(path: readonly string[]): string {
  return path.map((step) => `/${escaped(step)}`).join('')
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns the unescaped steps of a JSON Pointer. */
export function stepsOfPointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
