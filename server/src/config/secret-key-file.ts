import { closeSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  formatSecretKey,
  generateSecretKey,
  parseSecretKeys,
  type SecretKey,
} from '../domain/secret-key/keyring.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { flush, writeFileWhole } from '../output-file.ts'

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
  try {
    writeFileWhole(file, textOf([generateSecretKey('k1')]), { mustBeNew: true })
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
    // The other process may not have flushed the name yet.
    flush(dirname(realpathSync(file)))
  }
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
  try {
    const keys = change(readSecretKeyFile(file) as SecretKey[])
    writeFileWhole(file, textOf(keys))
    return keys
  } finally {
    rmSync(lock, { force: true })
  }
}

const textOf = (keys: readonly SecretKey[]): string => `${keys.map(formatSecretKey).join(',')}\n`
