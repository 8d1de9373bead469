const longestKey = 64

/** A JSON Pointer (RFC 6901); a very long key is cut, since the pointer is there for a person to find the place. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((step) => {
      const key = String(step)
      // Cut or not, half a surrogate pair is no text that an answer may hold.
      const shown = (key.length > longestKey ? `${key.slice(0, longestKey)}…` : key).toWellFormed()
      return '/' + shown.replaceAll('~', '~0').replaceAll('/', '~1')
    })
    .join('')
}
