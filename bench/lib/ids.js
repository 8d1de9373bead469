/**
 * Ids of user groups: a prefix and a number. All ids of a range have the same length, so that one can overwrite another.
 * @typedef {object} Ids
 * @property {string} prefix
 * @property {number} first
 * @property {number} count
 */

/** Read repeatedly. @type {Ids} */
export const knownIds = { prefix: 'customer-', first: 10_000, count: 1024 }

/** Without a prefix, because pgbench generates numbers. @type {Ids} */
export const manyKnownIds = { prefix: '', first: 1_000_000, count: 100_000 }

/** Changed repeatedly. @type {Ids} */
export const changedIds = { prefix: '', first: 2_000_000, count: 100_000 }

/** Rotated once each; every round uses its own part. @type {Ids} */
export const rotatedIds = { prefix: '', first: 3_000_000, count: 500_000 }

const rotatedInARound = 20_000

/** @returns {() => Ids} returns ids whose tokens have not been rotated in this case's store */
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
 * Returns unused ids for a round of creations, without a prefix. Each call returns larger ids.
 * @returns {Ids}
 */
export function freshIds() {
  return { prefix: '', first: 10_000_000_000 + rounds++ * 10_000_000, count: 10_000_000 }
}

/**
 * @param {Ids} ids
 * @param {number} index from 0 to count - 1
 */
export function idAt({ prefix, first }, index) {
  return `${prefix}${first + index}`
}

/**
 * Splits ids into one range per caller, so that two callers never use the same user group at the same time.
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
 * Returns a generator of indexes: random ones forever, or each once.
 * @param {Ids} ids
 * @param {'random' | 'once'} order
 * @returns {() => number | undefined} undefined at the end
 */
export function indexes({ count }, order) {
  if (order === 'random') return () => Math.floor(Math.random() * count)
  let next = 0
  return () => (next < count ? next++ : undefined)
}
