import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Store } from '../../domain/store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { Look } from '../../domain/usage/look.ts'
import type { Clock } from '../../domain/util/clock.ts'
import type { UserGroupState } from '../../domain/user-group/user-group-store.ts'
import type { Operation } from '../operations.ts'

export type CachedOperation = Extract<Operation, 'getOrCreate' | 'introspect'>

export interface CacheableResponse {
  readonly json: string
  /** State of the user group that the response describes; null if there is none, or if it was not read. */
  readonly state: UserGroupState | null
  /** Time until which the response is valid if the user group is unchanged, in milliseconds since the Unix epoch. 0 if unknown. */
  readonly cacheUntil: number
  /** The look of an active introspection. */
  readonly look?: Look
}

interface Entry extends CacheableResponse {
  readonly state: UserGroupState
}

/** Maximum size of an entry, so that a few large ones do not evict all others. */
export const maxEntryBytes = 32 * 1024
/** Memory per entry besides its texts. */
const entryOverheadBytes = 300
/** Bits of the table of seen requests: 256 KB. */
const seenBits = 2 ** 21
/** Number of set bits at which the table is cleared, so that few new requests look repeated. */
const maxSeen = seenBits / 4

/**
 * Ready responses by operation, tenant scope and request body. Before each use the store confirms that the user group has not
 * changed (decision 0026). Once the cache is half full, a response is cached when its request arrives for the second time, so that
 * requests that are never repeated evict nothing.
 */
export class ResponseCache {
  readonly #store: Pick<Store, 'userGroups'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #responses: LRUCache<string, Entry> | undefined
  /** One bit per checksum of a recent request. */
  readonly #seen = new Uint8Array(seenBits / 8)
  #seenCount = 0

  /** @param maxBytes maximum size of all entries; 0 turns the cache off. */
  constructor(store: Pick<Store, 'userGroups'>, maxBytes: number, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
    if (maxBytes > 0) this.#responses = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxEntryBytes })
  }

  /**
   * Returns the cached response if it is still valid, or else that of `respond`.
   * @throws Fault `unavailable`, and the errors of `respond`
   */
  async get(
    operation: CachedOperation,
    { workspaceId, environment }: TenantScope,
    body: Buffer,
    respond: () => Promise<CacheableResponse>,
  ): Promise<CacheableResponse> {
    if (this.#responses === undefined || body.length > maxEntryBytes) return respond()
    // Latin-1 maps each byte to one character: different bodies have different keys.
    const key = `${operation}/${workspaceId}/${environment}/${body.toString('latin1')}`
    const cached = this.#responses.get(key)
    if (cached !== undefined && this.#clock.now() < cached.cacheUntil) {
      if (await this.#store.userGroups.isUnchanged(workspaceId, environment, cached.state)) return cached
    }
    const response = await respond()
    const { state, cacheUntil, look } = response
    if (cacheUntil > 0 && state !== null && (hasRoom(this.#responses) || this.#isRepeated(key))) {
      // A text built by concatenation is a tree, which V8 would flatten for each response.
      const json = Buffer.from(response.json).toString()
      const names = look === undefined ? '' : look.viewerId + look.resource
      const size = sizeOf(key) + sizeOf(json) + sizeOf(names) + entryOverheadBytes
      const { bucket, teamId } = state.location
      // A copy, because a location may be part of a larger object.
      const kept = { location: look ?? { bucket, teamId }, stamp: state.stamp }
      this.#responses.set(key, { json, state: kept, cacheUntil, ...(look && { look }) }, { size })
    }
    return response
  }

  /** Returns true if the request has been seen before, and records it. */
  #isRepeated(key: string): boolean {
    const bit = crc32(key) % seenBits
    const index = bit >> 3
    const byte = this.#seen[index] as number
    const mask = 1 << (bit & 7)
    if ((byte & mask) !== 0) return true
    if (this.#seenCount === maxSeen) {
      this.#seen.fill(0)
      this.#seenCount = 0
    }
    this.#seen[index] = byte | mask
    this.#seenCount++
    return false
  }
}

function hasRoom({ calculatedSize, maxSize }: LRUCache<string, Entry>): boolean {
  return calculatedSize < maxSize / 2
}

/** Returns the memory of a text in bytes: V8 stores two per character unless all characters fit one. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text, 'utf8') === text.length ? text.length : 2 * text.length
}
