import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSql } from '@user-group-service/renderer/templates'
import fc from 'fast-check'
import { cases } from '../../server/test/support/cases.ts'
import type { Row } from '../src/databases/database.ts'
import { isSame } from '../src/compare.ts'
import { openDatabase } from '../src/databases/open.ts'
import { createDatabase, dialects } from './databases.ts'
import { probe } from './probe-command.ts'

/** Pairs of a query and a mutant for each database, each with other ones. */
const pairs = cases(20)

const customers = ['acme', 'acme_corp', 'other']
const stranger = 'nobody'

/** Four tables: three with rows of customers, one that all share. */
const tables = ['sales', 'orders', 'visits'] as const
type Table = (typeof tables)[number]

function statements(): string[] {
  const insertions = tables.map((table, t) => {
    const rows = Array.from({ length: 36 }, (_, i) => {
      const customer = customers[(i * 7 + t) % 3] ?? ''
      const region = (i + t) % 5 === 0 ? 'NULL' : `'${['EU', 'US', 'ASIA'][(i * i + t) % 3]}'`
      return `(${i + 1}, '${customer}', ${((i * 5 + t) % 6) + 1}, ${region}, ${((i * 37 + t * 11) % 50) + i / 4})`
    })
    return `INSERT INTO ${table} VALUES ${rows.join(', ')}`
  })
  return [
    ...tables.map(
      (table) =>
        `CREATE TABLE ${table} (id integer PRIMARY KEY, customer varchar(40), month integer, region varchar(9), amount double precision)`,
    ),
    'CREATE TABLE calendar (month integer, quarter integer)',
    ...insertions,
    'INSERT INTO calendar VALUES (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)',
  ]
}

/** Marks the place of a condition on the customer in a query. */
const place = (alias: string) => `⟦${alias}⟧`
const places = /⟦(\w+)⟧/g

const table = fc.constantFrom<Table>(...tables)
const aggregate = fc.constantFrom('count(*)', 'sum(a.amount)', 'min(a.amount)', 'max(a.id)', 'avg(a.amount)')
const filter = fc.constantFrom(
  '',
  " AND a.region = 'EU'",
  ' AND a.amount > 20',
  ' AND a.month IN (1, 2, 3)',
  ' AND a.region IS NOT NULL',
)
const group = fc.constantFrom('month', 'region')

/** Queries whose result is the customer's alone if each place has the condition. */
const query = fc.oneof(
  fc.tuple(table, aggregate, filter).map(([a, f, w]) => `SELECT ${f} FROM ${a} a WHERE ${place('a')}${w}`),
  fc
    .tuple(table, aggregate, filter, group)
    .map(
      ([a, f, w, g]) =>
        `SELECT a.${g}, ${f} FROM ${a} a WHERE ${place('a')}${w} GROUP BY a.${g} ORDER BY a.${g}`,
    ),
  fc
    .tuple(table, table, aggregate, filter)
    .map(
      ([a, b, f, w]) =>
        `SELECT a.month, ${f} FROM ${a} a JOIN ${b} b ON b.month = a.month AND ${place('b')} WHERE ${place('a')}${w} GROUP BY a.month`,
    ),
  fc
    .tuple(table, aggregate)
    .map(
      ([a, f]) =>
        `SELECT c.quarter, ${f} FROM calendar c LEFT JOIN ${a} a ON a.month = c.month AND ${place('a')} GROUP BY c.quarter`,
    ),
  fc
    .tuple(table, table, filter)
    .map(
      ([a, b, w]) =>
        `SELECT a.id, a.amount FROM ${a} a WHERE ${place('a')}${w} AND EXISTS (SELECT 1 FROM ${b} b WHERE b.month = a.month AND b.amount > 25 AND ${place('b')})`,
    ),
  fc
    .tuple(table, table)
    .map(
      ([a, b]) =>
        `SELECT a.id, a.amount / (SELECT sum(b.amount) + 1 FROM ${b} b WHERE ${place('b')}) AS share FROM ${a} a WHERE ${place('a')}`,
    ),
  fc
    .tuple(table, fc.integer({ min: 1, max: 5 }))
    .map(
      ([a, n]) =>
        `SELECT a.id, rank() OVER (ORDER BY a.amount, a.id) AS place FROM ${a} a WHERE ${place('a')} ORDER BY a.amount, a.id LIMIT ${n}`,
    ),
  fc
    .tuple(table, table, aggregate)
    .map(
      ([a, b, f]) =>
        `WITH own AS (SELECT * FROM ${a} x WHERE ${place('x')}) SELECT ${f} FROM own a UNION ALL SELECT count(*) FROM ${b} b WHERE ${place('b')}`,
    ),
  fc
    .tuple(table, table, table)
    .map(
      ([a, b, c]) =>
        `SELECT a.region, count(*) FROM ${a} a, ${b} b, ${c} c WHERE ${place('a')} AND ${place('b')} AND ${place('c')} AND b.month = a.month AND c.month = b.month GROUP BY a.region`,
    ),
)

const condition = (alias: string) => `${alias}.customer = {{ user_group.provided_id }}`

/** Ways to forget or to weaken a condition. Each lets the customer's own rows pass, and some of others. */
const weakened: readonly ((alias: string) => string)[] = [
  () => '1 = 1',
  (alias) => `(${condition(alias)} OR ${alias}.region = 'EU')`,
  (alias) => `(${condition(alias)} OR ${alias}.customer LIKE 'acme%')`,
  (alias) => `(${condition(alias)} OR ${alias}.region IS NULL)`,
  (alias) => `(${condition(alias)} OR ${alias}.id = 5)`,
  (alias) => `${alias}.customer IS NOT NULL`,
]

const pair = fc.record({
  template: query,
  which: fc.nat({ max: 2 }),
  weaken: fc.constantFrom(...weakened),
})

function mutantsOf(seed: number): { correct: string; mutant: string }[] {
  return fc.sample(pair, { numRuns: pairs, seed }).map(({ template, which, weaken }) => {
    const count = template.match(places)?.length ?? 1
    let index = 0
    return {
      correct: template.replace(places, (_, alias: string) => condition(alias)),
      mutant: template.replace(places, (_, alias: string) =>
        (index++ === which % count ? weaken : condition)(alias),
      ),
    }
  })
}

describe('probe', () => {
  for (const [seed, dialect] of dialects.entries())
    it(`accepts generated queries, and finds their mutants, on ${dialect}`, async (t) => {
      const database = await createDatabase(t, dialect, statements())
      if (database === undefined) return
      const generated = mutantsOf(seed)
      const verdicts = await probe(
        database,
        {
          tables: { sales: 'customer', orders: 'customer', visits: 'customer', calendar: null },
          user_groups: customers.map((provided_id) => ({ provided_id })),
        },
        Object.fromEntries(
          generated.flatMap(({ correct, mutant }, i) => [
            [`correct${i}`, correct],
            [`mutant${i}`, mutant],
          ]),
        ),
      )
      const opened = await openDatabase(database.url, database.folder, 30_000)
      t.after(() => opened.close())
      const resultOf = (sql: string, providedId: string): Promise<Row[]> =>
        opened.query(
          compileSql(sql, { providedId, name: providedId, properties: null }, { dialect: opened.dialect }),
        )
      const isDifferent = async ({ correct, mutant }: (typeof generated)[number]) => {
        for (const customer of [...customers, stranger])
          if (!isSame(await resultOf(correct, customer), await resultOf(mutant, customer))) return true
        return false
      }
      let different = 0
      const missed: string[] = []
      for (const [i, mutants] of generated.entries()) {
        const { judgement, reason } = verdicts[`correct${i}`] ?? {}
        assert.equal(judgement, 'ok', `${mutants.correct}: ${reason}`)
        if (!(await isDifferent(mutants))) continue
        different++
        const found = verdicts[`mutant${i}`]
        if (found?.judgement !== 'leak')
          missed.push(`${mutants.mutant}: ${found?.judgement} ${found?.reason}`)
      }
      t.diagnostic(
        `${pairs} pairs, no false alarm; ${different - missed.length} of ${different} mutants with another result found`,
      )
      assert.ok(different > pairs / 2, String(different))
      assert.ok(missed.length <= different / 100, missed.join('\n'))
    })
})
