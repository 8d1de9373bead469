import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns the token of a seeded user group. It contains the number of the id in place of random digits, so that a load can
 * compute it.
 * @param {number} number
 */
export function seededToken(number) {
  const unchecked = `ugt_testing_${String(number).padStart(32, '0')}`
  return unchecked + checksum(unchecked)
}

/** Same checksum as in server/src/domain/token/token.ts. @param {string} text */
function checksum(text) {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = (alphabet[rest % 62] ?? '') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
