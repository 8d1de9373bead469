import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { randomBytes } from '../util/random.ts'

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
export class DecryptionError extends Error {
  override readonly name = 'UnsealError'
  readonly isKeyMissing: boolean

  constructor(message: string, { isKeyMissing }: { readonly isKeyMissing: boolean }) {
    super(message)
    this.isKeyMissing = isKeyMissing
  }
}

/** The secret keys of one service: the first seals, all of them open. */
export class Keyring {
  readonly #readAgain: () => readonly SecretKey[]
  #keys = new Map<string, KeyObject>()
  #sealingKeyId = ''

  /**
   * `readAgain` is asked where a key is missing: another process may have got it a moment ago, and sealed with it.
   * @throws RangeError where there is no key, or two have one id.
   */
  constructor(keys: readonly SecretKey[], readAgain: () => readonly SecretKey[] = () => []) {
    this.#readAgain = readAgain
    this.replace(keys)
  }

  /** The key that seals: the first. */
  get sealingKeyId(): string {
    return this.#sealingKeyId
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()]
  }

  /** @throws RangeError where there is no key, or two have one id; then all stays as it was. */
  replace(keys: readonly SecretKey[]): void {
    const [first] = keys
    if (first === undefined) throw new RangeError('a keyring needs a key')
    const replacing = keyObjects(keys)
    if (replacing.size !== keys.length) throw new RangeError('two secret keys have the same id')
    this.#keys = replacing
    this.#sealingKeyId = first.id
  }

  /** `context` is authenticated with the text: what was sealed for one user group does not open for another. */
  seal(text: string, context: string): Sealed {
    const keyId = this.sealingKeyId
    const iv = randomBytes(ivLength)
    const cipher = createCipheriv(algorithm, this.#key(keyId), iv)
    cipher.setAAD(Buffer.from(context))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return { keyId, sealed }
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
      const text = decipher.update(sealed.subarray(ivLength, -tagLength))
      decipher.final()
      // Only now is it known to be what was sealed.
      return text.toString()
    } catch {
      throw new DecryptionError(`what was sealed with the secret key "${keyId}" cannot be opened with it`, {
        isKeyMissing: false,
      })
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
 * Reads `id:base64 of 32 bytes`, comma separated (the form of `UGS_SECRET_KEYS`).
 * @throws RangeError that says which entry is wrong, by its place and never by its key.
 */
export function parseSecretKeys(text: string): SecretKey[] {
  const keys = text.split(',').map((entry, index) => {
    const place = `entry ${index + 1}`
    const [id = '', encoded, ...rest] = entry.trim().split(':')
    if (encoded === undefined || rest.length > 0)
      throw new RangeError(`${place} must have the form id:base64`)
    if (!isSecretKeyId(id)) {
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
  // A replacement that replaces nothing would go unnoticed.
  if (new Set(keys.map(({ key }) => key.toString('hex'))).size !== keys.length) {
    throw new RangeError('two entries have the same key')
  }
  // Behind another it may stay, to open what it sealed until that is sealed anew.
  if (keys.slice(0, 1).some(({ key }) => isGuessable(key))) {
    throw new RangeError(
      'the key of entry 1 is an example, a text or a pattern: have `ugs secret-key add --print` make one, and put it first',
    )
  }
  return keys
}

/** A random key has all but a few different bytes; not one in 10^10 is taken for what it is not. */
const minDifferent = 16

function isGuessable(key: Uint8Array): boolean {
  const steps = key.map((byte, i) => byte - (key[i - 1] ?? 0))
  const isText = key.every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d))
  return isText || [key, steps].some((bytes) => new Set(bytes).size < minDifferent)
}

export function formatSecretKey({ id, key }: SecretKey): string {
  return `${id}:${Buffer.from(key).toString('base64')}`
}

export function generateSecretKey(id: string): SecretKey {
  return { id, key: randomBytes(secretKeyLength) }
}
