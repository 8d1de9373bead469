/**
 * Returns the contestants in the order of a round, which starts with a different one each time.
 * @template T
 * @param {readonly T[]} contestants
 * @param {number} round
 * @returns {T[]}
 */
export function rotated(contestants, round) {
  const first = round % contestants.length
  return [...contestants.slice(first), ...contestants.slice(0, first)]
}
