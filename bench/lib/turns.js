/**
 * The contestants in the order of a round: who comes first takes turns too.
 * @template T
 * @param {readonly T[]} contestants
 * @param {number} round
 * @returns {T[]}
 */
export function rotated(contestants, round) {
  const first = round % contestants.length
  return [...contestants.slice(first), ...contestants.slice(0, first)]
}
