import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../../src/domain/environment.ts'
import { LocatorCodec } from '../../src/domain/user-group/locator.ts'
import { generateUserGroupToken, locatorOf } from '../../src/domain/token/token.ts'

/** Returns a well-formed user group token that no store has issued. */
export function unknownToken(environment: Environment): string {
  return generateUserGroupToken(
    environment,
    new LocatorCodec(randomBytes(16)).encode({ bucket: 0, teamId: 1 }),
  )
}

/** Returns a token with the locator of another one and its own secret. */
export function forged(token: string): string {
  const environment = token.startsWith('ugt_testing_') ? 'Testing' : 'Customer'
  return generateUserGroupToken(environment, locatorOf(token) ?? '')
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Computes the checksum of a token by its definition. */
export function checksumOf(text: string): string {
  const digits: string[] = []
  for (let rest = crc32(text); digits.length < 6; rest = Math.floor(rest / 62))
    digits.unshift(base62.charAt(rest % 62))
  return digits.join('')
}
