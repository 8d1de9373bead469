// Regular expressions of the JSON schemas, in a form that every dialect supports. `validator.ts` has a message for each.

/**
 * No U+0000 to U+001F, no U+007F, and not only white space. One pattern, because OpenAPI generators stumble over `allOf` in a
 * string. Matches the empty string too, which `minLength` refuses with its own message.
 */
export const visibleText =
  '^([^\\S\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*)?$'
/** No U+0000, which no id contains. */
export const withoutNul = '^[^\\u0000]*$'
/** RFC 3339. */
export const timestamp =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$'
/** A positive integer as text, in a path or query. */
export const wholeNumber = '^[1-9][0-9]{0,15}$'
/** Up to 200 positive integers, separated by commas, in a query. */
export const wholeNumbers = '^[1-9][0-9]{0,15}(,[1-9][0-9]{0,15}){0,199}$'
/** A number from 1 to 30 as text, in a query. */
export const upToThirty = '^([1-9]|[12][0-9]|30)$'
/** RFC 6901, with at least one step. */
export const pointer = '^(/([^~/\\u0000]|~[01])*)+$'
