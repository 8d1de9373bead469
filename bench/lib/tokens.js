import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The token of a user group that was seeded: the number in its id stands where others have what was drawn, so that a load
 * need not be told which token is whose.
 * @param {number} number
 */
export function seededToken(number) {
  const unchecked = `ugt_testing_${String(number).padStart(32, '0')}`
  return unchecked + checksum(unchecked)
}

/** As the service takes it (server/src/domain/token/token.ts). @param {string} text */
function checksum(text) {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = (alphabet[rest % 62] ?? '') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
