import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { syntaxErrorOffset } from '../../../src/contract/json/json-syntax.ts'

describe('the offset of a syntax error', () => {
  // A bar marks the offset.
  const cases = [
    '|', ' |', '|abc', '{|', '{"a|', '{"a"|', '{"a":|', '{"a":1|', '[1,2|', '[1,|]', '[|,1]', '{|,}', '{"a":1,|}', '{"a":1,|"b"', '{|a:1}',
    '{"a" |1}', '{"a": |x}', '{"a":1}|}', '[1] |2', '|01', '|1.', '|-', '|+1', '|.5', '|1e', '|tru', '|nulls', '|True', '|NaN', "{|'a':1}",
    '[|"\\x"]', '[|"\\u12G4"]', '[|"tab\there"]', '["a"|"b"]', '[1 |2]', '{"a":[{"b":[|}]}]}', '// comment', '[1]|// comment', '|\ufeff{}', '[1|\u00a0]',
  ] // prettier-ignore
  for (const marked of cases) {
    const text = marked.replace('|', '')
    // The offset of an unexpected end is the end of the text. A missing token cannot be distinguished from a truncated text.
    const expected = marked.includes('|') ? marked.indexOf('|') : 0
    it(JSON.stringify(marked), () => {
      const offset = syntaxErrorOffset(text)
      const endsEarly = offset >= text.length
      assert.ok(
        offset === expected || (endsEarly && text.startsWith(marked.slice(0, expected))),
        String(offset),
      )
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError)
    })
  }

  it('is the end of a valid text', () => {
    for (const text of [
      '{}',
      ' [ ] ',
      '[1,-0,1.5e-3,true,false,null,"\\u00e9\\n",{"a":{"":[{}]}}]',
      '"x"',
      '0',
    ]) {
      JSON.parse(text)
      assert.ok(syntaxErrorOffset(text) >= text.trimEnd().length)
    }
  })
})
