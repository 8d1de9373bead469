// Regular expressions of the JSON schemas, in a form that every dialect supports. `validator.ts` has a message for each.

/** No U+0000 to U+001F and no U+007F to U+009F. */
export const withoutControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
/** No U+0000, which no id contains. */
export const withoutNul = '^[^\\u0000]*$'
/** RFC 3339. */
export const timestamp =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$'
/** A positive integer as text, in a path or query. */
export const wholeNumber = '^[1-9][0-9]{0,15}$'
/** Up to 200 positive integers, separated by commas, in a query. */
export const wholeNumbers = '^[1-9][0-9]{0,15}(,[1-9][0-9]{0,15}){0,199}$'
/** A month, in a query. */
export const month = '^2[0-9]{3}-(0[1-9]|1[0-2])$'
/** A day. */
export const date = '^2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'
/** A SHA-256 in hex. */
export const sha256 = '^[0-9a-fA-F]{64}$'
/** The names of the separators of CSV (`delimiters`). */
export const delimiterNames = '^([,;|]|tab)$'
/** A number from 1 to 30 as text, in a query. */
export const upToThirty = '^([1-9]|[12][0-9]|30)$'
/** RFC 6901, with at least one step. */
export const pointer = '^(/([^~/\\u0000]|~[01])*)+$'
/** Name of the format of texts with at least one visible character. No pattern for that works in every dialect. */
export const visible = 'visible'
/**
 * Matches a text with a visible character, and the empty string, which `minLength` refuses with its own message. Unicode has no property
 * for the blank characters at the end.
 */
export const visibleText = /^$|[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{1d159}]/u
