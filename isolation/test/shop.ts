import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createDatabase, type TestDatabase, type TestedDialect } from './databases.ts'
import { writeFiles } from './probe-command.ts'

/** Configuration of the shop's database. */
export const config = {
  tables: { sales: 'customer', orders: 'customer', calendar: null },
  user_groups: [
    { provided_id: 'acme_corp', properties: { region: 'EU' } },
    { provided_id: 'acme', properties: { region: 'US' } },
  ],
}

/** A template whose result is the customer's alone. */
export const isolated = 'SELECT month FROM sales WHERE customer = {{ user_group.provided_id }} ORDER BY month'

/** Creates the shop's database in SQLite, with a configuration of the templates `sql/**.sql`, and files next to it. */
export async function sqliteShop(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  changes: object = {},
): Promise<TestDatabase> {
  const database = await createDatabase(t, 'sqlite', shop('sqlite'))
  assert.ok(database)
  writeFiles(database.folder, {
    'isolation.json': JSON.stringify({ ...config, templates: 'sql/**/*.sql', ...changes }),
    ...files,
  })
  return database
}

/** A shop's database: sales and orders of four customers, and a calendar that all share. */
export function shop(dialect: TestedDialect): string[] {
  const customers = ['acme', 'acme_corp', 'acmeXcorp', 'other']
  const sales = customers.flatMap((customer, c) =>
    Array.from({ length: 6 }, (_, m) => {
      const amount = [c * 6 + m + 1, m + 10, 40 - c * m][m % 3] ?? 0
      return `(${c * 6 + m + 1}, '${customer}', ${m + 1}, '${m % 2 === 0 ? 'EU' : 'US'}', ${amount}.25)`
    }),
  )
  const orders = customers.flatMap((customer, c) =>
    Array.from(
      { length: 6 },
      (_, m) => `(${c * 6 + m + 1}, '${customer}', ${c * 6 + m + 1}, ${(m % 3) + 1})`,
    ),
  )
  const double = dialect === 'postgresql' ? 'double precision' : 'double'
  return [
    `CREATE TABLE sales (id integer PRIMARY KEY, customer varchar(40), month integer, region varchar(9), amount ${double})`,
    'CREATE TABLE orders (id integer PRIMARY KEY, customer varchar(40), sale integer, quantity integer)',
    'CREATE TABLE calendar (month integer)',
    'CREATE TABLE invoices (customer varchar(40), total integer)',
    'CREATE VIEW sales_view AS SELECT * FROM sales',
    `INSERT INTO sales VALUES ${sales.join(', ')}`,
    `INSERT INTO orders VALUES ${orders.join(', ')}`,
    'INSERT INTO calendar VALUES (1), (2), (3), (4), (5), (6)',
    "INSERT INTO invoices VALUES ('acme', 5)",
  ]
}
