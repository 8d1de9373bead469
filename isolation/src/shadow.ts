import type { Database } from './databases/database.ts'
import type { KnownTable, Statement } from './statement.ts'

/**
 * Content of the tables that a query sees: the customer's rows only, one row of nulls, or all rows in ascending or descending order. The
 * order of the rows of a table has no meaning, so a result that depends on it is none of the data.
 */
export type Content = 'own' | 'nulls' | 'ascending' | 'descending'

/** Returns the template with a table expression in front for each listed table that it names. */
export function withContent(
  { sql, tokens, tables }: Statement,
  content: Content,
  database: Database,
): string {
  const hidesRows = content === 'own' || content === 'nulls'
  const shadowed = hidesRows ? tables.filter(({ owner }) => owner !== null) : tables
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

/** Returns a template of a query that finds a row of the customer, or of others. */
export function hasRows(table: KnownTable, whose: 'own' | 'others', database: Database): string {
  const condition = ownerCondition(table, database)
  return `SELECT 1 FROM ${qualified(table, database)} WHERE ${whose === 'own' ? condition : `(${condition}) IS NOT TRUE`} LIMIT 1`
}

function rowsOf(table: KnownTable, content: Content, database: Database): string {
  if (content === 'nulls') return `SELECT ${database.plans?.nulls(table.relation) ?? '*'} ${database.noLimit}`
  const all = `SELECT * FROM ${qualified(table, database)}`
  if (content === 'own') return `${all} WHERE ${ownerCondition(table, database)}`
  const direction = content === 'ascending' ? 'ASC' : 'DESC'
  const columns = table.relation.columns.map((column) => {
    const name = database.quote(column)
    // Types such as json have no order.
    return `${database.dialect === 'postgresql' ? `${name}::text` : name} ${direction}`
  })
  return `${all} ORDER BY ${columns.join(', ')} ${database.noLimit}`
}

function ownerCondition({ owner }: KnownTable, { quote }: Database): string {
  if (owner === null) return 'TRUE'
  return owner.includes('{{') ? `(${owner})` : `${quote(owner)} = {{ user_group.provided_id }}`
}

function qualified({ relation: { schema, name } }: KnownTable, { quote }: Database): string {
  return `${quote(schema)}.${quote(name)}`
}
