/** @typedef {'small' | 'typical' | 'large'} BodySize */

/** @type {Record<BodySize, string>} */
export const bodySizes = {
  small: 'about 100 B',
  typical: 'about 200 B, with mapping and properties',
  large: 'about 40 KB, nearly all of it properties',
}

export const exampleName = 'Example customer'

/**
 * The body of a GET, of the same length for all ids of one length.
 * @param {BodySize} size
 * @param {string} id
 * @returns {string}
 */
export function bodyOf(size, id) {
  return JSON.stringify({ user_group_id: id, name: exampleName, ...fieldsOf[size] })
}

/** @type {Record<BodySize, { mapping?: object, properties: object }>} */
const fieldsOf = {
  small: { properties: { region: 'EU', plan: 'gold' } },
  typical: {
    mapping: { 40: '213', 41: 'orders' },
    properties: { region: 'EU', plan: 'gold', seats: 25, currency: 'EUR', features: ['export', 'alerts'] },
  },
  large: {
    properties: Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => [
        `key ${i}`,
        `some value of about fifty characters, number ${i}`,
      ]),
    ),
  },
}

/**
 * What such a body sets, as the store takes it.
 * @param {BodySize} size
 */
export function changeOf(size) {
  const { mapping, properties } = fieldsOf[size]
  return {
    name: exampleName,
    mapping: mapping === undefined ? null : JSON.stringify(mapping),
    properties: JSON.stringify(properties),
  }
}
