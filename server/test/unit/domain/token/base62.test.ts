import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { fromBase62, toBase62 } from '../../../../src/domain/token/base62.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Writes a number by the definition of base 62. */
function written(value: bigint): string {
  return value === 0n ? '' : written(value / 62n) + alphabet.charAt(Number(value % 62n))
}

const smallest = Buffer.alloc(16)
const largest = Buffer.alloc(16, 0xff)

describe('base 62', () => {
  it('writes 16 bytes as one number, padded with zeros', () => {
    assert.equal(toBase62(smallest, 22), '0'.repeat(22))
    const one = Buffer.from(smallest)
    one[15] = 61
    assert.equal(toBase62(one, 22), `${'0'.repeat(21)}z`)
    for (const bytes of [largest, ...Array.from({ length: 200 }, () => randomBytes(16))])
      assert.equal(toBase62(bytes, 22), written(BigInt(`0x${bytes.toString('hex')}`)).padStart(22, '0'))
  })

  it('reads what it wrote', () => {
    for (const bytes of [smallest, largest, ...Array.from({ length: 200 }, () => randomBytes(16))])
      assert.deepEqual(fromBase62(toBase62(bytes, 22)), bytes)
  })

  it('refuses other characters, and numbers of more than 16 bytes', () => {
    const text = toBase62(largest, 22)
    assert.equal(fromBase62(written(2n ** 128n)), null)
    assert.equal(fromBase62('z'.repeat(22)), null)
    for (const character of ['_', '-', ' ', 'é', '/', ':', '\0'])
      assert.equal(fromBase62(character + text.slice(1)), null)
  })
})
