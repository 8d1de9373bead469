/**
 * Ids of user groups: the prefix, then a number. All have the same length, so that one can be written over another.
 * @typedef {object} Ids
 * @property {string} prefix
 * @property {number} first
 * @property {number} count
 */

/** Those that the loads ask for over and over. @type {Ids} */
export const knownIds = { prefix: 'customer-', first: 10_000, count: 1024 }

/** Numbers alone: pgbench can draw them. @type {Ids} */
export const manyKnownIds = { prefix: '', first: 1_000_000, count: 100_000 }

/** Seeded beside them: those that are changed over and over. @type {Ids} */
export const changedIds = { prefix: '', first: 2_000_000, count: 100_000 }

/** And those whose tokens are rotated, each once: a share of them for each round. @type {Ids} */
export const rotatedIds = { prefix: '', first: 3_000_000, count: 500_000 }

const rotatedInARound = 20_000

/** @returns {() => Ids} gives those whose token nobody has rotated, in the store of one case */
export function rotations() {
  let rotated = 0
  return () => {
    const first = rotatedIds.first + rotated
    rotated += rotatedInARound
    return { ...rotatedIds, first, count: rotatedInARound }
  }
}

let rounds = 0

/**
 * Ids that nobody has had, for a round of creations; a later round's come after them. They are numbers alone too.
 * @returns {Ids}
 */
export function freshIds() {
  return { prefix: '', first: 10_000_000_000 + rounds++ * 10_000_000, count: 10_000_000 }
}

/**
 * @param {Ids} ids
 * @param {number} index from 0 to the count - 1
 */
export function idAt({ prefix, first }, index) {
  return `${prefix}${first + index}`
}

/**
 * As many ranges as there are callers, so that no two ask for the same user group at the same time.
 * @param {Ids} ids
 * @param {number} callers
 * @returns {Ids[]}
 */
export function shares({ prefix, first, count }, callers) {
  const each = Math.floor(count / callers)
  return Array.from({ length: callers }, (_, caller) => ({
    prefix,
    first: first + caller * each,
    count: caller === callers - 1 ? count - caller * each : each,
  }))
}

/**
 * The indexes that a caller asks for, one after another: at random and without end, or each once.
 * @param {Ids} ids
 * @param {'random' | 'once'} order
 * @returns {() => number | undefined} undefined at the end
 */
export function indexes({ count }, order) {
  if (order === 'random') return () => Math.floor(Math.random() * count)
  let next = 0
  return () => (next < count ? next++ : undefined)
}
