import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../environment.ts'
import { randomBytes } from '../util/random.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 32 // 32 × log2(62) = 190.5 bits
const checksumLength = 6 // 62^6 > 2^32

const prefixes = {
  userGroup: { Customer: 'ugt_customer_', Testing: 'ugt_testing_' },
  api: { Customer: 'uga_customer_', Testing: 'uga_testing_' },
} as const

export type TokenKind = keyof typeof prefixes

/** Generates a token with the operating system's random generator (contract, "Tokens"). */
export function generateToken(kind: TokenKind, environment: Environment): string {
  const unchecked = prefixes[kind][environment] + randomBase62(secretLength)
  // Flatten the string: V8 keeps a concatenated string as a rope, which takes more memory in caches.
  return Buffer.from(unchecked + checksum(unchecked), 'latin1').toString('latin1')
}

/**
 * Returns true if the text has the form of a token of this kind, with a valid checksum. The token may still never have been
 * issued; the check saves the store a lookup of most invalid tokens.
 */
export function isWellFormedToken(kind: TokenKind, text: string): boolean {
  const prefix = Object.values(prefixes[kind]).find((candidate) => text.startsWith(candidate))
  if (prefix === undefined || text.length !== prefix.length + secretLength + checksumLength) return false
  const unchecked = text.slice(0, -checksumLength)
  return /^[0-9A-Za-z]+$/.test(unchecked.slice(prefix.length)) && text.endsWith(checksum(unchecked))
}

/** Returns the SHA-256 by which a token is stored and looked up. A token has 190 random bits, so it needs no salt. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function randomBase62(length: number): string {
  const chars = Buffer.allocUnsafe(length)
  let count = 0
  while (count < length) {
    for (const byte of randomBytes(length)) {
      // Skip bytes from 248, the largest multiple of 62 in a byte: they would make some characters more likely.
      if (byte < 248 && count < length) chars[count++] = alphabet.charCodeAt(byte % 62)
    }
  }
  return chars.toString('latin1')
}

function checksum(text: string): string {
  let remainder = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet.charAt(remainder % 62) + digits
    remainder = Math.floor(remainder / 62)
  }
  return digits
}
