const whiteSpace = /[ \t\n\r]*/y
// eslint-disable-next-line no-control-regex -- a JSON string must not contain control characters
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
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
