import type { IncomingMessage } from 'node:http'
import { validationFailed } from '../domain/fault.ts'
import { shownPointer } from '../domain/json/json-pointer.ts'

/**
 * Returns the query parameters of a request.
 * @throws Fault `validation_failed`
 */
export function queryOf({ url = '' }: IncomingMessage, validate: (value: unknown) => void): unknown {
  const text = /\?(.*)$/s.exec(url)?.[1] ?? ''
  if (!isPercentEncodedUtf8(text))
    throw validationFailed([{ path: '', message: 'the query must be percent-encoded UTF-8' }])
  const parameters = new URLSearchParams(text)
  const names = new Set<string>()
  for (const name of parameters.keys()) {
    if (names.has(name))
      throw validationFailed([{ path: shownPointer([name]), message: 'is given more than once' }])
    names.add(name)
  }
  const query = Object.fromEntries(parameters)
  validate(query)
  return query
}

/** URLSearchParams replaces invalid UTF-8 by U+FFFD, which would search for a text that the client did not send. */
function isPercentEncodedUtf8(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
