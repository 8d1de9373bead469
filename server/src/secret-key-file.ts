import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatSecretKey, generateSecretKey, parseSecretKeys, type SecretKey } from './domain/keyring.ts'

/** Where the secret key is kept where `UGS_SECRET_KEYS` does not bring one; of the same form as that. */
export function secretKeyFile(dataFolder: string): string {
  return join(dataFolder, 'secret-keys')
}

/** @throws RangeError where the file does not hold secret keys. */
export function readSecretKeyFile(dataFolder: string): SecretKey[] | null {
  try {
    return parseSecretKeys(readFileSync(secretKeyFile(dataFolder), 'utf8').trim())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Makes a secret key and keeps it. Of several processes that do so at once, all return the key of one of them. */
export function makeSecretKeyFile(dataFolder: string): SecretKey[] {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const file = secretKeyFile(dataFolder)
  const whole = `${file}.${process.pid}`
  writeFileSync(whole, `${formatSecretKey(generateSecretKey('k1'))}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(whole, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(whole)
  }
  return readSecretKeyFile(dataFolder) as SecretKey[]
}
