const whiteSpace = /[ \t\n\r]*/y
// Control characters are what a string may not hold.
// eslint-disable-next-line no-control-regex
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

/**
 * Where a text stops being JSON (RFC 8259): the offset of the first token that cannot stand there, or the text's length
 * where it ends too early. For a text that JSON.parse has refused: V8 does not always tell the place.
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
    } else if (expected.startsWith('value') && (skip(string) || skip(scalar))) {
      expected = 'comma or end'
    } else if (expected.startsWith('key') && skip(string)) {
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
