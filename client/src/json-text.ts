/**
 * Returns the value as JSON. Omits undefined members, like JSON.stringify. Dates become ISO 8601 texts.
 * @throws TypeError for values that JSON would silently change or lose, such as NaN, -0, and undefined in an array
 */
export function jsonText(value: object): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, member: unknown) {
    // `member` is what `toJSON` made of it: null of an invalid date.
    if (isAltered(this, member) || (member === null && this[key] !== null))
      throw new TypeError(`${JSON.stringify(key)} cannot be represented in JSON`)
    return member
  })
}

function isAltered(holder: object, member: unknown): boolean {
  switch (typeof member) {
    case 'number':
      return !Number.isFinite(member) || Object.is(member, -0)
    case 'undefined':
      return Array.isArray(holder)
    case 'object':
      return member !== null && !isPlain(member)
    case 'string':
    case 'boolean':
      return false
    default:
      return true
  }
}

/** Returns whether JSON has all members of an object. Arrays may have members besides their elements. */
function isPlain(value: object): boolean {
  const name = Object.prototype.toString.call(value)
  if (name !== '[object Object]' && name !== '[object Array]') return false
  const isWhole = !Array.isArray(value) || Object.keys(value).length === value.length
  return isWhole && Object.getOwnPropertySymbols(value).length === 0
}
