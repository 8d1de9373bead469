import { hash } from 'node:crypto'

/**
 * Texts, remembered by 64 bits of their SHA-256 each, so that millions of them take some 16 bytes apiece. Among
 * 1,000,000 of them the chance that any two are taken for one is 3 in 100,000,000.
 */
export class HashSet {
  /** Open addressing; at most half of the slots are taken, and 0 is a free one. */
  #slots = new BigUint64Array(1024)
  #size = 0

  /** Whether the text is new. */
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
