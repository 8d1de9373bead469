const whiteSpace = /[ \t\n\r]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

/**
 * Returns the offset of the first syntax error of a text that `JSON.parse` refused (RFC 8259): the first unexpected token, or the
 * length of the text if it ends too early. V8's error does not always contain the position.
 */
export function syntaxErrorOffset(text: string): number {
  const open: string[] = []
  let offset = 0
  let expected: 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' = 'value'

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = offset
    if (!pattern.test(text)) return false
    offset = pattern.lastIndex
    return true
  }

  const skipString = (): boolean => {
    const end = endOfString(text, offset)
    if (end !== -1) offset = end
    return end !== -1
  }

  for (;;) {
    skip(whiteSpace)
    if (offset >= text.length || (expected === 'comma or end' && open.length === 0)) return offset
    const char = text.charAt(offset)
    const mayEnd = expected.endsWith('or end')
    if (mayEnd && char === open.at(-1)) {
      open.pop()
      offset++
      expected = 'comma or end'
    } else if (expected.startsWith('value') && (char === '{' || char === '[')) {
      open.push(char === '{' ? '}' : ']')
      offset++
      expected = char === '{' ? 'key or end' : 'value or end'
    } else if (expected.startsWith('value') && (skipString() || skip(scalar))) {
      expected = 'comma or end'
    } else if (expected.startsWith('key') && skipString()) {
      expected = 'colon'
    } else if (expected === 'colon' && char === ':') {
      offset++
      expected = 'value'
    } else if (expected === 'comma or end' && char === ',') {
      offset++
      expected = open.at(-1) === '}' ? 'key' : 'value'
    } else {
      const isUnfinishedString = char === '"' && !text.includes('"', offset + 1)
      return isUnfinishedString ? text.length : offset
    }
  }
}

/** Returns the offset behind a string, or -1 if there is no valid string. A regular expression would need a stack for a million escapes. */
function endOfString(text: string, start: number): number {
  if (!text.startsWith('"', start)) return -1
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text.charCodeAt(offset)
    if (char === 0x22) return offset + 1
    if (char < 0x20) return -1
    if (char !== 0x5c) continue
    escape.lastIndex = offset
    if (!escape.test(text)) return -1
    offset = escape.lastIndex - 1
  }
  return -1
}
