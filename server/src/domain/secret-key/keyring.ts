import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { randomBytes } from '../util/random.ts'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
const secretKeyLength = 32

/** A key that encrypts user group tokens. Its id is public and stored next to each encrypted token. */
export interface SecretKey {
  readonly id: string
  readonly key: Uint8Array
}

/** A text encrypted with the key `keyId`. */
export interface Sealed {
  readonly keyId: string
  /** AES-256-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag. */
  readonly sealed: Uint8Array
}

/** A text could not be decrypted: its key is missing from the keyring, or the ciphertext was altered. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
  readonly isKeyMissing: boolean

  constructor(message: string, { isKeyMissing }: { readonly isKeyMissing: boolean }) {
    super(message)
    this.isKeyMissing = isKeyMissing
  }
}

/** The secret keys of one process. The first key encrypts; all keys decrypt. */
export class Keyring {
  readonly #readAgain: () => readonly SecretKey[]
  #keys = new Map<string, KeyObject>()
  #sealingKeyId = ''

  /**
   * @param readAgain reads the keys again if one is missing, because another process may have just started to use it
   * @throws RangeError if there is no key, or two keys have the same id
   */
  constructor(keys: readonly SecretKey[], readAgain: () => readonly SecretKey[] = () => []) {
    this.#readAgain = readAgain
    this.replace(keys)
  }

  /** The id of the key that encrypts. */
  get sealingKeyId(): string {
    return this.#sealingKeyId
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()]
  }

  /** Replaces all keys, or none if it throws. @throws RangeError if there is no key, or two keys have the same id */
  replace(keys: readonly SecretKey[]): void {
    const [first] = keys
    if (first === undefined) throw new RangeError('a keyring needs a key')
    const replacements = keyObjects(keys)
    if (replacements.size !== keys.length) throw new RangeError('two secret keys have the same id')
    this.#keys = replacements
    this.#sealingKeyId = first.id
  }

  /** @param context authenticated with the text, so that a token of one user group cannot be decrypted for another */
  seal(text: string, context: string): Sealed {
    const keyId = this.sealingKeyId
    const iv = randomBytes(ivLength)
    const cipher = createCipheriv(algorithm, this.#key(keyId), iv)
    cipher.setAAD(Buffer.from(context))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return { keyId, sealed }
  }

  /** @throws DecryptionError */
  open({ keyId, sealed }: Sealed, context: string): string {
    const key = this.#key(keyId)
    try {
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), {
        authTagLength: tagLength,
      })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(-tagLength))
      const text = decipher.update(sealed.subarray(ivLength, -tagLength))
      decipher.final()
      // Use the text only after final() has verified the authentication tag.
      return text.toString()
    } catch {
      throw new DecryptionError(
        `a text encrypted with the secret key "${keyId}" cannot be decrypted with it`,
        {
          isKeyMissing: false,
        },
      )
    }
  }

  #key(keyId: string): KeyObject {
    const key = this.#keys.get(keyId) ?? keyObjects(this.#readAgain()).get(keyId)
    if (key === undefined)
      throw new DecryptionError(`the secret key "${keyId}" is missing`, { isKeyMissing: true })
    return key
  }
}

function keyObjects(keys: readonly SecretKey[]): Map<string, KeyObject> {
  return new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]))
}

export function isSecretKeyId(text: string): boolean {
  return /^[\w-]{1,32}$/.test(text)
}

/**
 * Parses comma-separated entries of `id:base64 of 32 bytes` (the form of `UGS_SECRET_KEYS`).
 * @throws RangeError that names the invalid entry by its position and never contains a key
 */
export function parseSecretKeys(text: string): SecretKey[] {
  const keys = text.split(',').map((entry, index) => {
    const entryName = `entry ${index + 1}`
    const [id = '', encoded, ...rest] = entry.trim().split(':')
    if (encoded === undefined || rest.length > 0)
      throw new RangeError(`${entryName} must have the form id:base64`)
    if (!isSecretKeyId(id)) {
      throw new RangeError(`the id of ${entryName} must be 1 to 32 letters, digits, "-" or "_"`)
    }
    const key = Buffer.from(encoded, 'base64')
    const canonical = key.toString('base64').replace(/=+$/, '')
    if (key.length !== secretKeyLength || canonical !== encoded.replace(/=+$/, '')) {
      throw new RangeError(`the key of ${entryName} must be ${secretKeyLength} bytes in base64`)
    }
    return { id, key }
  })
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    throw new RangeError('two entries have the same id')
  }
  // A new id with the old key would be a replacement without effect.
  if (new Set(keys.map(({ key }) => key.toString('hex'))).size !== keys.length) {
    throw new RangeError('two entries have the same key')
  }
  // A weak key may follow the first one, so that its tokens can be decrypted and re-encrypted.
  if (keys.slice(0, 1).some(({ key }) => isGuessable(key))) {
    throw new RangeError(
      'the key of entry 1 is an example, a text or a pattern: create one with `ugs secret-key add --print` and put it first',
    )
  }
  return keys
}

/** Minimum number of distinct bytes in a key. Fewer than 1 in 10^10 random keys have less. */
const minDistinctBytes = 16

function isGuessable(key: Uint8Array): boolean {
  const steps = key.map((byte, i) => byte - (key[i - 1] ?? 0))
  const isText = key.every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d))
  return isText || [key, steps].some((bytes) => new Set(bytes).size < minDistinctBytes)
}

export function formatSecretKey({ id, key }: SecretKey): string {
  return `${id}:${Buffer.from(key).toString('base64')}`
}

export function generateSecretKey(id: string): SecretKey {
  return { id, key: randomBytes(secretKeyLength) }
}
