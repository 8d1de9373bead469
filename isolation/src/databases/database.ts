import type { CompiledSql } from '@user-group-service/renderer/templates'

/** A value of a row in a form that `compare.ts` compares. Whole numbers that are no safe integers, NaN and infinities are texts. */
export type Cell = string | number | boolean | null
export type Row = readonly Cell[]

export interface RelationName {
  readonly schema: string
  readonly name: string
}

export interface Relation extends RelationName {
  readonly kind: 'table' | 'view' | 'materialized view'
  readonly columns: readonly string[]
}

/** The relations and functions that a template may name. Those of the database itself are left out. */
export interface Catalog {
  readonly relations: readonly Relation[]
  /** Schemas in which the database looks for a name without one, the first first. */
  readonly searchPath: readonly string[]
  /** Names of schemas, in lower case: those before a dot that are no aliases. */
  readonly schemas: ReadonlySet<string>
  /** Names of functions that may read tables, in lower case. */
  readonly functions: ReadonlySet<string>
}

/** A database in one read-only transaction, with one snapshot. */
export interface Database {
  readonly dialect: 'postgresql' | 'sqlite' | 'duckdb' | 'mariadb' | 'mysql'
  /** Quotes a name. */
  readonly quote: (name: string) => string
  /** A `LIMIT` that limits nothing. Without one, some databases drop the order of a table expression. */
  readonly noLimit: string
  /** Functions of the database itself that read tables named in a text, or report on them. */
  readonly readingFunctions: RegExp
  readonly catalog: Catalog
  /** The reason why the role may write; null if it may only read. */
  readonly writePrivilege: string | null
  /** @throws QueryError */
  query(statement: CompiledSql): Promise<Row[]>
  /** Undefined if the database does not tell which tables it reads. */
  readonly plans?: Plans
  /** Row-level security; undefined on databases that are not supported. */
  readonly rls?: RowLevelSecurity
  close(): Promise<void>
}

/** A table that the database reads, followed by the tables of which it is a partition or a child. */
export type TableRead = readonly RelationName[]

/** Plans of queries, with the tables behind views and functions. */
export interface Plans {
  /** Returns the tables that the database reads for the statement. Tables of the database itself have the schema of their own. @throws QueryError */
  tablesRead(statement: CompiledSql): Promise<TableRead[]>
  /** Returns the select list of one row of nulls, with the columns and types of the table. */
  nulls(relation: Relation): string
}

/** Row-level security in the transaction of the probe. */
export interface RowLevelSecurity {
  readonly ask: Ask
  /** Runs a query with the settings of a customer, as the role, or as the probe's own role. @throws QueryError */
  query(statement: CompiledSql, userGroupId: string, role: string | null): Promise<Row[]>
}

/** Runs a query and returns its rows as objects. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>

/** Quotes a name as the SQL standard does. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export interface OpenOptions {
  readonly url: URL
  /** Folder from which drivers are loaded. */
  readonly folder: string
  /** Maximum time of one query, in milliseconds. */
  readonly timeoutMs: number
}

/** Converts the values that drivers return. */
export function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
}

/** Groups the rows of a list of columns by relation. */
export function relationsOf(
  rows: readonly (readonly [schema: string, name: string, kind: Relation['kind'], column: string | null])[],
): Relation[] {
  const relations = new Map<string, Relation & { readonly columns: string[] }>()
  for (const [schema, name, kind, column] of rows) {
    const key = JSON.stringify([schema, name])
    const relation = relations.get(key) ?? { schema, name, kind, columns: [] }
    if (column !== null) relation.columns.push(column)
    relations.set(key, relation)
  }
  return [...relations.values()]
}
