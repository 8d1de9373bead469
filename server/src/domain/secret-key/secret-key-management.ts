import { setTimeout as sleep } from 'node:timers/promises'
import { DecryptionError, type Keyring, type Sealed } from './keyring.ts'
import {
  encryptedTokenPlaces,
  type ReencryptedToken,
  type EncryptedToken,
  type EncryptedTokenCursor,
} from '../token/encrypted-token.ts'
import type { Store } from '../store.ts'
import { encryptionContext } from '../user-group/user-group.ts'

type EncryptedTokens = Pick<Store, 'encryptedTokens'>

/** How many are sealed anew in one transaction: others wait for it no longer than for a creation or two. */
const batchSize = 200

export interface Reencryption {
  /** How many were sealed anew. */
  readonly reencrypted: number
  /** Those that the keyring does not open: they stay as they are. */
  readonly undecryptable: readonly EncryptedToken[]
  /** How many were found in the last pass: a process seals with another key, and there is no end to it. */
  readonly encryptedMeanwhile: number
}

/** One seals anew, the next takes along what was under way, or sealed before its process had read the file. */
const maxPasses = 4

/**
 * How many user group tokens are sealed with each secret key, by its id.
 * @throws Fault `unavailable`; what the signal was aborted with
 */
export async function countEncryptedTokens(
  store: EncryptedTokens,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const tokens of pagesOf(store)) {
    signal?.throwIfAborted()
    for (const { token } of tokens) counts.set(token.keyId, (counts.get(token.keyId) ?? 0) + 1)
  }
  return counts
}

/** How many tokens were looked at; the first pass seals them anew, and those after it look whether any are left. */
type Report = (done: number, pass: number) => void

/**
 * Has every user group token sealed with the key that seals, some at a time, until nothing else is found, or what is found
 * is new each time. It may be ended at any time, and goes on when it is run again: what is done is not done twice.
 * @param settled resolves once every process that has the same source of keys seals with the same one
 * @throws Fault `unavailable`
 */
export async function reencryptTokens(
  store: EncryptedTokens,
  keyring: Keyring,
  report: Report,
  settled: () => Promise<void>,
): Promise<Reencryption> {
  let reencrypted = 0
  for (let pass = 1; ; pass++) {
    const outcome = await reencryptOnce(store, keyring, (done) => report(done, pass))
    reencrypted += outcome.reencrypted
    if (outcome.reencrypted === 0 || pass === maxPasses)
      return { reencrypted, undecryptable: outcome.undecryptable, encryptedMeanwhile: outcome.reencrypted }
    if (pass === 1) await settled()
  }
}

/** What a call of the service worked on, or sealed behind it, is left to the next. */
async function reencryptOnce(
  store: EncryptedTokens,
  keyring: Keyring,
  report: (done: number) => void,
): Promise<Omit<Reencryption, 'encryptedMeanwhile'>> {
  const undecryptable: EncryptedToken[] = []
  let reencrypted = 0
  let done = 0
  for await (const tokens of pagesOf(store)) {
    const startedAt = performance.now()
    const anew = tokens
      .filter(({ token }) => token.keyId !== keyring.sealingKeyId)
      .flatMap((replaced): ReencryptedToken[] => {
        const token = reencryptedWith(keyring, replaced)
        if (token === null) undecryptable.push(replaced)
        return token === null ? [] : [{ replaced, token }]
      })
    if (anew.length > 0) {
      reencrypted += await store.encryptedTokens.replace(anew)
      // As long as it took: a service that waits for the lock of an embedded store gets it now.
      await sleep(performance.now() - startedAt)
    }
    report((done += tokens.length))
  }
  return { reencrypted, undecryptable }
}

function reencryptedWith(keyring: Keyring, { userGroup, token }: EncryptedToken): Sealed | null {
  const context = encryptionContext(userGroup)
  try {
    return keyring.seal(keyring.open(token, context), context)
  } catch (error) {
    if (error instanceof DecryptionError) return null
    throw error
  }
}

async function* pagesOf(
  store: EncryptedTokens,
): AsyncGenerator<readonly EncryptedToken[]> {
  let cursor: EncryptedTokenCursor | null = { place: encryptedTokenPlaces[0], after: null }
  while (cursor !== null) {
    const { tokens, next } = await store.encryptedTokens.list({ cursor, limit: batchSize })
    if (tokens.length > 0) yield tokens
    cursor = next
  }
}
