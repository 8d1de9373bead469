import type { EnvironmentTag } from './wire.ts'

const pattern = /\bug[at]_(customer|testing)_(?:[0-9A-Za-z]{38}|[0-9A-Za-z]{50})\b/
const prefix = /ug[at]_(?:customer|testing)_/
const checksumLength = 6
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns true if a text has a token or the start of one. Such a text must not be part of an address, which is logged. */
export const mayHaveToken = (text: string): boolean => prefix.test(text) || /\beyJ[\w-]{20}/.test(text)

const session = /\beyJ[\w-]+\.[\w-]+\.[\w-]{86}/

/** Extracts the token from pasted text, such as a log line. */
export function tokenIn(text: string): string {
  return pattern.exec(text)?.[0] ?? session.exec(text)?.[0] ?? text.trim()
}

/** Returns the environment that a token names, or undefined if it is incomplete. */
export function environmentOf(token: string): EnvironmentTag | undefined {
  const tag = pattern.exec(token)?.[1]
  return tag === undefined ? undefined : tag === 'customer' ? 'Customer' : 'Testing'
}

/** Returns true if a text is a token with a correct checksum. */
export function isWholeToken(text: string): boolean {
  if (pattern.exec(text)?.[0] !== text) return false
  let rest = crc32(text.slice(0, -checksumLength))
  let checksum = ''
  for (let i = 0; i < checksumLength; i++) {
    checksum = `${digits.charAt(rest % digits.length)}${checksum}`
    rest = Math.floor(rest / digits.length)
  }
  return text.endsWith(checksum)
}

function crc32(ascii: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < ascii.length; i++) {
    crc ^= ascii.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
