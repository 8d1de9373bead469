import { setTimeout as sleep } from 'node:timers/promises'
import { DecryptionError, type Keyring, type Sealed } from '../secret-key/keyring.ts'
import {
  contextOf,
  encryptedTokenTables,
  type ReencryptedToken,
  type EncryptedToken,
  type EncryptedTokenCursor,
} from './encrypted-token.ts'
import type { Store } from '../store.ts'

type EncryptedTokens = Pick<Store, 'encryptedTokens'>

/** Tokens re-encrypted in one transaction: few enough that other writers wait only about as long as for one or two creations. */
const batchSize = 200

export interface Reencryption {
  /** Number of re-encrypted tokens. */
  readonly reencrypted: number
  /** Tokens that the keyring cannot decrypt. They stay unchanged. */
  readonly undecryptable: readonly EncryptedToken[]
  /** Tokens found in the last pass. If any, another process still encrypts with another key. */
  readonly encryptedMeanwhile: number
}

/** The first pass re-encrypts; later passes find tokens that processes encrypted before they read the new keys. */
const maxPasses = 4

/**
 * Counts the user group tokens and webhook secrets that each secret key encrypts, by key id.
 * @throws Fault `unavailable`; the signal's abort reason
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

/** Reports progress: the number of tokens checked in a pass. */
type Report = (done: number, pass: number) => void

/**
 * Re-encrypts all user group tokens and webhook secrets with the current secret key, in batches. Repeats until a pass finds nothing to do, up to
 * `maxPasses`. Idempotent: after an interruption, a second run continues with the remaining tokens.
 * @param settled resolves once every process with the same source of keys encrypts with the same key
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

/** Makes one pass over all tokens. Leaves tokens that change during the pass to the next one. */
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
    const replacements = tokens
      .filter(({ token }) => token.keyId !== keyring.sealingKeyId)
      .flatMap((replaced): ReencryptedToken[] => {
        const token = reencryptedWith(keyring, replaced)
        if (token === null) undecryptable.push(replaced)
        return token === null ? [] : [{ replaced, token }]
      })
    if (replacements.length > 0) {
      reencrypted += await store.encryptedTokens.replace(replacements)
      // Pause for as long as the batch took, so that a service waiting for SQLite's write lock can get it.
      await sleep(performance.now() - startedAt)
    }
    report((done += tokens.length))
  }
  return { reencrypted, undecryptable }
}

function reencryptedWith(keyring: Keyring, { owner, token }: EncryptedToken): Sealed | null {
  const context = contextOf(owner)
  try {
    return keyring.seal(keyring.open(token, context), context)
  } catch (error) {
    if (error instanceof DecryptionError) return null
    throw error
  }
}

async function* pagesOf(store: EncryptedTokens): AsyncGenerator<readonly EncryptedToken[]> {
  let cursor: EncryptedTokenCursor | null = { table: encryptedTokenTables[0], after: null }
  while (cursor !== null) {
    const { tokens, next } = await store.encryptedTokens.list({ cursor, limit: batchSize })
    if (tokens.length > 0) yield tokens
    cursor = next
  }
}
