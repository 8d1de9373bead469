import type { EnvironmentTag } from '../../api/wire.ts'

const pattern = /\bug[at]_(customer|testing)_[0-9A-Za-z]{38}\b/

/** The token in what was pasted: a line of a log, or the token with spaces around it. */
export function tokenIn(text: string): string {
  return pattern.exec(text)?.[0] ?? text.trim()
}

/** What the token says about where it is from; undefined where it is no whole token. */
export function environmentOf(token: string): EnvironmentTag | undefined {
  const tag = pattern.exec(token)?.[1]
  return tag === undefined ? undefined : tag === 'customer' ? 'Customer' : 'Testing'
}
