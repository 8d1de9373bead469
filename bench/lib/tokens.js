import { crc32 } from 'node:zlib'
import { bucketOf } from '../../server/dist/domain/user-group/location.js'
import { idAt } from './ids.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns the location of a seeded user group. Its team id is the number of its id.
 * @param {import('./ids.js').Ids} ids
 * @param {number} index
 */
export function seededLocation(ids, index) {
  const providedId = idAt(ids, index)
  return {
    bucket: bucketOf({ workspaceId: 1, environment: 'Testing', providedId }),
    teamId: ids.first + index,
  }
}

/**
 * Returns the token of a seeded user group. It contains the team id in place of random digits, so that a load can compute it.
 * @param {import('../../server/dist/domain/user-group/locator.js').LocatorCodec} locators
 * @param {import('./ids.js').Ids} ids
 * @param {number} index
 */
export function seededToken(locators, ids, index) {
  const location = seededLocation(ids, index)
  const unchecked = `ugt_testing_${locators.encode(location)}${String(location.teamId).padStart(22, '0')}`
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
