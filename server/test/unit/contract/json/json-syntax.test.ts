import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readStrictJson } from '../../../../src/contract/json/strict-json.ts'

describe('a text that is not JSON is refused with the position of the first unexpected character or of the end', () => {
  // A bar marks the position.
  const cases = [
    '|', ' |', '|abc', '{|', '{"a|', '{"a"|', '{"a":|', '{"a":1|', '[1,2|', '[1,|]', '[|,1]', '{|,}', '{"a":1,|}', '{"a":1,"b"|', '{|a:1}',
    '{"a" |1}', '{"a": |x}', '{"a":1}|}', '[1] |2', '0|1', '1.|', '-|', '|+1', '|.5', '1e|', '1.|e5', '1e+|x', 't|Rue', 'tru|', 'null|s', '|True', '|NaN',
    "{|'a':1}", '["|\\x"]', '["|\\u12G4"]', '["|\\u12', '["\\|', '["\\"|', '["tab|\there"]', '["a"|"b"]', '[1 |2]', '{"a":[{"b":[|}]}]}', '[[1]|}', '{"a":1|]',
    '{"a"|,1}', '[1|:2]', '{"a":1|:2}', '[|:', '{"a":"b"|"c"}', '|// comment', '[1]|// comment', '[1|\u00a0]', '["é",|é]', '[|\u0000]', '|,', '|]', '1|,', '"a"|:',
  ] // prettier-ignore
  for (const marked of cases) {
    const text = marked.replace('|', '')
    const offset = marked.indexOf('|')
    const problem = offset === text.length ? 'end' : 'character'
    it(JSON.stringify(marked), () => {
      assert.throws(() => readStrictJson(Buffer.from(text)), {
        code: 'malformed_json',
        message: `The body is not JSON: unexpected ${problem} at line 1, column ${offset + 1}`,
      })
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError)
    })
  }

  it('counts lines', () => {
    assert.throws(() => readStrictJson(Buffer.from('{\n"a": 1,\n "é": ?}')), {
      message: /at line 3, column 7$/,
    })
  })
})
