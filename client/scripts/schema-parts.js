// What both generators read from the schemas of an operation.

/**
 * @typedef {{
 *   type?: string | string[], format?: string, pattern?: string, const?: unknown, enum?: unknown[], anyOf?: Schema[], items?: Schema,
 *   properties?: Record<string, Schema>, additionalProperties?: boolean | Schema, required?: string[], description?: string,
 * }} Schema
 * @typedef {'result' | 'body' | 'query'} Use
 * @typedef {import('../../server/dist/http/admin/operation.js').AdminOperation} AdminOperation
 */

/** @param {AdminOperation['retry']} retry */
export function retryText(retry) {
  if (retry === undefined) return undefined
  if (retry === 'never') return 'Never retried if an attempt may have taken effect, which includes a 503.'
  const codes = Object.entries(retry).filter(([code]) => code !== 'revision_mismatch')
  const texts = codes.map(([code, outcome]) => {
    const meaning =
      outcome === 'succeeded' ? 'the operation succeeded' : 'the method throws the error of the lost attempt'
    return `If a retry after a lost response gets \`${code}\`, ${meaning}.`
  })
  if ('revision_mismatch' in retry)
    texts.push('With `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.')
  return texts.join(' ')
}

/** Returns the part of a response that the method returns: its only member, or the response. @param {Schema} response */
export function resultOf(response) {
  const members = Object.entries(response.properties ?? {}).filter(([name]) => name !== 'success')
  const [[name, only] = ['', undefined], ...others] = members
  return only === undefined || others.length > 0
    ? (pagedItems(response) ?? response)
    : name === 'deleted' && only.const === true
      ? undefined
      : only
}

/** Returns the schema of the items of a list that has pages, with the name of their member. @param {Schema} response */
export function itemsOf({ properties = {} }) {
  if (!('next_cursor' in properties)) return undefined
  const [member] = Object.entries(properties).filter(([, { items }]) => items)
  return member && { name: member[0], schema: member[1].items ?? {} }
}

/** @param {Schema} response */
export function pagedItems(response) {
  return itemsOf(response)?.schema
}

/** One line per entry, which Prettier would spread over many. @param {(readonly [string, unknown])[] | unknown[][]} entries */
export function table(entries) {
  const lines = entries.map(([name, value]) => `  ${String(name)}: ${lineOf(value)},\n`)
  return `{\n${lines.join('')}}`
}

/** @param {unknown} value @returns {string} */
function lineOf(value) {
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{ ${entries.map(([name, member]) => `${/^\w+$/.test(name) ? name : `'${name}'`}: ${lineOf(member)}`).join(', ')} }`
}

/** @param {Schema} schema */
export function isEnvironment(schema) {
  return String(schema.enum) === 'Customer,Testing' || String(schema.enum) === 'Testing,Customer'
}

/** Returns the names of all members within a schema. @param {Schema} schema @returns {string[]} */
export function namesIn(schema) {
  const { properties = {}, anyOf = [], items } = schema
  const parts = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])]
  return [...Object.keys(properties), ...parts.flatMap(namesIn)]
}
