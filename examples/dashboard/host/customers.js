/**
 * What the product's own database knows of a customer.
 * @typedef {object} Customer
 * @property {string} id
 * @property {string} name
 * @property {string} dataSource where its data is: the provided id of a data source
 * @property {{ region: string, product_lines: string[], currency: string, plan: string }} properties
 */

/** @type {readonly Customer[]} */
export const customers = [
  {
    id: 'customer-north',
    name: 'Customer North',
    dataSource: 'warehouse-eu',
    properties: { region: 'Coast', product_lines: ['Hardware', 'Software'], currency: 'EUR', plan: 'Gold' },
  },
  {
    // In the same warehouse as the first: the bound provided id keeps their rows apart.
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
    // Signed up today: the warehouse has no row of it yet.
    id: 'customer-east',
    name: 'Customer East',
    dataSource: 'warehouse-us',
    properties: { region: 'Islands', product_lines: ['Software'], currency: 'USD', plan: 'Trial' },
  },
]
