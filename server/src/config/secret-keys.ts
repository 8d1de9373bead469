import { OperatorError } from '../domain/util/operator-error.ts'
import { statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './settings.ts'
import { Fault } from '../domain/fault.ts'
import { Keyring, DecryptionError, type SecretKey } from '../domain/secret-key/keyring.ts'
import type { SecretKeyCheck, SecretKeyStore } from '../domain/secret-key/secret-key-store.ts'
import { findMissingPermission } from '../store/file-access.ts'
import { createDataFolder } from './data-folder.ts'
import { createSecretKeyFile, readSecretKeyFile } from './secret-key-file.ts'
import { watchFile, watchIntervalMs } from './watched-file.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** The secret keys do not match the store or cannot be read. The message is for the operator. */
export class SecretKeyError extends OperatorError {
  override readonly name = 'SecretKeyError'
}

interface SecretKeyChecks {
  readonly secretKeys: Pick<SecretKeyStore, 'listChecks' | 'addCheck' | 'listRetired'>
}

interface ReadableChecks {
  readonly secretKeys: Pick<SecretKeyStore, 'listChecks' | 'listRetired'>
}

type Source = Pick<Config, 'UGS_SECRET_KEYS' | 'UGS_SECRET_KEYS_FILE' | 'secretKeyFile'>

const checkedText = 'User Group Service'
const contextOfCheck = (keyId: string) => `secret_key_check/${keyId}`

/** Time after which all services have read a changed file and written all tokens encrypted before, in milliseconds. */
const settledAfterMs = 5000

/**
 * Loads the secret keys and verifies them against the store, so that a missing or wrong key is found before a token needs
 * it. Creates a key only if the store has no encrypted tokens.
 * @throws SecretKeyError, StoreError, Fault `unavailable`
 */
export async function openKeyring(config: Source, store: SecretKeyChecks): Promise<Keyring> {
  const keys = readSecretKeys(config) ?? (await createSecretKeys(config, store))
  await checkSecretKeys(config, store, keys)
  return new Keyring(keys, () => (config.UGS_SECRET_KEYS ? [] : readKeysIfValid(config.secretKeyFile)))
}

/**
 * Updates the keyring whenever the secret key file changes. Reports an invalid file and keeps the previous keys. Does
 * nothing if `UGS_SECRET_KEYS` provides the keys.
 * @returns function that stops the watch
 */
export function watchSecretKeys(
  config: Source,
  { store, keyring }: { readonly store: SecretKeyChecks; readonly keyring: Keyring },
  listeners: { readonly onChange: () => void; readonly onFailure: (error: unknown) => void },
): () => void {
  if (config.UGS_SECRET_KEYS !== undefined) return () => undefined
  const reload = async () => {
    const keys = readSecretKeys(config) ?? refuseMissing(config)
    await checkSecretKeys(config, store, keys)
    keyring.replace(keys)
    listeners.onChange()
  }
  // Reloads run in sequence, so that the last one determines the keys.
  let reloads = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  const onChange = () => {
    clearTimeout(retry)
    reloads = reloads.then(reload).catch((error: unknown) => {
      listeners.onFailure(error)
      // An invalid file stays invalid until it changes, but an unavailable store may recover.
      if (error instanceof Fault) retry = setTimeout(onChange, watchIntervalMs).unref()
    })
  }
  const stop = watchFile(config.secretKeyFile, onChange)
  // The file may have changed between loading the keyring and this call.
  const ids = readKeysIfValid(config.secretKeyFile).map(({ id }) => id)
  if (ids.join() !== keyring.keyIds.join()) onChange()
  return () => {
    stop()
    clearTimeout(retry)
  }
}

/** Resolves when no service encrypts with the previous first key anymore. */
export async function secretKeyFileSettled({ UGS_SECRET_KEYS, secretKeyFile }: Source): Promise<void> {
  const changedAt =
    UGS_SECRET_KEYS === undefined ? (statSync(secretKeyFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) : 0
  const ageMs = Math.max(0, Date.now() - changedAt)
  if (ageMs < settledAfterMs) await sleep(settledAfterMs - ageMs)
}

/** Returns true if other users than root may read or change the secret key file. */
export function areSecretKeysExposed({ UGS_SECRET_KEYS, secretKeyFile }: Source): boolean {
  const file = UGS_SECRET_KEYS ? undefined : statsOf(secretKeyFile)
  // Node.js has no user ids on Windows.
  const user = process.geteuid?.()
  return file !== undefined && user !== undefined && isExposed(file, user)
}

/** Reading the keys reports a missing or inaccessible file. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/** The group of this process may read a file that root provides: Kubernetes mounts secrets so. PostgreSQL has the same rule for its keys. */
export function isExposed({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, user: number): boolean {
  if (uid === user) return (mode & 0o066) !== 0
  return uid !== 0 || (mode & 0o026) !== 0
}

/**
 * Reads the secret keys from `UGS_SECRET_KEYS` or the file. Returns null if the file does not exist.
 * @throws SecretKeyError
 */
export function readSecretKeys(config: Source): readonly SecretKey[] | null {
  if (config.UGS_SECRET_KEYS !== undefined) return config.UGS_SECRET_KEYS
  try {
    return readSecretKeyFile(config.secretKeyFile)
  } catch (error) {
    throw unusableFile(config.secretKeyFile, error)
  }
}

/** Verifies the keys against the checks in the store, and adds a check for the first key if it has none. */
async function checkSecretKeys(
  config: Source,
  store: SecretKeyChecks,
  keys: readonly SecretKey[],
): Promise<void> {
  const keyring = new Keyring(keys)
  const checks = await verifySecretKeys(config, store, keyring)
  // Only a key that encrypts is required from now on. A key in a later position can still be removed.
  if (checks.some(({ keyId }) => keyId === keyring.sealingKeyId)) return
  const check = keyring.seal(checkedText, contextOfCheck(keyring.sealingKeyId))
  verifyCheck(config, keyring, await store.secretKeys.addCheck(check))
}

/** Verifies the keys against the checks in the store, and returns the checks. @throws SecretKeyError, Fault `unavailable` */
async function verifySecretKeys(
  config: Source,
  store: ReadableChecks,
  keyring: Keyring,
): Promise<readonly SecretKeyCheck[]> {
  const checks = await store.secretKeys.listChecks()
  const missing = checks.filter(({ keyId }) => !keyring.keyIds.includes(keyId))
  if (missing.length > 0) {
    const ids = missing.map(({ keyId }) => `"${keyId}"`).join(', ')
    throw new SecretKeyError(
      `${sourceOf(config)}: ${ids} is missing, but encrypts tokens of this store; restore the key`,
    )
  }
  if ((await store.secretKeys.listRetired()).includes(keyring.sealingKeyId)) {
    throw new SecretKeyError(
      `${sourceOf(config)}: "${keyring.sealingKeyId}" is retired and cannot encrypt; put the first key of the other processes first`,
    )
  }
  for (const check of checks) verifyCheck(config, keyring, check)
  return checks
}

function verifyCheck(config: Source, keyring: Keyring, check: SecretKeyCheck): void {
  try {
    keyring.open(check, contextOfCheck(check.keyId))
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    throw new SecretKeyError(
      `${sourceOf(config)}: the key "${check.keyId}" is not the key with which this store is encrypted; restore that key, or give the new key another id`,
    )
  }
}

/** Returns the setting or the file that provides the keys. */
export function sourceOf({
  UGS_SECRET_KEYS,
  secretKeyFile,
}: Pick<Config, 'UGS_SECRET_KEYS' | 'secretKeyFile'>): string {
  return UGS_SECRET_KEYS ? 'UGS_SECRET_KEYS' : secretKeyFile
}

/**
 * Verifies that this process has the keys that the store needs. Creates and changes nothing. A store that never encrypted needs none.
 * @throws SecretKeyError, Fault `unavailable`
 */
export async function examineSecretKeys(config: Source, store: ReadableChecks): Promise<void> {
  const keys = readSecretKeys(config)
  if (keys !== null) await verifySecretKeys(config, store, new Keyring(keys))
  else if (config.UGS_SECRET_KEYS_FILE !== undefined || (await store.secretKeys.listChecks()).length > 0)
    refuseMissing(config)
}

/** Checks the secret keys that settings provide, before a store is created. @throws SecretKeyError */
export function checkProvidedKeys(config: Source): void {
  if (config.UGS_SECRET_KEYS_FILE !== undefined && readSecretKeys(config) === null) refuseMissing(config)
}

async function createSecretKeys(config: Source, store: SecretKeyChecks): Promise<readonly SecretKey[]> {
  checkProvidedKeys(config)
  if ((await store.secretKeys.listChecks()).length > 0) return refuseMissing(config)
  createDataFolder(dirname(config.secretKeyFile))
  try {
    return createSecretKeyFile(config.secretKeyFile)
  } catch (error) {
    throw unusableFile(config.secretKeyFile, error)
  }
}

/** @throws SecretKeyError that says where the keys belong */
export function refuseMissing({ UGS_SECRET_KEYS_FILE, secretKeyFile }: Source): never {
  throw new SecretKeyError(
    UGS_SECRET_KEYS_FILE === undefined
      ? `${secretKeyFile}: is missing, but the store has tokens encrypted with its keys; restore the file or set UGS_SECRET_KEYS`
      : `${secretKeyFile}: the file of UGS_SECRET_KEYS_FILE is missing; create it with a key from \`ugs secret-key add --print\``,
  )
}

function unusableFile(file: string, error: unknown): SecretKeyError {
  const missing = errorCodeOf(error) === 'EACCES' ? findMissingPermission(file) : undefined
  if (missing !== undefined) return new SecretKeyError(`${file}: ${missing}`)
  const problem =
    error instanceof RangeError
      ? error.message
      : `cannot be read or created (${errorCodeOf(error) ?? 'unknown'})`
  return new SecretKeyError(`${file}: ${problem}; restore the file or set UGS_SECRET_KEYS`)
}

function readKeysIfValid(file: string): readonly SecretKey[] {
  try {
    return readSecretKeyFile(file) ?? []
  } catch {
    return []
  }
}
