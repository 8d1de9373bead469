import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './settings.ts'
import { Fault } from '../domain/fault.ts'
import { Keyring, DecryptionError, type SecretKey } from '../domain/secret-key/keyring.ts'
import type { SecretKeyStore } from '../domain/secret-key/secret-key-store.ts'
import { createDataFolder } from './data-folder.ts'
import { createSecretKeyFile, readSecretKeyFile } from './secret-key-file.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** The secret keys are not those that the store's tokens were sealed with, or cannot be read. For the operator. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
}

type SecretKeyChecks = {
  readonly secretKeys: Pick<SecretKeyStore, 'listChecks' | 'addCheck' | 'listRetired'>
}

type Source = Pick<Config, 'UGS_SECRET_KEYS' | 'UGS_SECRET_KEYS_FILE' | 'secretKeyFile'>

const checkedText = 'User Group Service'
const contextOfCheck = (keyId: string) => `secret_key_check/${keyId}`

/** How often, in milliseconds, it is looked whether the file was changed. */
const watchEveryMs = 1000
/** After how long every service has read a file that was changed, and nothing is under way that was sealed before. */
const settledAfterMs = 5000

/**
 * The keyring, held against the store: a missing or a wrong key is found here, before any token needs it, and a new
 * one is never made beside tokens that it could not open.
 * @throws SecretKeyError, StoreError, Fault `unavailable`
 */
export async function openKeyring(config: Source, store: SecretKeyChecks): Promise<Keyring> {
  const keys = readSecretKeys(config) ?? (await createSecretKeys(config, store))
  await checkSecretKeys(config, store, keys)
  return new Keyring(keys, () => (config.UGS_SECRET_KEYS ? [] : readOrNothing(config.secretKeyFile)))
}

/**
 * Has the keyring follow the file: a new first key seals from the next look on. Where the keys are not in a file, nothing
 * ever changes. What is wrong with the file then is told, and the keys stay as they were.
 * @returns what ends it
 */
export function watchSecretKeys(
  config: Source,
  { store, keyring }: { readonly store: SecretKeyChecks; readonly keyring: Keyring },
  told: { readonly onChange: () => void; readonly onFailure: (error: unknown) => void },
): () => void {
  if (config.UGS_SECRET_KEYS !== undefined) return () => undefined
  const follow = async () => {
    const keys = readSecretKeys(config) ?? refuseMissing(config)
    await checkSecretKeys(config, store, keys)
    keyring.replace(keys)
    told.onChange()
  }
  // One after the other, so that the last one stands at the end.
  let following = Promise.resolve()
  let again: NodeJS.Timeout | undefined
  const onChange = () => {
    clearTimeout(again)
    following = following.then(follow).catch((error: unknown) => {
      told.onFailure(error)
      // A wrong file is so until it changes. A store that is away may be back any moment.
      if (error instanceof Fault) again = setTimeout(onChange, watchEveryMs).unref()
    })
  }
  // Node's own `watchFile` looks for the first time some moments after it was called, and misses what changes before that.
  let seen = stateOf(config.secretKeyFile)
  const looking = setInterval(() => {
    const state = stateOf(config.secretKeyFile)
    if (state === seen) return
    seen = state
    onChange()
  }, watchEveryMs).unref()
  // What was changed since they were read is no change to who begins to watch.
  const ids = readOrNothing(config.secretKeyFile).map(({ id }) => id)
  if (ids.join() !== keyring.keyIds.join()) onChange()
  return () => {
    clearInterval(looking)
    clearTimeout(again)
  }
}

/** Another text whenever the file was written, replaced, or is no longer there. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch (error) {
    return errorCodeOf(error) ?? 'unknown'
  }
}

/** Resolves once the file was changed so long ago that no service seals with a key that was the first one before. */
export async function secretKeyFileSettled({ UGS_SECRET_KEYS, secretKeyFile }: Source): Promise<void> {
  const changedAt =
    UGS_SECRET_KEYS === undefined ? (statSync(secretKeyFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) : 0
  const ago = Math.max(0, Date.now() - changedAt)
  if (ago < settledAfterMs) await sleep(settledAfterMs - ago)
}

/** Whether the keys are in a file that others than its owner may read or change. */
export function areSecretKeysExposed({ UGS_SECRET_KEYS, secretKeyFile }: Source): boolean {
  if (UGS_SECRET_KEYS !== undefined) return false
  return ((statSync(secretKeyFile, { throwIfNoEntry: false })?.mode ?? 0) & 0o066) !== 0
}

/** Null where they are to be in a file that is not there. @throws SecretKeyError */
export function readSecretKeys(config: Source): readonly SecretKey[] | null {
  if (config.UGS_SECRET_KEYS !== undefined) return config.UGS_SECRET_KEYS
  try {
    return readSecretKeyFile(config.secretKeyFile)
  } catch (error) {
    throw unreadable(config.secretKeyFile, error)
  }
}

/** Holds keys against those that the store knows, and makes the first known to it, which is going to seal. */
async function checkSecretKeys(
  config: Source,
  store: SecretKeyChecks,
  keys: readonly SecretKey[],
): Promise<void> {
  const source = config.UGS_SECRET_KEYS ? 'UGS_SECRET_KEYS' : config.secretKeyFile
  const keyring = new Keyring(keys)
  const checks = await store.secretKeys.listChecks()
  const missing = checks.filter(({ keyId }) => !keyring.keyIds.includes(keyId))
  if (missing.length > 0) {
    const ids = missing.map(({ keyId }) => `"${keyId}"`).join(', ')
    throw new SecretKeyError(
      `${source}: ${ids} is missing, which this store's tokens are sealed with; put it back`,
    )
  }
  if ((await store.secretKeys.listRetired()).includes(keyring.sealingKeyId)) {
    throw new SecretKeyError(
      `${source}: "${keyring.sealingKeyId}" is retired, and seals nothing more; put the key first that the other processes have first`,
    )
  }
  // A key is needed from when it first seals. One that only stands behind it can be taken away again.
  if (!checks.some(({ keyId }) => keyId === keyring.sealingKeyId)) {
    const own = keyring.seal(checkedText, contextOfCheck(keyring.sealingKeyId))
    checks.push(await store.secretKeys.addCheck(own))
  }
  for (const check of checks) {
    try {
      keyring.open(check, contextOfCheck(check.keyId))
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      throw new SecretKeyError(
        `${source}: the key "${check.keyId}" is not the one that this store was sealed with; put that one back, or give the new one another id`,
      )
    }
  }
}

async function createSecretKeys(config: Source, store: SecretKeyChecks): Promise<readonly SecretKey[]> {
  if (config.UGS_SECRET_KEYS_FILE !== undefined) return refuseMissing(config)
  if ((await store.secretKeys.listChecks()).length > 0) return refuseMissing(config)
  createDataFolder(dirname(config.secretKeyFile))
  try {
    return createSecretKeyFile(config.secretKeyFile)
  } catch (error) {
    throw unreadable(config.secretKeyFile, error)
  }
}

function refuseMissing({ UGS_SECRET_KEYS_FILE, secretKeyFile }: Source): never {
  throw new SecretKeyError(
    UGS_SECRET_KEYS_FILE === undefined
      ? `${secretKeyFile}: is missing, and the store holds tokens sealed with it; put it back, or set UGS_SECRET_KEYS`
      : `${secretKeyFile}: is missing, and UGS_SECRET_KEYS_FILE names it; put it there (\`ugs secret-key add --print\` makes a key)`,
  )
}

function unreadable(file: string, error: unknown): SecretKeyError {
  const what =
    error instanceof RangeError
      ? error.message
      : `it cannot be read or made (${errorCodeOf(error) ?? 'unknown'})`
  return new SecretKeyError(
    `${file}: ${what}; put back the file that the service made, or set UGS_SECRET_KEYS`,
  )
}

function readOrNothing(file: string): readonly SecretKey[] {
  try {
    return readSecretKeyFile(file) ?? []
  } catch {
    return []
  }
}
