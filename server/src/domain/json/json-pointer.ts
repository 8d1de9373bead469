const maxKeyLength = 64
const deepestStep = 64

/** A JSON Pointer (RFC 6901); very long keys and paths are cut, since the pointer is there for a person to find the place. */
export function shownPointer(path: readonly (string | number)[]): string {
  return path
    .slice(0, deepestStep)
    .map((step) => {
      const key = String(step)
      // Cut or not, half a surrogate pair is no text that an answer may hold.
      const shown = (key.length > maxKeyLength ? `${key.slice(0, maxKeyLength)}…` : key).toWellFormed()
      return `/${escaped(shown)}`
    })
    .join('')
}

/** A JSON Pointer as it is. */
export function jsonPointer(path: readonly string[]): string {
  return path.map((step) => `/${escaped(step)}`).join('')
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The steps of a JSON Pointer. */
export function stepsOfPointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
