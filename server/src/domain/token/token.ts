import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { environments, type Environment } from '../environment.ts'
import { randomBytes } from '../util/random.ts'
import { base62Digit, base62Pattern } from './base62.ts'

/** 62^22 > 2^128: the digits of an encrypted block of 16 bytes. */
export const locatorLength = 22
const apiSecretLength = 32 // 32 × log2(62) = 190.5 bits
const userGroupSecretLength = 22 // 130.9 bits
const checksumLength = 6 // 62^6 > 2^32

const prefixes = {
  userGroup: { Customer: 'ugt_customer_', Testing: 'ugt_testing_' },
  api: { Customer: 'uga_customer_', Testing: 'uga_testing_' },
} as const

export function generateApiToken(environment: Environment): string {
  return withChecksum(prefixes.api[environment] + randomBase62(apiSecretLength))
}

/** @param locator location of the row of the user group (`LocatorCodec`) */
export function generateUserGroupToken(environment: Environment, locator: string): string {
  return withChecksum(prefixes.userGroup[environment] + locator + randomBase62(userGroupSecretLength))
}

/**
 * Returns true if the text has the form of an API token, with a valid checksum. The token may still never have been issued; the
 * check saves the store a lookup of most invalid tokens.
 */
export function isWellFormedApiToken(text: string): boolean {
  return bodyOf('api', text)?.length === apiSecretLength
}

/** Returns the environment of a text that has the form of an API token, with a valid checksum. Returns null for any other text. */
export function environmentOfApiToken(text: string): Environment | null {
  if (!isWellFormedApiToken(text)) return null
  return environments.find((environment) => text.startsWith(prefixes.api[environment])) ?? null
}

/** Returns the locator of a text that has the form of a user group token, with a valid checksum. Returns null for any other text. */
export function locatorOf(text: string): string | null {
  const body = bodyOf('userGroup', text)
  return body?.length === locatorLength + userGroupSecretLength ? body.slice(0, locatorLength) : null
}

/** Returns the SHA-256 that verifies a token. A token has at least 128 random bits, so it needs no salt. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Returns the part between prefix and checksum; null if the prefix, a character or the checksum is wrong. */
function bodyOf(kind: keyof typeof prefixes, text: string): string | null {
  const prefix = Object.values(prefixes[kind]).find((candidate) => text.startsWith(candidate))
  if (prefix === undefined) return null
  const unchecked = text.slice(0, -checksumLength)
  const body = unchecked.slice(prefix.length)
  return base62Pattern.test(body) && text.endsWith(checksum(unchecked)) ? body : null
}

function withChecksum(unchecked: string): string {
  // Flatten the string: V8 keeps a concatenated string as a rope, which takes more memory in caches.
  return Buffer.from(unchecked + checksum(unchecked), 'latin1').toString('latin1')
}

/** Returns random digits in base 62. */
export function randomBase62(length: number): string {
  let chars = ''
  while (chars.length < length) {
    for (const byte of randomBytes(length)) {
      // Skip bytes from 248, the largest multiple of 62 in a byte: they would make some characters more likely.
      if (byte < 248 && chars.length < length) chars += base62Digit(byte % 62)
    }
  }
  return chars
}

function checksum(text: string): string {
  let remainder = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = base62Digit(remainder % 62) + digits
    remainder = Math.floor(remainder / 62)
  }
  return digits
}
