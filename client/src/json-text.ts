/** A request body whose members may be undefined. Undefined members are omitted. */
export type WithUndefined<Body> = { readonly [Name in keyof Body]: Body[Name] | undefined }

/**
 * Returns the value as JSON. Omits undefined members, like JSON.stringify.
 * @throws TypeError for values that JSON.stringify would silently change, such as NaN
 */
export function jsonText(value: object): string {
  return JSON.stringify(value, function (this: unknown, key, member: unknown) {
    if (isAltered(this, member)) {
      throw new TypeError(`${JSON.stringify(key)} cannot be represented in JSON`)
    }
    return member
  })
}

function isAltered(holder: unknown, member: unknown): boolean {
  switch (typeof member) {
    case 'number':
      return !Number.isFinite(member)
    case 'undefined':
      return Array.isArray(holder)
    case 'object':
      return member !== null && !/^\[object (Object|Array)\]$/.test(Object.prototype.toString.call(member))
    case 'bigint':
    case 'function':
    case 'symbol':
      return true
    default:
      return false
  }
}
