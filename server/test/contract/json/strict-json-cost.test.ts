import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readStrictJson } from '../../../src/contract/json/strict-json.ts'

// The reader searches for quotes and backslashes in up to 1 MiB. These tests check that the search takes linear time. They count
// characters, because measured times differ between machines.

/** Returns the number of characters that `indexOf` searched during the work. */
function charactersSearched(work: () => void): number {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with what it is called on
  const { indexOf } = String.prototype
  let count = 0
  String.prototype.indexOf = function (this: string, searched: string, from = 0) {
    const found = indexOf.call(this, searched, from)
    count += (found === -1 ? this.length : found) - from
    return found
  }
  try {
    work()
  } finally {
    String.prototype.indexOf = indexOf
  }
  return count
}

const length = 100_000
const texts: Record<string, string> = {
  'a string of escapes': `{"a":"${'\\n'.repeat(length / 2)}"}`,
  'a string of escaped backslashes': `{"a":"${'\\\\'.repeat(length / 2)}"}`,
  'a string of escaped quotes': `{"a":"${'\\"'.repeat(length / 2)}"}`,
  'a string of escaped characters': `{"a":"${'\\u00e9'.repeat(length / 6)}"}`,
  'escapes that are far from each other': `{"a":"${`${'x'.repeat(20)}\\n`.repeat(length / 22)}"}`,
  'a string of surrogate pairs': `{"a":"${'\\ud83d\\ude00'.repeat(length / 12)}"}`,
  'a key of escapes': `{"${'\\n'.repeat(length / 2)}":1}`,
  'keys, and one escape at the end': `[{${Array.from({ length: length / 40 }, (_, i) => `"${String(i).padStart(30)}":1,`).join('')}"\\n":1}]`,
  'strings, and one escape at the end': `[${`"${'x'.repeat(20)}",`.repeat(length / 23)}"\\n"]`,
  'strings with an escape each': `[${`"${'x'.repeat(20)}\\n",`.repeat(length / 25)}"\\n"]`,
  'one long string': `["${'x'.repeat(length)}"]`,
}

describe('the search for quotes and backslashes', () => {
  for (const [title, text] of Object.entries(texts)) {
    it(`passes each character a few times at most: ${title}`, () => {
      const count = charactersSearched(() => readStrictJson(Buffer.from(text)))
      assert.ok(count <= 4 * text.length, `${count} of ${text.length}`)
    })
  }
})
