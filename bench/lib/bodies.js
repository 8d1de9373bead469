/** @typedef {'small' | 'typical' | 'large'} BodySize */

/** @type {Record<BodySize, string>} */
export const bodySizes = {
  small: 'about 100 B',
  typical: 'about 200 B, with mapping and properties',
  large: 'about 40 KB, nearly all of it properties',
}

/**
 * The body of a GET, of the same length for all ids of one length.
 * @param {BodySize} size
 * @param {string} id
 * @returns {string}
 */
export function bodyOf(size, id) {
  return JSON.stringify({ user_group_id: id, name: 'Example customer', ...fieldsOf[size] })
}

/** @type {Record<BodySize, object>} */
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

/** As many user groups as the loads ask for over and over. */
export const groupCount = 1024

/**
 * The id of one of them.
 * @param {number} index from 0 to {@link groupCount} - 1
 */
export function groupId(index) {
  return `customer-${10_000 + index}`
}
