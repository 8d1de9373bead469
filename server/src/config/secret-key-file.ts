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

/**
 * Reads a file in the format of `UGS_SECRET_KEYS`. Returns null if it does not exist.
 * @throws RangeError if the content is invalid; the system's error if the file cannot be read
 */
export function readSecretKeyFile(file: string): SecretKey[] | null {
  try {
    return parseSecretKeys(readFileSync(file, 'utf8').trim())
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Creates the file with a new secret key. The folder must exist. If several processes do this at once, all return the same
 * key. The key is on disk before anything is encrypted with it.
 */
export function createSecretKeyFile(file: string): SecretKey[] {
  const temporary = `${file}.${randomBytes(8).toString('hex')}`
  try {
    writeKeys(temporary, [generateSecretKey('k1')])
    linkSync(temporary, file)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  flushFolder(dirname(file))
  return readSecretKeyFile(file) as SecretKey[]
}

/** The lock file exists: another process is changing the keys, or was killed while doing so. */
export class LockedFileError extends Error {
  override readonly name = 'LockedFileError'
  readonly lock: string

  constructor(lock: string) {
    super(`${lock} exists`)
    this.lock = lock
  }
}

/**
 * Changes the keys of an existing file atomically. Refuses concurrent changes, because a lost key loses all tokens that it
 * encrypted.
 * @throws LockedFileError; errors of `change`; the system's error if the file cannot be written
 */
export function changeSecretKeyFile(path: string, change: (keys: SecretKey[]) => SecretKey[]): SecretKey[] {
  const file = realpathSync(path)
  const lock = `${file}.lock`
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    throw errorCodeOf(error) === 'EEXIST' ? new LockedFileError(lock) : error
  }
  let keys
  try {
    keys = change(readSecretKeyFile(file) as SecretKey[])
    writeKeys(lock, keys)
    // Keeps the file readable for its current readers.
    const { uid, gid, mode } = statSync(file)
    chownSync(lock, uid, gid)
    chmodSync(lock, mode)
    renameSync(lock, file)
  } catch (error) {
    rmSync(lock, { force: true })
    throw error
  }
  flushFolder(dirname(file))
  return keys
}

function writeKeys(file: string, keys: readonly SecretKey[]): void {
  writeFileSync(file, `${keys.map(formatSecretKey).join(',')}\n`, { mode: 0o600, flush: true })
}

/** Flushes a folder, so that the names of its files are on disk. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
