import { withoutTokens } from '../fault.ts'
import type { JsonText } from '../json/json-text.ts'

/** Maximum length of a shown value, and of all together with their names. */
const maxValue = 200
const maxHead = 2000

/** Names of headers whose values may be credentials of the receiver. */
const secretNames = /cookie|token|secret|api-?key/i

/** Returns the first headers of a response as a JSON object, shortened and without credentials. */
export function responseHead(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): JsonText {
  const shown: Record<string, string> = {}
  let length = 0
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || secretNames.test(name)) continue
    const text = withoutTokens([value].flat().join(', ')).replaceAll(/\p{Cc}/gu, '?')
    const short = text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
    length += name.length + short.length
    if (length > maxHead) break
    shown[name] = short
  }
  return JSON.stringify(shown)
}
