import type { Database } from './databases/database.ts'
import type { KnownTable, Statement } from './statement.ts'

/**
 * Content of the tables that a query sees: the customer's rows only, one row of nulls, or all rows in ascending or descending order. The
 * order of the rows of a table has no meaning, so a result that depends on it is none of the data.
 */
export type Content = 'own' | 'nulls' | 'ascending' | 'descending' | Canary

/**
 * Tables whose rows are given to two customers, for tables in which no customer has rows next to another's. Nothing is written: table
 * expressions replace the column of the customer's id. No key changes or repeats, so that each row joins those that it joined before.
 */
interface Canary {
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

/** Returns the template with a table expression in front for each listed table that it names. */
export function withContent(
  { sql, tokens, tables }: Statement,
  content: Content,
  database: Database,
): string {
  const shadowed = tables.filter((table) => isShadowed(table, content))
  if (shadowed.length === 0) return sql
  const expressions = shadowed
    .map((table) => `${database.quote(table.relation.name)} AS (${rowsOf(table, content, database)})`)
    .join(', ')
  const [first, second] = tokens
  const isWith = first?.text.toLowerCase() === 'with'
  const opening = isWith ? (second?.text.toLowerCase() === 'recursive' ? second : first) : undefined
  const at = opening?.end ?? first?.start ?? 0
  const clause = opening === undefined ? `WITH ${expressions} ` : ` ${expressions},`
  return sql.slice(0, at) + clause + sql.slice(at)
}

/** Returns a query that finds two rows. */
export function hasTwoRows(table: KnownTable, database: Database): string {
  return `SELECT 1 FROM ${qualified(table, database)} LIMIT 2`
}

/** Returns a template of a query that finds a row of the customer, or of others. */
export function hasRows(table: KnownTable, whose: 'own' | 'others', database: Database): string {
  const condition = ownerCondition(table, database)
  return `SELECT 1 FROM ${qualified(table, database)} WHERE ${whose === 'own' ? condition : `(${condition}) IS NOT TRUE`} LIMIT 1`
}

function isShadowed(table: KnownTable, content: Content): boolean {
  if (content === 'ascending' || content === 'descending') return true
  if (typeof content === 'object' && content.sees === 'all') return content.tables.includes(table)
  return table.owner !== null
}

function rowsOf(table: KnownTable, content: Content, database: Database): string {
  if (content === 'nulls') return `SELECT ${database.plans?.nulls(table.relation) ?? '*'} ${database.noLimit}`
  if (typeof content === 'object' && content.tables.includes(table))
    return canaryRows(table, content, database)
  const all = `SELECT * FROM ${qualified(table, database)}`
  if (content === 'own' || typeof content === 'object')
    return `${all} WHERE ${ownerCondition(table, database)}`
  return `${all} ORDER BY ${inOrder(table, content === 'ascending' ? 'ASC' : 'DESC', database)} ${database.noLimit}`
}

function canaryRows(table: KnownTable, { own, sees }: Canary, database: Database): string {
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

/** Returns the list of an `ORDER BY` of all columns. */
function inOrder({ relation }: KnownTable, direction: 'ASC' | 'DESC', { dialect, quote }: Database): string {
  // Types such as json have no order.
  return relation.columns
    .map((column) => `${quote(column)}${dialect === 'postgresql' ? '::text' : ''} ${direction}`)
    .join(', ')
}

function ownerCondition({ owner }: KnownTable, { quote }: Database): string {
  if (owner === null) return 'TRUE'
  return owner.includes('{{') ? `(${owner})` : `${quote(owner)} = {{ user_group.provided_id }}`
}

function qualified({ relation: { schema, name } }: KnownTable, { quote }: Database): string {
  return `${quote(schema)}.${quote(name)}`
}
