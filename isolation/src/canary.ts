import type { Database } from './databases/database.ts'
import { inOrder, qualified } from './shadow.ts'
import type { KnownTable } from './statement.ts'

/**
 * Tables whose rows are given to two customers, for tables in which no customer has rows next to another's. Nothing is written: table
 * expressions replace the column of the customer's id. No key changes or repeats, so that each row joins those that it joined before.
 */
export interface Canary {
  readonly tables: readonly KnownTable[]
  /** Rows that the customer gets. */
  readonly own: keyof typeof shares
  /** Rows that the query sees. */
  readonly sees: 'all' | 'own'
}

/** Conditions on the number of a row. */
export const shares = { even: 'ugs_row % 2 = 0', odd: 'ugs_row % 2 = 1', first: 'ugs_row = 1', none: '1 = 0' }

/** Variables with the ids of the two customers. */
export const [ownId, otherId] = ['ugs_isolation.own', 'ugs_isolation.other'] as const

/** Returns the query of a table expression. */
export function canaryRows(table: KnownTable, { own, sees }: Canary, database: Database): string {
  const { quote } = database
  const isOwn = shares[own]
  const columns = table.relation.columns.map((column) => {
    if (column !== table.owner) return quote(column)
    // The last branch, which no row takes, has the type of the column.
    return `CASE WHEN ${isOwn} THEN {{ ${ownId} }} WHEN 1 = 1 THEN {{ ${otherId} }} ELSE ${quote(column)} END AS ${quote(column)}`
  })
  const numbered = `SELECT *, row_number() OVER (ORDER BY ${inOrder(table, 'ASC', database)}) AS ugs_row FROM ${qualified(table, database)}`
  return `SELECT ${columns.join(', ')} FROM (${numbered}) AS ugs_rows${sees === 'own' ? ` WHERE ${isOwn}` : ''}`
}
