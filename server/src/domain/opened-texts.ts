import type { Sealed } from './keyring.ts'

const slotCount = 110_000
/** A text is in one of so many slots, from the one that its nonce names: of 100,000, nineteen in twenty find a place. */
const placesOfOne = 16
/** The longest that are remembered, in bytes: what a token is sealed to, with what key for whom, and the token. */
const longestSealed = 80
const longestOwner = 90
const longestText = 56

// A slot, from its first byte. All of them take 26 MB, once there is as much to remember.
const sealedLengthAt = 0
const ownerLengthAt = 1
const textLengthAt = 2
const sealedAt = 3
const ownerAt = sealedAt + longestSealed
const textAt = ownerAt + longestOwner
const slotBytes = textAt + longestText

/**
 * What was opened lately, each by all of what it was sealed to, with what key and for what context. All of it lies outside of the heap,
 * where the garbage collector does not look.
 */
export class OpenedTexts {
  /** Of each slot: four bytes of the nonce, so that most others are told apart by one look; 0 is an empty slot. */
  readonly #tags = new Int32Array(slotCount)
  readonly #slots = Buffer.alloc(slotCount * slotBytes)
  /** Of what is looked for. There is room for more, so that what is cut off is never taken for what was remembered. */
  readonly #owner = Buffer.alloc(longestOwner + 4)
  #replaced = 0

  get({ keyId, sealed }: Sealed, context: string): string | undefined {
    const tag = tagOf(sealed)
    const first = firstSlotOf(sealed)
    for (let place = 0; place < placesOfOne; place++) {
      const slot = (first + place) % slotCount
      if (this.#tags[slot] !== tag) continue
      const ownerLength = this.#owner.write(ownerOf(keyId, context))
      const start = slot * slotBytes
      const slots = this.#slots
      if (
        slots[start + sealedLengthAt] === sealed.length &&
        slots[start + ownerLengthAt] === ownerLength &&
        isAt(slots, start + sealedAt, sealed, sealed.length) &&
        isAt(slots, start + ownerAt, this.#owner, ownerLength)
      ) {
        const text = start + textAt
        return slots.toString('latin1', text, text + (slots[start + textLengthAt] as number))
      }
    }
    return undefined
  }

  /** One that is remembered already is not to be set again: it would take another's place. */
  set({ keyId, sealed }: Sealed, context: string, text: string): void {
    const owner = ownerOf(keyId, context)
    const fits =
      sealed.length <= longestSealed &&
      Buffer.byteLength(owner) <= longestOwner &&
      text.length <= longestText &&
      Buffer.byteLength(text) === text.length
    if (!fits) return
    const first = firstSlotOf(sealed)
    let place = 0
    while (place < placesOfOne && this.#tags[(first + place) % slotCount] !== 0) place++
    // Where all are taken, each is replaced in turn.
    if (place === placesOfOne) place = this.#replaced++ % placesOfOne
    const slot = (first + place) % slotCount
    const start = slot * slotBytes
    const slots = this.#slots
    this.#tags[slot] = tagOf(sealed)
    slots[start + sealedLengthAt] = sealed.length
    slots.set(sealed, start + sealedAt)
    slots[start + ownerLengthAt] = slots.write(owner, start + ownerAt)
    slots[start + textLengthAt] = slots.write(text, start + textAt, 'latin1')
  }
}

function ownerOf(keyId: string, context: string): string {
  return `${keyId}/${context}`
}

function isAt(all: Uint8Array, start: number, bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (all[start + i] !== bytes[i]) return false
  return true
}

// What is sealed begins with a nonce, which is random.

function firstSlotOf(sealed: Uint8Array): number {
  return (int32At(sealed, 0) >>> 0) % slotCount
}

function tagOf(sealed: Uint8Array): number {
  return int32At(sealed, 4) | 1
}

/** What is too short to be sealed counts as zeros. */
function int32At(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return 0
  const byte = (i: number) => bytes[at + i] as number
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)
}
