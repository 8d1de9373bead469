/** What is to be JSON. Its members may be undefined: those are left out. */
export type Unset<Body> = { readonly [Name in keyof Body]: Body[Name] | undefined }

/**
 * The value as JSON. Members that are undefined are left out, as JSON.stringify does.
 * @throws TypeError for what JSON.stringify would alter without a word, such as NaN, which it makes null
 */
export function jsonText(value: object): string {
  return JSON.stringify(value, function (this: unknown, key, member: unknown) {
    if (isAltered(this, member)) {
      throw new TypeError(`${JSON.stringify(key)} holds what JSON cannot: it would be lost or altered`)
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
