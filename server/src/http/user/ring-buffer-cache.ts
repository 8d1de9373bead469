/** Size of a key, in bytes. */
export const keyBytes = 16
const lengthBytes = 2
const headBytes = keyBytes + lengthBytes

/** A key is in one of so many slots, from the one that it names on. */
const placesOfOne = 16
const slotCount = 15_000 * placesOfOne
/** All texts with their keys, in bytes: some 200,000 of 120 bytes. */
const capacity = 24 * 1024 * 1024
/** So that a few do not push out all others. */
export const longestText = 16 * 1024

/**
 * The texts that were set last, each by a key of random bytes, such as a part of a SHA-256. They lie one after another in one piece of memory, and
 * what is full is written over from its beginning. That is outside of the heap, where the garbage collector does not look.
 */
export class TextRing {
  /** Of each slot: four bytes of the key, so that most others are told apart by one look. */
  readonly #tags = new Int32Array(slotCount)
  /** And where its text is, as a count of all bytes that were ever written before it: so it is known whether it was written over. */
  readonly #starts = new Float64Array(slotCount).fill(-Infinity)
  readonly #bytes = Buffer.alloc(capacity)
  #written = 0

  get(key: Buffer): string | undefined {
    const slot = this.#slotOf(key)
    if (slot === undefined) return undefined
    const at = (this.#starts[slot] as number) % capacity
    const text = at + headBytes
    return this.#bytes.toString('utf8', text, text + this.#bytes.readUInt16LE(at + keyBytes))
  }

  /** In place of what was set with this key before. One that is too long is not kept. */
  set(key: Buffer, text: string): void {
    const length = Buffer.byteLength(text)
    if (length > longestText) return
    const size = headBytes + length
    // A text is in one piece.
    const left = capacity - (this.#written % capacity)
    if (size > left) this.#written += left
    const slot = this.#slotOf(key) ?? this.#oldestSlotFor(key)
    this.#tags[slot] = tagOf(key)
    this.#starts[slot] = this.#written
    const at = this.#written % capacity
    this.#bytes.set(key, at)
    this.#bytes.writeUInt16LE(length, at + keyBytes)
    this.#bytes.write(text, at + headBytes)
    this.#written += size
  }

  #slotOf(key: Buffer): number | undefined {
    const tag = tagOf(key)
    const first = firstSlotOf(key)
    for (let slot = first; slot < first + placesOfOne; slot++) {
      if (this.#tags[slot] !== tag) continue
      const start = this.#starts[slot] as number
      if (start + capacity < this.#written) continue
      const at = start % capacity
      if (key.compare(this.#bytes, at, at + keyBytes) === 0) return slot
    }
    return undefined
  }

  #oldestSlotFor(key: Buffer): number {
    const first = firstSlotOf(key)
    let oldest = first
    for (let slot = first + 1; slot < first + placesOfOne; slot++)
      if ((this.#starts[slot] as number) < (this.#starts[oldest] as number)) oldest = slot
    return oldest
  }
}

function firstSlotOf(key: Buffer): number {
  return (key.readUInt32LE(0) * placesOfOne) % slotCount
}

function tagOf(key: Buffer): number {
  return key.readInt32LE(4)
}
