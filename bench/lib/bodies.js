/** @typedef {'small' | 'typical' | 'large'} BodySize */

/** @type {Record<BodySize, string>} */
export const bodySizes = {
  small: 'about 100 B',
  typical: 'about 200 B, with mapping and properties',
  large: 'about 40 KB, nearly all of it properties',
}

export const exampleName = 'Example customer'

/**
 * Returns the body of a GET. All ids of one length give bodies of one length.
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
 * Returns the fields of such a body as stored.
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
