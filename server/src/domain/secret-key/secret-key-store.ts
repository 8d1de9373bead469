import type { Sealed } from './keyring.ts'

/** Key checks and retired secret keys. The secret keys themselves are never in the store. */
export interface SecretKeyStore {
  listChecks(): Promise<SecretKeyCheck[]>

  /** Adds the check unless the key has one, and returns the stored check. Simultaneous calls return the same check. */
  addCheck(check: SecretKeyCheck): Promise<SecretKeyCheck>

  /** Deletes the check, if there is one. */
  deleteCheck(keyId: string): Promise<void>

  /**
   * Retires a secret key in every process. When the promise resolves, all tokens encrypted with the key are visible to
   * `EncryptedTokenStore.list`, and later writes of such tokens are refused as `secret_key_retired`.
   */
  retire(keyId: string): Promise<void>

  /** Returns the ids of retired secret keys, in order. */
  listRetired(): Promise<string[]>
}

/** A known text, encrypted when the key was first used. It shows later whether a key with this id is still the same key. */
export type SecretKeyCheck = Sealed
