import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readStrictJson } from '../../../../src/contract/json/strict-json.ts'
import { Fault } from '../../../../src/domain/fault.ts'

// Reading takes linear time: the scan passes each byte once, twice if keys repeat, and each call for a part of the text is rare. These
// tests count calls, because measured times differ between machines.

/** Returns the number of calls of `JSON.parse`, of regular expressions and of decoding during the reading of a text. */
function callsToRead(text: string): number {
  const bytes = Buffer.from(text)
  const { parse } = JSON
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with what it is called on
  const { exec } = RegExp.prototype
  const { toString } = Buffer.prototype
  let count = 0
  JSON.parse = (...parameters: Parameters<typeof parse>): unknown => {
    count++
    return parse(...parameters)
  }
  RegExp.prototype.exec = function (searched) {
    count++
    return exec.call(this, searched)
  }
  Buffer.prototype.toString = function (...parameters: Parameters<typeof toString>) {
    count++
    return toString.apply(this, parameters)
  }
  try {
    readStrictJson(bytes)
  } catch (error) {
    assert.ok(error instanceof Fault)
  } finally {
    JSON.parse = parse
    RegExp.prototype.exec = exec
    Buffer.prototype.toString = toString
  }
  return count
}

const keys = (count: number, keyOf: (i: number) => string) =>
  `{"properties":{${Array.from({ length: count }, (_, i) => `"${keyOf(i)}":1`).join()}}}`

const texts: Record<string, string> = {
  'a string of escapes': `{"a":"${'\\n'.repeat(50_000)}"}`,
  'a string of escapes and a syntax error': `{"a":"${'\\u00e9'.repeat(50_000)}"?}`,
  'a string of escapes without an end': `{"a":"${'\\u00e9'.repeat(50_000)}`,
  'a string of lone surrogates': `{"a":"${'\\ud800'.repeat(50_000)}"}`,
  'a string of U+0000': `{"a":"${'\\u0000'.repeat(50_000)}"}`,
  'strings of U+0000': `{"a":[${'"\\u0000",'.repeat(10_000)}0]}`,
  'the name of a field of escapes': `{"${'\\u0061'.repeat(50_000)}":1}`,
  'such a name twice': `{"${'\\u0061'.repeat(500)}":1,"${'\\u0061'.repeat(500)}":1}`,
  'keys with escapes': keys(5000, (i) => `\\u0061${i}`),
  'keys with escapes and a duplicate': keys(5000, (i) => `\\u0061${i % 4999}`),
  'keys with escapes, all duplicates': keys(5000, () => '\\u0061'),
  'keys of two-byte characters and a duplicate': keys(5000, (i) => `é${i % 4999}`),
  'keys of four-byte characters, all duplicates': keys(5000, () => '😀'),
  'short numbers and a syntax error': `{"a":[${'1.5,'.repeat(10_000)}]}`,
}

describe('few calls read a text of many values', () => {
  for (const [title, text] of Object.entries(texts)) {
    it(title, () => {
      const count = callsToRead(text)
      assert.ok(count <= 20, String(count))
    })
  }
})
