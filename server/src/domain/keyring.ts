import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
const secretKeyLength = 32

/** A key that user group tokens are sealed with. Its id is public and stands beside what it sealed. */
export interface SecretKey {
  readonly id: string
  readonly key: Uint8Array
}

/** A text that only the holder of the key `keyId` can read. */
export interface Sealed {
  readonly keyId: string
  /** AES-256-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag. */
  readonly sealed: Uint8Array
}

/** A text could not be opened: its key is not in the keyring, or it is not what was sealed. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError'
}

/** The secret keys of one service: the first seals, all of them open. */
export class Keyring {
  readonly #keys: ReadonlyMap<string, KeyObject>
  /** The key that seals: the first. */
  readonly sealingKeyId: string

  /** @throws RangeError where there is no key, or two have one id. */
  constructor(keys: readonly SecretKey[]) {
    const [first] = keys
    if (first === undefined) throw new RangeError('a keyring needs a key')
    this.#keys = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]))
    if (this.#keys.size !== keys.length) throw new RangeError('two secret keys have the same id')
    this.sealingKeyId = first.id
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()]
  }

  /** `context` is authenticated with the text: what was sealed for one user group does not open for another. */
  seal(text: string, context: string): Sealed {
    const keyId = this.sealingKeyId
    const iv = randomBytes(ivLength)
    const cipher = createCipheriv(algorithm, this.#key(keyId), iv)
    cipher.setAAD(Buffer.from(context))
    return {
      keyId,
      sealed: Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]),
    }
  }

  /** @throws UnsealError */
  open({ keyId, sealed }: Sealed, context: string): string {
    const key = this.#key(keyId)
    try {
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), {
        authTagLength: tagLength,
      })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(-tagLength))
      return (
        decipher.update(sealed.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8')
      )
    } catch {
      throw new UnsealError(`what was sealed with the secret key "${keyId}" cannot be opened with it`)
    }
  }

  #key(keyId: string): KeyObject {
    const key = this.#keys.get(keyId)
    if (key === undefined) throw new UnsealError(`the secret key "${keyId}" is not in the keyring`)
    return key
  }
}

const keyIdPattern = /^[\w-]{1,32}$/

/**
 * Reads `id:base64 of 32 bytes`, comma separated (the form of `UGS_SECRET_KEYS`).
 * @throws RangeError that says which entry is wrong, by its place and never by its key.
 */
export function parseSecretKeys(text: string): SecretKey[] {
  const keys = text.split(',').map((entry, index) => {
    const place = `entry ${index + 1}`
    const [id = '', encoded, ...rest] = entry.trim().split(':')
    if (encoded === undefined || rest.length > 0)
      throw new RangeError(`${place} must have the form id:base64`)
    if (!keyIdPattern.test(id)) {
      throw new RangeError(`the id of ${place} must be 1 to 32 letters, digits, "-" or "_"`)
    }
    const key = Buffer.from(encoded, 'base64')
    const canonical = key.toString('base64').replace(/=+$/, '')
    if (key.length !== secretKeyLength || canonical !== encoded.replace(/=+$/, '')) {
      throw new RangeError(`the key of ${place} must be ${secretKeyLength} bytes in base64`)
    }
    return { id, key }
  })
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    throw new RangeError('two entries have the same id')
  }
  return keys
}

export function formatSecretKey({ id, key }: SecretKey): string {
  return `${id}:${Buffer.from(key).toString('base64')}`
}

export function generateSecretKey(id: string): SecretKey {
  return { id, key: randomBytes(secretKeyLength) }
}
