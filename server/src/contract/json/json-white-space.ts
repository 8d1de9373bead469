const quote = 0x22
const backslash = 0x5c

export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Returns a JSON text without insignificant white space. */
export function withoutWhiteSpace(text: string): string {
  let result = ''
  let inString = false
  let start = 0
  for (let offset = 0; offset < text.length; offset++) {
    const char = text.charCodeAt(offset)
    if (inString && char === backslash) offset++
    else if (char === quote) inString = !inString
    else if (!inString && isWhiteSpace(char)) {
      result += text.slice(start, offset)
      while (isWhiteSpace(text.charCodeAt(offset + 1))) offset++
      start = offset + 1
    }
  }
  return result + text.slice(start)
}
