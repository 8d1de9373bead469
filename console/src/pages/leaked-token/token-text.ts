import type { EnvironmentTag } from '../../api/wire.ts'

const pattern = /\bug[at]_(customer|testing)_(?:[0-9A-Za-z]{38}|[0-9A-Za-z]{50})\b/

/** Extracts the token from pasted text, such as a log line. */
export function tokenIn(text: string): string {
  return pattern.exec(text)?.[0] ?? text.trim()
}

/** Returns the kind and environment that a token names, or undefined if it is incomplete. */
export function environmentOf(token: string): EnvironmentTag | undefined {
  const tag = pattern.exec(token)?.[1]
  return tag === undefined ? undefined : tag === 'customer' ? 'Customer' : 'Testing'
}
