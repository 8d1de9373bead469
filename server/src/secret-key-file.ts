import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatSecretKey, generateSecretKey, parseSecretKeys, type SecretKey } from './domain/keyring.ts'

/** Where the secret key is kept where `UGS_SECRET_KEYS` does not bring one; of the same form as that. */
export function secretKeyFile(dataFolder: string): string {
  return join(dataFolder, 'secret-keys')
}

/** @throws RangeError where the file does not hold secret keys; the system's error where it cannot be read. */
export function readSecretKeyFile(dataFolder: string): SecretKey[] | null {
  try {
    return parseSecretKeys(readFileSync(secretKeyFile(dataFolder), 'utf8').trim())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Makes a secret key and keeps it in the data folder, which exists. Of several processes that do so at once, all return
 * the key of one of them. The key is on the disk before anything is sealed with it.
 */
export function makeSecretKeyFile(dataFolder: string): SecretKey[] {
  const file = secretKeyFile(dataFolder)
  const whole = `${file}.${randomBytes(8).toString('hex')}`
  try {
    writeFileSync(whole, `${formatSecretKey(generateSecretKey('k1'))}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    })
    linkSync(whole, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(whole, { force: true })
  }
  flushFolder(dataFolder)
  return readSecretKeyFile(dataFolder) as SecretKey[]
}

/** A file's name is on the disk only once its folder is. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
