import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { toBase62 } from '../../../../src/domain/token/base62.ts'
import { locatorLength } from '../../../../src/domain/token/token.ts'
import { LocatorCodec, locatorKeyLength } from '../../../../src/domain/user-group/locator.ts'
import { bucketCount } from '../../../../src/domain/user-group/location.ts'

const key = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
const codec = new LocatorCodec(key)

/** Encrypts a block as a locator, whatever it contains. */
function locatorOf(block: Buffer, withKey = key): string {
  const cipher = createCipheriv('aes-128-ecb', withKey, null).setAutoPadding(false)
  return toBase62(cipher.update(block), locatorLength)
}

describe('a locator', () => {
  it('is the encrypted bucket and team id in base 62', () => {
    // Computed with `openssl enc -aes-128-ecb -nopad`.
    for (const [location, encrypted, locator] of [
      [{ bucket: 0, teamId: 1 }, '0dad474821817e78452a5ca0d14a0811', '0Po5V2kmguIpBk3UkOnXcX'],
      [
        { bucket: 1023, teamId: Number.MAX_SAFE_INTEGER },
        '2028036ed5a079aa001e6b84f169f426',
        '0yg2WEN3bAUG3xC9uKuPjS',
      ],
    ] as const) {
      assert.equal(toBase62(Buffer.from(encrypted, 'hex'), locatorLength), locator)
      assert.equal(codec.encode(location), locator)
      assert.deepEqual(codec.decode(locator), location)
    }
  })

  it('is decoded to the location that it was encoded from', () => {
    for (const bucket of [0, 1, 255, 256, bucketCount - 1]) {
      for (const teamId of [1, 2 ** 31, 2 ** 32 + 1, 2 ** 48, Number.MAX_SAFE_INTEGER]) {
        const locator = codec.encode({ bucket, teamId })
        assert.match(locator, /^[0-9A-Za-z]{22}$/)
        assert.deepEqual(codec.decode(locator), { bucket, teamId })
      }
    }
  })

  it('reveals no order: successive team ids differ in most digits', () => {
    const locators = Array.from({ length: 1000 }, (_, i) => codec.encode({ bucket: 1, teamId: i + 1 }))
    assert.equal(new Set(locators.map((locator) => locator.slice(1, 12))).size, 1000)
    assert.notDeepEqual([...locators].sort(), locators)
  })

  it('of another key is refused', () => {
    const other = new LocatorCodec(randomBytes(locatorKeyLength))
    for (let teamId = 1; teamId <= 1000; teamId++)
      assert.equal(codec.decode(other.encode({ bucket: 1, teamId })), null)
  })

  it('that was invented or altered is refused', () => {
    const locator = codec.encode({ bucket: 5, teamId: 7 })
    for (let i = 0; i < locator.length; i++) {
      const other = locator[i] === '1' ? '0' : '1'
      assert.equal(codec.decode(locator.slice(0, i) + other + locator.slice(i + 1)), null, String(i))
    }
    for (let i = 0; i < 1000; i++) assert.equal(codec.decode(toBase62(randomBytes(16), locatorLength)), null)
    assert.equal(codec.decode('z'.repeat(locatorLength)), null)
  })

  it('with a bucket, team id or padding out of range is refused', () => {
    const blockOf = (bucket: number, teamId: bigint, padding = 0) => {
      const block = Buffer.alloc(16)
      block.writeUInt16BE(bucket, 0)
      block.writeBigUInt64BE(teamId, 2)
      block.writeUInt8(padding, 15)
      return locatorOf(block)
    }
    assert.deepEqual(codec.decode(blockOf(1023, 1n)), { bucket: 1023, teamId: 1 })
    assert.equal(codec.decode(blockOf(1024, 1n)), null)
    assert.equal(codec.decode(blockOf(1, 2n ** 53n)), null)
    assert.equal(codec.decode(blockOf(1, 2n ** 64n - 1n)), null)
    assert.equal(codec.decode(blockOf(1, 1n, 1)), null)
  })
})
