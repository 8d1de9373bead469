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

/** Draws a token from the operating system's generator (contract, "Tokens"). */
export function generateToken(kind: TokenKind, environment: Environment): string {
  const unchecked = prefixes[kind][environment] + randomBase62(secretLength)
  // One piece: V8 would keep a text that was put together as its pieces, for as long as it is remembered.
  return Buffer.from(unchecked + checksum(unchecked), 'latin1').toString('latin1')
}

/**
 * Whether the text has the form of a token of this kind, checksum included. It says nothing of whether the token was
 * ever issued, but spares the store the look-up of what never was.
 */
export function isWellFormedToken(kind: TokenKind, text: string): boolean {
  const prefix = Object.values(prefixes[kind]).find((candidate) => text.startsWith(candidate))
  if (prefix === undefined || text.length !== prefix.length + secretLength + checksumLength) return false
  const unchecked = text.slice(0, -checksumLength)
  return /^[0-9A-Za-z]+$/.test(unchecked.slice(prefix.length)) && text.endsWith(checksum(unchecked))
}

/** What a token is kept and looked up by: its SHA-256. A token has 190 random bits, so that no salt is needed. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function randomBase62(length: number): string {
  const chars = Buffer.allocUnsafe(length)
  let count = 0
  while (count < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: above it, some characters would be likelier than others.
      if (byte < 248 && count < length) chars[count++] = alphabet.charCodeAt(byte % 62)
    }
  }
  return chars.toString('latin1')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
