import type { Config } from './config.ts'
import type { Database, TableRead } from './databases/database.ts'
import { QueryError, UsageError } from './errors.ts'
import type { KnownTable } from './statement.ts'

/** Returns the listed tables as the database has them. @throws UsageError if it lacks one */
export async function findTables({ tables }: Config, database: Database): Promise<KnownTable[]> {
  const { relations, searchPath } = database.catalog
  const known = tables.map((table) => {
    const named = relations.filter(({ name }) => name === table.name)
    // The one that a template means: it may not write the schema.
    const meant = searchPath.flatMap((schema) => named.filter((relation) => relation.schema === schema))[0]
    const relation = table.schema === undefined ? meant : named.find(({ schema }) => schema === table.schema)
    if (relation === undefined)
      throw new UsageError(
        `isolation.json: the database has no table ${table.title}, or the role may not see it`,
      )
    if (relation !== meant)
      throw new UsageError(
        `isolation.json: ${table.title} is not what ${table.name} without a schema means here: change the search path or the database of DATABASE_URL`,
      )
    if (table.owner !== null && !table.owner.includes('{{') && !relation.columns.includes(table.owner))
      throw new UsageError(
        `isolation.json: ${table.title} has no column ${table.owner}; it has ${relation.columns.join(', ')}`,
      )
    return { ...table, relation }
  })
  const twice = known.find((table, i) => known.findIndex(({ relation }) => relation === table.relation) < i)
  if (twice !== undefined) throw new UsageError(`isolation.json: "tables" lists ${twice.title} twice`)
  return Promise.all(
    known.map(async (table) => ({
      ...table,
      isOpaque: table.relation.kind !== 'table' && !(await isShared(table, known, database)),
    })),
  )
}

/** Returns whether a view that all customers share reads only tables that all customers share. */
async function isShared(
  { owner, relation }: Omit<KnownTable, 'isOpaque'>,
  known: readonly Omit<KnownTable, 'isOpaque'>[],
  database: Database,
): Promise<boolean> {
  const { plans, quote } = database
  if (owner !== null || relation.kind === 'materialized view' || plans === undefined) return false
  const text = `SELECT * FROM ${quote(relation.schema)}.${quote(relation.name)}`
  try {
    return (await plans.tablesRead({ text, values: [] })).every((read) => {
      const parts = partsOf(known, read)
      return parts.length > 0 && parts.every((table) => table.owner === null)
    })
  } catch (error) {
    if (error instanceof QueryError) return false
    throw error
  }
}

/** Returns the listed tables among a table that the database reads and those of which it is a part. */
export function partsOf<Table extends Pick<KnownTable, 'relation'>>(
  known: readonly Table[],
  read: TableRead,
): Table[] {
  return known.filter(({ relation }) =>
    read.some(({ schema, name }) => relation.schema === schema && relation.name === name),
  )
}
