import assert from 'node:assert/strict'
import { it } from 'node:test'
import { compileSql } from '../src/index.ts'
import { openDatabase, realDatabases } from './databases.ts'
import { example } from './support.ts'

/** Ids that the service keeps apart, and that collations merge. */
const customers = [
  'acme',
  'ACME',
  'Acmé',
  'acme ',
  'acme\t',
  'ａcme',
  'acme\u200b',
  'straße',
  'strasse',
  'ı',
  'i',
  '0',
  'x',
]

for (const dialect of realDatabases) {
  it(`ids are compared exactly (${dialect})`, async (t) => {
    const database = await openDatabase(t, dialect)
    if (database === undefined) return
    // In the key of a table with the default collation, these ids would collide.
    await database.execute('CREATE TABLE sales (customer varchar(50), n int)')
    await database.execute('CREATE INDEX sales_customer ON sales (customer)')
    const query = (template: string, providedId: string) =>
      database.query(compileSql(template, { ...example, providedId }, { dialect }))
    for (const providedId of customers) {
      await query('INSERT INTO sales VALUES ({{ user_group.provided_id }}, 1)', providedId)
    }
    const conditions = [
      'customer = {{ user_group.provided_id }}',
      '{{ user_group.provided_id }} = customer',
      'customer IN ({{ user_group.provided_id }})',
      "customer IN ('never', {{ user_group.provided_id }})",
      'customer BETWEEN {{ user_group.provided_id }} AND {{ user_group.provided_id }}',
      `customer = concat(${database.cast('{{ user_group.provided_id }}', 'text')}, '')`,
      'customer = coalesce({{ user_group.provided_id }}, NULL)',
      'NOT customer <> {{ user_group.provided_id }}',
      'customer IN (SELECT {{ user_group.provided_id }})',
    ]
    for (const condition of conditions) {
      for (const providedId of customers) {
        const rows = await query(`SELECT customer FROM sales WHERE ${condition}`, providedId)
        assert.deepEqual(rows, [[providedId]], `${condition} for ${JSON.stringify(providedId)}`)
      }
    }
  })
}

it('MariaDB compares a number column exactly as text', async (t) => {
  const database = await openDatabase(t, 'mariadb')
  if (database === undefined) return
  await database.execute('CREATE TABLE sales (customer int)')
  await database.execute('INSERT INTO sales VALUES (7), (0)')
  const matches = (condition: string, providedId: string) =>
    database.query(
      compileSql(
        `SELECT customer FROM sales WHERE ${condition}`,
        { ...example, providedId },
        { dialect: 'mariadb' },
      ),
    )
  const asText = 'CAST(customer AS CHAR) = {{ user_group.provided_id }}'
  assert.deepEqual(await matches(asText, '7'), [[7]])
  for (const providedId of ['7abc', '7 ', '7.0', 'abc']) {
    assert.deepEqual(await matches(asText, providedId), [])
    // The README warns of this.
    assert.equal((await matches('customer = {{ user_group.provided_id }}', providedId)).length, 1)
  }
})

it('MariaDB uses the index of the column', async (t) => {
  const database = await openDatabase(t, 'mariadb')
  if (database === undefined) return
  await database.execute('CREATE TABLE sales (customer varchar(50) PRIMARY KEY, n int)')
  await database.execute("INSERT INTO sales VALUES ('acme', 1), ('b', 2), ('c', 3)")
  const template = 'EXPLAIN SELECT n FROM sales WHERE customer = {{ user_group.provided_id }}'
  const statement = compileSql(template, { ...example, providedId: 'acme' }, { dialect: 'mariadb' })
  const [plan = []] = await database.query(statement)
  assert.equal(plan[5], 'PRIMARY')
})
