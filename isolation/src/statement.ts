import { scanSql, type SqlToken } from '@user-group-service/renderer/templates'
import type { Config, ListedTable } from './config.ts'
import type { Catalog, Database, Relation } from './databases/database.ts'
import type { Template } from './templates.ts'

/** A listed table that exists. */
export interface KnownTable extends ListedTable {
  readonly relation: Relation
  /** True for a view that may show rows of several customers. */
  readonly isOpaque: boolean
}

/** A template that is one query, with the listed tables that it names. */
export interface Statement extends Template {
  readonly tokens: readonly SqlToken[]
  readonly tables: readonly KnownTable[]
  /** True if the whole query, not a part of it, has an `ORDER BY`. */
  readonly isOrdered: boolean
}

/** A reason why a template is not judged, and its place. */
export class NotJudged extends Error {
  override readonly name = 'NotJudged'
  /** Index in the template; undefined if the reason has no place. */
  readonly offset: number | undefined

  constructor(reason: string, offset?: number) {
    super(reason)
    this.offset = offset
  }
}

const queryWords = ['select', 'with', 'values', 'table', 'from', '(']

/**
 * Reads a template. A shadow stands only for a name without schema, and only tables can have one, so that anything else is not judged.
 * Row-level security has no such limits, except for the opaque functions, which are given for a template that it judges.
 * @throws NotJudged
 * @throws TemplateError for a template that `compileSql` refuses to split
 */
export function readStatement(
  template: Template,
  config: Config,
  known: readonly KnownTable[],
  database: Database,
  opaqueFunctions?: ReadonlySet<string>,
): Statement {
  const { dialect, catalog } = database
  const statements = scanSql(template.sql, { dialect, identifiers: config.identifiers })
  const [tokens = []] = statements
  const first = tokens[0]
  if (first === undefined) throw new NotJudged('has no statement')
  if (statements.length > 1)
    throw new NotJudged('has several statements: put each into its own file', statements[1]?.[0]?.start)
  if (!queryWords.includes(first.text.toLowerCase())) throw new NotJudged('is no query', first.start)
  const into = tokens.find(({ text, isQuoted }) => !isQuoted && text.toLowerCase() === 'into')
  if (into !== undefined && (dialect === 'mariadb' || dialect === 'mysql'))
    throw new NotJudged('writes a file or a variable with INTO', into.start)
  const tables = new Set<KnownTable>()
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'name') continue
    // Quotes and settings decide whether case counts.
    const named = known.filter((table) => isNamed(table, token))
    const reason =
      opaqueFunctions === undefined
        ? (named
            .map((table) => reasonOfTable(tokens, i, table, catalog))
            .find((found) => found !== undefined) ?? reasonOfName(tokens, i, known, config, database))
        : reasonUnderRls(tokens, i, opaqueFunctions, database)
    if (reason !== undefined) throw new NotJudged(reason, token.start)
    for (const table of named) tables.add(table)
  }
  return { ...template, tokens, tables: [...tables], isOrdered: isOrdered(tokens) }
}

/** Returns why a listed table keeps the template from being judged; undefined if it does not. */
function reasonOfTable(
  tokens: readonly SqlToken[],
  i: number,
  { title, name, owner, relation, isOpaque }: KnownTable,
  catalog: Catalog,
): string | undefined {
  const schema = schemaBefore(tokens, i, catalog)
  if (owner === null && schema?.toLowerCase() === relation.schema.toLowerCase()) return undefined
  if (schema !== undefined)
    return `names ${title} with its schema, so that no shadow can hide other customers' rows: write ${name}`
  if (isTableExpression(tokens, i)) return redefined(title)
  if (tokens[i - 1]?.text.toLowerCase() === 'only' && owner !== null)
    return `reads ONLY ${title}: no shadow can leave its child tables out`
  if (isOpaque && tokens[i - 1]?.text !== '.')
    return `reads the ${relation.kind} ${title}, which may combine rows of several customers: read its tables instead`
  return undefined
}

/** Returns why a name that is no listed table keeps the template from being judged; undefined if it does not. */
function reasonOfName(
  tokens: readonly SqlToken[],
  i: number,
  known: readonly KnownTable[],
  { functions }: Config,
  { catalog, readingFunctions, dialect }: Database,
): string | undefined {
  const token = tokens[i] as SqlToken
  const name = token.text.toLowerCase()
  const isCalled = tokens[i + 1]?.text === '('
  const schema = schemaBefore(tokens, i, catalog)
  const isAfterDot = isMember(tokens, i)
  if ((isCalled || isAfterDot) && !functions.includes(name)) {
    if (catalog.functions.has(name) && (isCalled || !isColumn(catalog, name)))
      return `calls the function ${name}, which may read tables: list it in "functions" if it does not`
    if (isCalled && readingFunctions.test(name))
      return `calls ${name}, which may report on rows of other customers`
  }
  if (isAfterDot && schema === undefined) return undefined
  if (isTableExpression(tokens, i) || tokens[i - 1]?.text.toLowerCase() === 'as') return undefined
  // MySQL does not name the tables that it reads, so a column with the name of a table counts, too. No database names views.
  const namesTables = dialect !== 'mysql' && dialect !== 'mariadb'
  const relations = catalog.relations.filter(
    (relation) =>
      isNamed(relation, token) &&
      (schema === undefined ? catalog.searchPath.includes(relation.schema) : relation.schema === schema),
  )
  if (relations.length === 0)
    return schema !== undefined && !isCalled && !namesTables ? unlisted(`${schema}.${name}`) : undefined
  const unknown = relations.find(
    (relation) =>
      !(namesTables && relation.kind === 'table') && !known.some((table) => table.relation === relation),
  )
  if (unknown === undefined) return undefined
  const title = `${unknown.schema}.${unknown.name}`
  // The name may mean the relation elsewhere.
  if (isDefined(tokens, name)) return redefined(title)
  return unlisted(unknown.kind === 'table' ? title : `the ${unknown.kind} ${title}`)
}

/** Returns why row-level security might not hold for a name. */
function reasonUnderRls(
  tokens: readonly SqlToken[],
  i: number,
  opaqueFunctions: ReadonlySet<string>,
  { catalog, readingFunctions }: Database,
): string | undefined {
  const { text, isQuoted } = tokens[i] as SqlToken
  const name = text.toLowerCase()
  if (!isQuoted && /^(current_user|current_role|user|row_security_active|has_\w+_privilege)$/.test(name))
    return `uses ${name}, which differs between the roles`
  const isCalled = tokens[i + 1]?.text === '('
  const isAttribute = tokens[i - 1]?.text === '.' && schemaBefore(tokens, i, catalog) === undefined
  const evades =
    (isCalled && readingFunctions.test(name)) || ((isCalled || isAttribute) && opaqueFunctions.has(name))
  return evades ? `calls ${name}, which may evade row-level security` : undefined
}

function isNamed({ name }: { readonly name: string }, { text }: SqlToken): boolean {
  return name.toLowerCase() === text.toLowerCase()
}

function redefined(title: string): string {
  return `defines a table expression with the name of the table ${title}: give it another name`
}

export function unlisted(title: string): string {
  return `reads ${title}, which isolation.json does not list`
}

/** Returns the schema or database before a name and its dot; undefined if there is none, or an alias. */
function schemaBefore(tokens: readonly SqlToken[], i: number, { schemas }: Catalog): string | undefined {
  const dot = placeBefore(tokens, i)
  if (tokens[dot]?.text !== '.') return undefined
  const names = tokens.slice(placeBefore(tokens, dot), dot)
  return names.find(({ text }) => schemas.has(text.toLowerCase()))?.text
}

/** Returns true for a name that touches a dot, and this another name. On MySQL and MariaDB, ` .sales` is a table. */
function isMember(tokens: readonly SqlToken[], i: number): boolean {
  const dot = placeBefore(tokens, i)
  return tokens[dot]?.text === '.' && tokens[dot - 1]?.end === tokens[dot].start
}

/** Returns the index of the token before one. All names that `{{ identifier … }}` may write have one place: then, that of the first. */
function placeBefore(tokens: readonly SqlToken[], i: number): number {
  return firstOfPlace(tokens, firstOfPlace(tokens, i) - 1)
}

function firstOfPlace(tokens: readonly SqlToken[], i: number): number {
  let first = i
  while (first > 0 && tokens[first - 1]?.start === tokens[i]?.start) first--
  return first
}

/** Returns true for the name that a `WITH` gives to a query: `name AS (`, `name (a, b) AS (`, and with `MATERIALIZED`. */
function isTableExpression(tokens: readonly SqlToken[], i: number): boolean {
  const before = tokens[i - 1]?.text.toLowerCase()
  if (before !== 'with' && before !== 'recursive' && before !== ',') return false
  let next = i + 1
  if (tokens[next]?.text === '(') while (next < tokens.length && tokens[next++]?.text !== ')');
  if (tokens[next]?.text.toLowerCase() !== 'as') return false
  if (tokens[next + 1]?.text.toLowerCase() === 'not') next++
  if (tokens[next + 1]?.text.toLowerCase() === 'materialized') next++
  return tokens[next + 1]?.text === '('
}

function isDefined(tokens: readonly SqlToken[], name: string): boolean {
  return tokens.some((token, i) => token.text.toLowerCase() === name && isTableExpression(tokens, i))
}

/** Returns true for the name of a column. PostgreSQL calls a function of a row by the notation of a column, too. */
function isColumn({ relations }: Catalog, name: string): boolean {
  return relations.some(({ columns }) => columns.some((column) => column.toLowerCase() === name))
}

/** Returns true if the order in which the database reads rows may change the result. */
export function dependsOnOrder({ tokens }: Statement): boolean {
  return tokens.some(
    ({ text }, i) => /^(limit|fetch|offset|over|\w+_agg|\w+agg)$/i.test(text) || isDistinctOn(tokens, i),
  )
}

/** Returns true if that order may change the number of rows: a part of the query picks rows. */
export function picksRowsInside({ tokens }: Statement): boolean {
  const depths = depthsOf(tokens)
  return tokens.some(
    ({ text }, i) =>
      (depths[i] ?? 0) > 0 && (/^(limit|fetch|offset|over)$/i.test(text) || isDistinctOn(tokens, i)),
  )
}

function isDistinctOn(tokens: readonly SqlToken[], i: number): boolean {
  return tokens[i]?.text.toLowerCase() === 'distinct' && tokens[i + 1]?.text.toLowerCase() === 'on'
}

function isOrdered(tokens: readonly SqlToken[]): boolean {
  const depths = depthsOf(tokens)
  return tokens.some(
    ({ text }, i) =>
      depths[i] === 0 && text.toLowerCase() === 'order' && tokens[i + 1]?.text.toLowerCase() === 'by',
  )
}

/** Returns the number of parentheses around each token. */
function depthsOf(tokens: readonly SqlToken[]): number[] {
  let depth = 0
  return tokens.map(({ text, kind }) => {
    if (kind === 'symbol') depth += text === '(' ? 1 : text === ')' ? -1 : 0
    return depth
  })
}
