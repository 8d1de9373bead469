import Database from 'better-sqlite3'

/** The databases with the sales of all customers. Each is registered with the service as a data source. */
export const warehouses = [
  { providedId: 'warehouse-eu', name: 'Warehouse EU' },
  { providedId: 'warehouse-us', name: 'Warehouse US' },
]

// Every customer has rows in every warehouse and region, of every product: only the mapping and the bound properties
// separate them. The last customer cannot be selected in the example.
const customers = [
  { id: 'customer-north', scale: 1, growth: 0.055, peak: 10 },
  { id: 'customer-south', scale: 0.62, growth: 0.012, peak: 6 },
  { id: 'customer-west', scale: 1.7, growth: 0.03, peak: 3 },
  { id: 'customer-central', scale: 1.3, growth: 0.02, peak: 8 },
]
const regions = ['Coast', 'Inland', 'Islands']
const products = [
  { line: 'Hardware', name: 'Sensors', price: 189, demand: 46 },
  { line: 'Hardware', name: 'Gateways', price: 640, demand: 13 },
  { line: 'Hardware', name: 'Displays', price: 420, demand: 11 },
  { line: 'Software', name: 'Analytics', price: 310, demand: 38 },
  { line: 'Software', name: 'Automation', price: 265, demand: 24 },
  { line: 'Services', name: 'Installation', price: 520, demand: 9 },
  { line: 'Services', name: 'Support', price: 145, demand: 34 },
  { line: 'Services', name: 'Training', price: 390, demand: 7 },
]
const days = Array.from({ length: 365 }, (_, index) => new Date(Date.UTC(2025, 0, 1 + index)))

/**
 * Creates the database of a warehouse. The same name always gives the same rows.
 * @param {string} file
 * @param {string} name
 */
export function createWarehouse(file, name) {
  const database = new Database(file)
  database.exec(`
    CREATE TABLE sales (
      customer_id TEXT NOT NULL,
      region TEXT NOT NULL,
      product_line TEXT NOT NULL,
      product TEXT NOT NULL,
      day TEXT NOT NULL, -- 2025-01-31
      orders INTEGER NOT NULL,
      revenue_cents INTEGER NOT NULL,
      PRIMARY KEY (customer_id, region, product_line, product, day)
    ) STRICT, WITHOUT ROWID`)
  const insert = database.prepare('INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?, ?)')
  database.transaction(() => {
    for (const row of salesOf(name)) insert.run(...row)
  })()
  database.close()
}

/**
 * @param {string} warehouse
 * @returns {Generator<(string | number)[]>}
 */
function* salesOf(warehouse) {
  const random = randomNumbers(warehouse)
  for (const customer of customers) {
    for (const region of regions) {
      const size = customer.scale * (0.7 + 0.6 * random())
      for (const product of products) {
        for (const day of days) {
          const month = day.getUTCMonth()
          const trend = (1 + customer.growth) ** month
          const season = 1 + 0.16 * Math.cos(((month - customer.peak) / 12) * 2 * Math.PI)
          const orders = Math.floor((product.demand / 30) * size * trend * season + random())
          if (orders === 0) continue
          const revenue = Math.round(orders * product.price * 100 * (0.94 + 0.12 * random()))
          const date = day.toISOString().slice(0, 10)
          yield [customer.id, region, product.line, product.name, date, orders, revenue]
        }
      }
    }
  }
}

/**
 * Returns a generator of numbers from 0 to 1 that depend only on the seed (mulberry32). Not for secrets.
 * @param {string} seed
 */
function randomNumbers(seed) {
  let state = 0
  for (const character of seed) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
