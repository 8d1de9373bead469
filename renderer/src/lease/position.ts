/** A position in the event feed: `STORE-N` or `STORE-N.N.N`, with decimal numbers of any length. */
export interface Position {
  readonly text: string
  readonly store: string
  readonly numbers: readonly bigint[]
}

const maxLength = 200

/** Returns undefined for a missing or malformed position. */
export function parsePosition(text: string | null | undefined): Position | undefined {
  if (typeof text !== 'string' || text.length > maxLength) return undefined
  const [, store, numbers] = /^([0-9a-z]+)-(\d+(?:\.\d+)*)$/.exec(text) ?? []
  if (store === undefined || numbers === undefined) return undefined
  return { text, store, numbers: numbers.split('.').map(BigInt) }
}

/** Positions of different stores, or of one store before and after a change of its form, have no order. */
export function isComparable(a: Position, b: Position): boolean {
  return a.store === b.store && a.numbers.length === b.numbers.length
}

/** Returns whether `a` includes everything that `b` includes. False for positions without an order. */
export function includes(a: Position, b: Position): boolean {
  if (!isComparable(a, b)) return false
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n
    if (number !== other) return number > other
  }
  return true
}
