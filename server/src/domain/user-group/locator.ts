import { createCipheriv, createDecipheriv, type Cipher, type Decipher } from 'node:crypto'
import { bucketCount, type UserGroupLocation } from './location.ts'
import { fromBase62, toBase62 } from '../token/base62.ts'
import { locatorLength } from '../token/token.ts'

const algorithm = 'aes-128-ecb'
const blockLength = 16
export const locatorKeyLength = 16

/**
 * Converts the location of a user group to the locator in its tokens, and back. A locator is one AES block: two bytes of bucket,
 * eight of team id, six of zeros. The key protects no secret. It only keeps a token from revealing how many user groups exist, and
 * lets the zeros expose invented locators without a lookup.
 */
export class LocatorCodec {
  // Each block is encrypted on its own, so one cipher serves all of them.
  readonly #cipher: Cipher
  readonly #decipher: Decipher

  /** @param key 16 bytes, the same for all processes of a store */
  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv(algorithm, key, null).setAutoPadding(false)
    this.#decipher = createDecipheriv(algorithm, key, null).setAutoPadding(false)
  }

  encode({ bucket, teamId }: UserGroupLocation): string {
    const block = Buffer.alloc(blockLength)
    block.writeUInt16BE(bucket, 0)
    block.writeBigUInt64BE(BigInt(teamId), 2)
    return toBase62(this.#cipher.update(block), locatorLength)
  }

  /** Returns null if the text is no locator of this key. */
  decode(locator: string): UserGroupLocation | null {
    const encrypted = fromBase62(locator)
    if (encrypted === null) return null
    const block = this.#decipher.update(encrypted)
    const bucket = block.readUInt16BE(0)
    const teamId = Number(block.readBigUInt64BE(2))
    const isLocator = block.readUIntBE(10, 6) === 0 && bucket < bucketCount && Number.isSafeInteger(teamId)
    return isLocator ? { bucket, teamId } : null
  }
}
