import { mkdirSync } from 'node:fs'
import type { Config } from './config.ts'
import { systemClock } from './domain/clock.ts'
import { Keyring, UnsealError, type SecretKey } from './domain/keyring.ts'
import type { Store } from './domain/store.ts'
import { UserGroupService } from './domain/user-group-service.ts'
import { makeSecretKeyFile, readSecretKeyFile, secretKeyFile } from './secret-key-file.ts'
import { openStore, type StoreOptions } from './store/open-store.ts'
import { StoreError } from './store/store-error.ts'

/** The secret keys are not those that the store's tokens were sealed with, or cannot be read. For the operator. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
}

/** @throws StoreError */
export async function openConfiguredStore(config: Config): Promise<Store> {
  if (config.DATABASE_URL === undefined) makeDataFolder(config.UGS_DATA_DIR)
  return openStore(config.storeLocation, storeOptionsOf(config))
}

export function storeOptionsOf(config: Config): StoreOptions {
  return {
    migrate: config.UGS_MIGRATE,
    lockTimeoutMs: config.UGS_LOCK_TIMEOUT_MS,
    poolSize: config.UGS_POSTGRES_POOL_SIZE,
    connectTimeoutMs: config.UGS_POSTGRES_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.UGS_POSTGRES_STATEMENT_TIMEOUT_MS,
    idleTimeoutMs: config.UGS_POSTGRES_IDLE_TIMEOUT_MS,
    deadlineMs: config.UGS_POSTGRES_DEADLINE_MS,
  }
}

/** @throws StoreError that names the folder and what the system says of it. */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreError(
      `${folder}: cannot be made a folder (${codeOf(error)}); name another one in UGS_DATA_DIR`,
    )
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

/** @throws StoreError, SecretKeyError, Fault `unavailable` */
export async function openUserGroupService(config: Config, store: Store): Promise<UserGroupService> {
  return new UserGroupService({
    store,
    keyring: await openKeyring(config, store),
    clock: systemClock,
    mappingMode: config.UGS_MAPPING,
  })
}

const checkedText = 'User Group Service'
const contextOfCheck = (keyId: string) => `secret_key_check/${keyId}`

/**
 * The keyring, held against the store: a missing or a wrong key is found here, before any token needs it, and a new
 * one is never made beside tokens that it could not open.
 */
async function openKeyring(config: Config, store: Store): Promise<Keyring> {
  const checks = await store.listSecretKeyChecks()
  const keys = config.UGS_SECRET_KEYS ?? secretKeysOfFolder(config.UGS_DATA_DIR, checks.length === 0)
  const source = config.UGS_SECRET_KEYS ? 'UGS_SECRET_KEYS' : secretKeyFile(config.UGS_DATA_DIR)
  const keyring = new Keyring(keys)
  const missing = checks.filter(({ keyId }) => !keyring.keyIds.includes(keyId))
  if (missing.length > 0) {
    const ids = missing.map(({ keyId }) => `"${keyId}"`).join(', ')
    throw new SecretKeyError(
      `${source}: ${ids} is missing, which this store's tokens are sealed with; put it back`,
    )
  }
  // A key is needed from when it first seals. One that only stands behind it can be taken away again.
  if (!checks.some(({ keyId }) => keyId === keyring.sealingKeyId)) {
    const own = keyring.seal(checkedText, contextOfCheck(keyring.sealingKeyId))
    checks.push(await store.addSecretKeyCheck(own))
  }
  for (const check of checks) {
    try {
      keyring.open(check, contextOfCheck(check.keyId))
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error
      throw new SecretKeyError(
        `${source}: the key "${check.keyId}" is not the one that this store was sealed with; put that one back, or give the new one another id`,
      )
    }
  }
  return keyring
}

function secretKeysOfFolder(dataFolder: string, mayMake: boolean): SecretKey[] {
  const file = secretKeyFile(dataFolder)
  try {
    const keys = readSecretKeyFile(dataFolder)
    if (keys !== null) return keys
    if (mayMake) {
      makeDataFolder(dataFolder)
      return makeSecretKeyFile(dataFolder)
    }
  } catch (error) {
    if (error instanceof StoreError) throw error
    const what = error instanceof RangeError ? error.message : `it cannot be read or made (${codeOf(error)})`
    throw new SecretKeyError(
      `${file}: ${what}; put back the file that the service made, or set UGS_SECRET_KEYS`,
    )
  }
  throw new SecretKeyError(
    `${file}: is missing, and the store holds tokens sealed with it; put it back, or set UGS_SECRET_KEYS`,
  )
}
