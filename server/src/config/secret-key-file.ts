import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import {
  formatSecretKey,
  generateSecretKey,
  parseSecretKeys,
  type SecretKey,
} from '../domain/secret-key/keyring.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

// The file has the form of `UGS_SECRET_KEYS`.

/** @throws RangeError where the file does not hold secret keys; the system's error where it cannot be read. */
export function readSecretKeyFile(file: string): SecretKey[] | null {
  try {
    return parseSecretKeys(readFileSync(file, 'utf8').trim())
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Makes a secret key and keeps it in the file, whose folder exists. Of several processes that do so at once, all return
 * the key of one of them. The key is on the disk before anything is sealed with it.
 */
export function createSecretKeyFile(file: string): SecretKey[] {
  const whole = `${file}.${randomBytes(8).toString('hex')}`
  try {
    writeWhole(whole, [generateSecretKey('k1')])
    linkSync(whole, file)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(whole, { force: true })
  }
  flushFolder(dirname(file))
  return readSecretKeyFile(file) as SecretKey[]
}

/** Another process changes the file, or was ended while it did. */
export class LockedFileError extends Error {
  override readonly name = 'LockedFileError'
  readonly lock: string

  constructor(lock: string) {
    super(`${lock} is there`)
    this.lock = lock
  }
}

/**
 * Changes the keys of a file, which is there. Nobody sees half of it, and of two changes at once one is refused: a key that
 * was lost would be lost with all that it has sealed.
 * @throws LockedFileError; what `change` throws; the system's error where it cannot be written
 */
export function changeSecretKeyFile(path: string, change: (keys: SecretKey[]) => SecretKey[]): SecretKey[] {
  const file = realpathSync(path)
  const whole = `${file}.lock`
  try {
    closeSync(openSync(whole, 'wx', 0o600))
  } catch (error) {
    throw errorCodeOf(error) === 'EEXIST' ? new LockedFileError(whole) : error
  }
  let keys
  try {
    keys = change(readSecretKeyFile(file) as SecretKey[])
    writeWhole(whole, keys)
    // Who reads it now is to be able to go on doing so.
    const { uid, gid, mode } = statSync(file)
    chownSync(whole, uid, gid)
    chmodSync(whole, mode)
    renameSync(whole, file)
  } catch (error) {
    rmSync(whole, { force: true })
    throw error
  }
  // From here on what has this name is another's.
  flushFolder(dirname(file))
  return keys
}

function writeWhole(file: string, keys: readonly SecretKey[]): void {
  writeFileSync(file, `${keys.map(formatSecretKey).join(',')}\n`, { mode: 0o600, flush: true })
}

/** A file's name is on the disk only once its folder is. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
