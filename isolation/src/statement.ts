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
 * @throws NotJudged
 * @throws TemplateError for a template that `compileSql` refuses to split
 */
export function readStatement(
  template: Template,
  config: Config,
  known: readonly KnownTable[],
  database: Database,
): Statement {
  const { dialect, catalog } = database
  const statements = scanSql(template.sql, { dialect, identifiers: config.identifiers })
  const [tokens = []] = statements
  const first = tokens[0]
  if (first === undefined) throw new NotJudged('has no statement')
  if (statements.length > 1)
    throw new NotJudged('has several statements: put each into its own file', statements[1]?.[0]?.start)
  if (!queryWords.includes(first.text.toLowerCase())) throw new NotJudged('is no query', first.start)
  const names = new Map<string, KnownTable>(known.map((table) => [table.name.toLowerCase(), table]))
  const tables = new Set<KnownTable>()
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'name') continue
    const name = token.text.toLowerCase()
    const isQualified = isAfterSchema(tokens, i, catalog)
    const table = names.get(name)
    const reason = unjudgeable(tokens, i, isQualified, table, config, database)
    if (reason !== undefined) throw new NotJudged(reason, token.start)
    if (table !== undefined) tables.add(table)
  }
  return { ...template, tokens, tables: [...tables], isOrdered: isOrdered(tokens) }
}

/** Returns why a name keeps the template from being judged; undefined if it does not. */
function unjudgeable(
  tokens: readonly SqlToken[],
  i: number,
  isQualified: boolean,
  table: KnownTable | undefined,
  { functions, tables }: Config,
  { catalog, readingFunctions, dialect }: Database,
): string | undefined {
  const name = (tokens[i] as SqlToken).text.toLowerCase()
  const isCalled = tokens[i + 1]?.text === '('
  const isColumn = !isQualified && tokens[i - 1]?.text === '.'
  if (table !== undefined) {
    if (isQualified)
      return `names ${table.title} with its schema, so that no shadow can hide other customers' rows: write ${table.name}`
    // WITH name AS (…), WITH name (columns) AS (…)
    if (isTableExpression(tokens, i))
      return `defines a table expression with the name of the table ${table.title}: give it another name`
    if (!isColumn && table.isOpaque)
      return `reads the ${table.relation.kind} ${table.title}, which may combine rows of several customers: read its tables instead`
    return undefined
  }
  if ((isCalled || isColumn || isQualified) && !functions.includes(name)) {
    if (catalog.functions.has(name) && !isColumnOf(catalog, name, isCalled))
      return `calls the function ${name}, which may read tables: list it in "functions" if it does not`
    if (isCalled && readingFunctions.test(name))
      return `calls ${name}, which may report on rows of other customers`
  }
  if (isColumn || isTableExpression(tokens, i) || tokens[i - 1]?.text.toLowerCase() === 'as') return undefined
  // MySQL does not name the tables that it reads, so a column with the name of a table counts, too. No database names views.
  const namesTables = dialect !== 'mysql' && dialect !== 'mariadb'
  const relation = catalog.relations.find((found) => found.name.toLowerCase() === name)
  const isListed = tables.some((listed) => listed.name.toLowerCase() === name)
  if (relation === undefined)
    return isQualified && !isCalled && !namesTables ? unlisted(`${tokens[i - 2]?.text}.${name}`) : undefined
  if (isListed || isDefined(tokens, name) || (namesTables && relation.kind === 'table')) return undefined
  return unlisted(
    `${relation.kind === 'table' ? '' : `the ${relation.kind} `}${relation.schema}.${relation.name}`,
  )
}

export function unlisted(title: string): string {
  return `reads ${title}, which isolation.json does not list`
}

/** Returns true for a name after a schema or database and a dot. */
function isAfterSchema(tokens: readonly SqlToken[], i: number, { schemas }: Catalog): boolean {
  return tokens[i - 1]?.text === '.' && schemas.has((tokens[i - 2]?.text ?? '').toLowerCase())
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

/** PostgreSQL calls a function of one row by the notation of a column, too. */
function isColumnOf({ relations }: Catalog, name: string, isCalled: boolean): boolean {
  return !isCalled && relations.some(({ columns }) => columns.some((column) => column.toLowerCase() === name))
}

function isOrdered(tokens: readonly SqlToken[]): boolean {
  let depth = 0
  return tokens.some(({ text, kind }, i) => {
    if (kind === 'symbol') depth += text === '(' ? 1 : text === ')' ? -1 : 0
    return depth === 0 && text.toLowerCase() === 'order' && tokens[i + 1]?.text.toLowerCase() === 'by'
  })
}
