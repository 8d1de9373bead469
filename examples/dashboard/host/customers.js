/**
 * A customer in the product's own database.
 * @typedef {object} Customer
 * @property {string} id
 * @property {string} name
 * @property {string} dataSource provided id of its data source
 * @property {{ regions: string[], product_lines: string[], currency: string, plan: string }} properties
 * @property {readonly Viewer[]} viewers
 */
/**
 * A person of a customer, who may see all of its regions or only some.
 * @typedef {{ id: string, name: string, regions?: readonly string[] }} Viewer
 */
/** @typedef {{ viewer: Viewer, customer: Customer }} Person */

const regions = ['Coast', 'Inland', 'Islands']

/** @type {readonly Customer[]} */
export const customers = [
  {
    id: 'customer-north',
    name: 'Customer North',
    dataSource: 'warehouse-eu',
    properties: {
      regions: ['Coast', 'Inland'],
      product_lines: ['Hardware', 'Software'],
      currency: 'EUR',
      plan: 'Gold',
    },
    viewers: [
      { id: 'ada', name: 'Ada' },
      { id: 'ben', name: 'Ben', regions: ['Coast'] },
    ],
  },
  {
    // Same warehouse as Customer North: the bound provided id separates their rows.
    id: 'customer-south',
    name: 'Customer South',
    dataSource: 'warehouse-eu',
    properties: {
      regions: ['Inland'],
      product_lines: ['Hardware', 'Services', 'Software'],
      currency: 'EUR',
      plan: 'Silver',
    },
    viewers: [{ id: 'cem', name: 'Cem' }],
  },
  {
    id: 'customer-west',
    name: 'Customer West',
    dataSource: 'warehouse-us',
    properties: {
      regions: ['Coast'],
      product_lines: ['Services', 'Software'],
      currency: 'USD',
      plan: 'Gold',
    },
    viewers: [{ id: 'dora', name: 'Dora' }],
  },
  {
    // A new customer without rows.
    id: 'customer-east',
    name: 'Customer East',
    dataSource: 'warehouse-us',
    properties: { regions: ['Islands'], product_lines: ['Software'], currency: 'USD', plan: 'Trial' },
    viewers: [{ id: 'eva', name: 'Eva' }],
  },
]

/** @type {readonly Person[]} */
export const people = customers.flatMap((customer) =>
  customer.viewers.map((viewer) => ({ viewer, customer })),
)

/**
 * Moves the customer to the next regions.
 * @param {Customer} customer
 */
export function changeRegions({ properties }) {
  properties.regions = properties.regions.map(
    (region) => regions[(regions.indexOf(region) + 1) % regions.length] ?? '',
  )
}
