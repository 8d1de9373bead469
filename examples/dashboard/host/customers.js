/**
 * A customer in the product's own database.
 * @typedef {object} Customer
 * @property {string} id
 * @property {string} name
 * @property {string} dataSource provided id of its data source
 * @property {{ region: string, product_lines: string[], currency: string, plan: string }} properties
 */

const regions = ['Coast', 'Inland', 'Islands']

/** @type {readonly Customer[]} */
export const customers = [
  {
    id: 'customer-north',
    name: 'Customer North',
    dataSource: 'warehouse-eu',
    properties: { region: 'Coast', product_lines: ['Hardware', 'Software'], currency: 'EUR', plan: 'Gold' },
  },
  {
    // Same warehouse as Customer North: the bound provided id separates their rows.
    id: 'customer-south',
    name: 'Customer South',
    dataSource: 'warehouse-eu',
    properties: {
      region: 'Inland',
      product_lines: ['Hardware', 'Services', 'Software'],
      currency: 'EUR',
      plan: 'Silver',
    },
  },
  {
    id: 'customer-west',
    name: 'Customer West',
    dataSource: 'warehouse-us',
    properties: {
      region: 'Coast',
      product_lines: ['Services', 'Software'],
      currency: 'USD',
      plan: 'Gold',
    },
  },
  {
    // A new customer without rows.
    id: 'customer-east',
    name: 'Customer East',
    dataSource: 'warehouse-us',
    properties: { region: 'Islands', product_lines: ['Software'], currency: 'USD', plan: 'Trial' },
  },
]

/**
 * Moves the customer to the next region.
 * @param {Customer} customer
 */
export function changeRegion({ properties }) {
  properties.region = regions[(regions.indexOf(properties.region) + 1) % regions.length] ?? ''
}
