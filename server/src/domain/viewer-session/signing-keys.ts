import type { KeyObject } from 'node:crypto'
import { actorOf, type Caller } from '../caller.ts'
import { Fault } from '../fault.ts'
import { DecryptionError, type Keyring } from '../secret-key/keyring.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { secretKeyRetired } from '../user-group/user-group-service.ts'
import { Cache } from '../util/cache.ts'
import type { Clock } from '../util/clock.ts'
import {
  generateSigningKey,
  isRetired,
  keyIdPrefix,
  maxKeyAgeMs,
  planRotation,
  privateKeyOf,
  publicKeyOf,
  signingKeyAt,
  signingKeyContext,
  type SigningKey,
} from './signing-key.ts'

/** Maximum number of parsed keys in memory. */
const cacheSize = 1000

interface Parts {
  readonly store: Pick<Store, 'viewerSessions' | 'integrity'>
  readonly keyring: Keyring
  readonly clock: Pick<Clock, 'now'>
}

/** The keys that sign viewer sessions: one signs for each workspace and environment. */
export class SigningKeys {
  readonly #parts: Parts
  /** Parsed keys by id. The key of an id never changes. */
  readonly #privateKeys = new Cache<KeyObject>(cacheSize)
  readonly #publicKeys = new Cache<KeyObject>(cacheSize)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns all keys, retired ones included, from the first to the latest. @throws Fault `unavailable` */
  list({ workspaceId, environment }: TenantScope): Promise<readonly SigningKey[]> {
    return this.#parts.store.viewerSessions.listKeys({ workspaceId, environment })
  }

  /** Returns the public keys that verify sessions (RFC 7517, section 4). @throws Fault `unavailable` */
  async keySet(scope: TenantScope): Promise<readonly object[]> {
    const now = this.#parts.clock.now()
    const keys = (await this.list(scope)).filter((key) => !isRetired(key, now))
    return keys.map(({ signingKeyId: kid, publicJwk }) => ({ ...publicJwk, alg: 'ES256', use: 'sig', kid }))
  }

  /**
   * Returns the key that signs now, which the first session creates. Replaces an old one in time.
   * @throws Fault `unavailable`
   */
  async signing(caller: Caller): Promise<{ readonly id: string; readonly privateKey: KeyObject }> {
    const now = this.#parts.clock.now()
    let keys = await this.list(caller)
    const latest = latestOf(keys)
    if (latest === undefined || now - latest.signsFrom > maxKeyAgeMs) {
      await this.#add({ ...caller, author: 'service' }, latest, false)
      keys = await this.list(caller)
    }
    const key = signingKeyAt(keys, now) ?? signingKeyAt(keys, Infinity)
    if (key === null) throw new Fault('unavailable', 'A session cannot be created at the moment')
    return { id: key.signingKeyId, privateKey: this.#privateKeyOf(key) }
  }

  /**
   * Replaces the key that signs. The new one is in the key set at once and signs later.
   * @param isTheft the new key signs at once, and all sessions of the others end
   * @throws Fault `unavailable`
   */
  async rotate(caller: Caller, isTheft: boolean): Promise<SigningKey> {
    for (;;) {
      const keys = await this.list(caller)
      const added = await this.#add(caller, latestOf(keys), isTheft)
      if (added !== null) return added
    }
  }

  /** Returns the public key with this id; null if the caller's workspace and environment has none. @throws Fault `unavailable` */
  async find(scope: TenantScope, keyId: string): Promise<KeyObject | null> {
    if (!keyId.startsWith(keyIdPrefix(scope))) return null
    const known = this.#publicKeys.get(keyId)
    if (known !== undefined) return known
    const key = (await this.list(scope)).find(({ signingKeyId }) => signingKeyId === keyId)
    if (key === undefined) return null
    const publicKey = publicKeyOf(key)
    this.#publicKeys.set(keyId, publicKey)
    return publicKey
  }

  /** Returns null if another key was added in between. */
  async #add(
    { workspaceId, environment, ...caller }: Caller,
    latest: SigningKey | undefined,
    isTheft: boolean,
  ): Promise<SigningKey | null> {
    const scope = { workspaceId, environment }
    const now = this.#parts.clock.now()
    const { signsFrom, othersRetiredAt } = planRotation(now, isTheft || latest === undefined)
    const { privateKey, ...generated } = generateSigningKey(scope)
    const name = { ...scope, signingKeyId: generated.signingKeyId }
    const sealed = this.#parts.keyring.seal(privateKey, signingKeyContext(name))
    const key = { ...name, ...generated, privateKey: sealed, createdAt: now, signsFrom, retiredAt: null }
    const outcome = await this.#parts.store.viewerSessions.addKey({
      ...actorOf({ ...scope, ...caller }),
      key,
      expectedKeyId: latest?.signingKeyId ?? null,
      othersRetiredAt,
      now,
    })
    if (typeof outcome === 'object') throw secretKeyRetired(outcome)
    return outcome === 'added' ? key : null
  }

  #privateKeyOf(key: SigningKey): KeyObject {
    const known = this.#privateKeys.get(key.signingKeyId)
    if (known !== undefined) return known
    try {
      const privateKey = privateKeyOf(this.#parts.keyring.open(key.privateKey, signingKeyContext(key)))
      this.#privateKeys.set(key.signingKeyId, privateKey)
      return privateKey
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      if (!error.isKeyMissing) this.#parts.store.integrity.suspect()
      throw new Fault('unavailable', 'A session cannot be created at the moment', {
        reason: `SIGNING_KEY_SEALED: ${error.message}; give this process the secret keys that the others have, or run \`ugs signing-key rotate --now\``,
      })
    }
  }
}

function latestOf(keys: readonly SigningKey[]): SigningKey | undefined {
  return keys.find(({ retiredAt }) => retiredAt === null)
}
