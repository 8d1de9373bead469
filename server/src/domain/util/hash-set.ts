import { hash } from 'node:crypto'

/**
 * A set of texts that keeps 64 bits of the SHA-256 of each, about 16 bytes per text. The probability of a collision among
 * 1,000,000 texts is 3 in 100,000,000.
 */
export class HashSet {
  /** Open addressing with a load factor of at most one half. 0 marks a free slot. */
  #slots = new BigUint64Array(1024)
  #size = 0

  /** Adds a text. Returns false if it was in the set before. */
  add(text: string): boolean {
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const isNew = put(this.#slots, hash('sha256', text, 'buffer').readBigUInt64LE() || 1n)
    if (isNew) this.#size++
    return isNew
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2)
    for (const digest of this.#slots) if (digest !== 0n) put(larger, digest)
    this.#slots = larger
  }
}

function put(slots: BigUint64Array, digest: bigint): boolean {
  const mask = slots.length - 1
  for (let slot = Number(digest & 0xffff_ffffn) & mask; ; slot = (slot + 1) & mask) {
    if (slots[slot] === digest) return false
    if (slots[slot] !== 0n) continue
    slots[slot] = digest
    return true
  }
}
