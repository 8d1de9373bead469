import { setTimeout as sleep } from 'node:timers/promises'
import { UnsealError, type Keyring, type Sealed } from './keyring.ts'
import {
  sealedTokenPlaces,
  type ResealedToken,
  type SealedToken,
  type SealedTokenCursor,
} from '../token/encrypted-token.ts'
import type { Store } from '../store.ts'
import { sealingContext } from '../user-group/user-group.ts'

type SealedTokens = Pick<Store, 'listSealedTokens' | 'replaceSealedTokens'>

/** How many are sealed anew in one transaction: others wait for it no longer than for a creation or two. */
const batchSize = 200

export interface Resealing {
  /** How many were sealed anew. */
  readonly resealed: number
  /** Those that the keyring does not open: they stay as they are. */
  readonly unopened: readonly SealedToken[]
  /** How many were found in the last pass: a process seals with another key, and there is no end to it. */
  readonly sealedMeanwhile: number
}

/** One seals anew, the next takes along what was under way, or sealed before its process had read the file. */
const mostPasses = 4

/**
 * How many user group tokens are sealed with each secret key, by its id.
 * @throws Fault `unavailable`; what the signal was aborted with
 */
export async function countSealedTokens(
  store: Pick<SealedTokens, 'listSealedTokens'>,
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
export async function resealTokens(
  store: SealedTokens,
  keyring: Keyring,
  report: Report,
  settled: () => Promise<void>,
): Promise<Resealing> {
  let resealed = 0
  for (let pass = 1; ; pass++) {
    const outcome = await resealOnce(store, keyring, (done) => report(done, pass))
    resealed += outcome.resealed
    if (outcome.resealed === 0 || pass === mostPasses)
      return { resealed, unopened: outcome.unopened, sealedMeanwhile: outcome.resealed }
    if (pass === 1) await settled()
  }
}

/** What a call of the service worked on, or sealed behind it, is left to the next. */
async function resealOnce(
  store: SealedTokens,
  keyring: Keyring,
  report: (done: number) => void,
): Promise<Omit<Resealing, 'sealedMeanwhile'>> {
  const unopened: SealedToken[] = []
  let resealed = 0
  let done = 0
  for await (const tokens of pagesOf(store)) {
    const startedAt = performance.now()
    const anew = tokens
      .filter(({ token }) => token.keyId !== keyring.sealingKeyId)
      .flatMap((replaced): ResealedToken[] => {
        const token = resealedWith(keyring, replaced)
        if (token === null) unopened.push(replaced)
        return token === null ? [] : [{ replaced, token }]
      })
    if (anew.length > 0) {
      resealed += await store.replaceSealedTokens(anew)
      // As long as it took: a service that waits for the lock of an embedded store gets it now.
      await sleep(performance.now() - startedAt)
    }
    report((done += tokens.length))
  }
  return { resealed, unopened }
}

function resealedWith(keyring: Keyring, { userGroup, token }: SealedToken): Sealed | null {
  const context = sealingContext(userGroup)
  try {
    return keyring.seal(keyring.open(token, context), context)
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}

async function* pagesOf(
  store: Pick<SealedTokens, 'listSealedTokens'>,
): AsyncGenerator<readonly SealedToken[]> {
  let cursor: SealedTokenCursor | null = { place: sealedTokenPlaces[0], after: null }
  while (cursor !== null) {
    const { tokens, next } = await store.listSealedTokens({ cursor, limit: batchSize })
    if (tokens.length > 0) yield tokens
    cursor = next
  }
}
