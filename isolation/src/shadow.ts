import { canaryRows, type Canary } from './canary.ts'
import type { Database } from './databases/database.ts'
import type { KnownTable, Statement } from './statement.ts'

/**
 * Content of the tables that a query sees: the customer's rows only, one row of nulls, or all rows in ascending or descending order. The
 * order of the rows of a table has no meaning, so a result that depends on it is none of the data.
 */
export type Content = 'own' | 'nulls' | 'ascending' | 'descending' | Canary

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

/** Returns the list of an `ORDER BY` of all columns. */
export function inOrder(
  { relation }: KnownTable,
  direction: 'ASC' | 'DESC',
  { dialect, quote }: Database,
): string {
  // Types such as json have no order.
  return relation.columns
    .map((column) => `${quote(column)}${dialect === 'postgresql' ? '::text' : ''} ${direction}`)
    .join(', ')
}

function ownerCondition({ owner }: KnownTable, { quote }: Database): string {
  if (owner === null) return 'TRUE'
  return owner.includes('{{') ? `(${owner})` : `${quote(owner)} = {{ user_group.provided_id }}`
}

export function qualified({ relation: { schema, name } }: KnownTable, { quote }: Database): string {
  return `${quote(schema)}.${quote(name)}`
}
