import {
  compileSql,
  TemplateError,
  type CompiledSql,
  type SqlDialect,
} from '@user-group-service/renderer/templates'
import { differenceOf, isSame, isSameExceptTies, isSameList } from './compare.ts'
import { isObject, type Config } from './config.ts'
import type { Database, Row, RowLevelSecurity, TableRead } from './databases/database.ts'
import { QueryError, UsageError } from './errors.ts'
import { opaqueFunctionsOf, requireSafeRole } from './rls/probe.ts'
import { hasRows, hasTwoRows, otherId, ownId, shares, withContent, type Content } from './shadow.ts'
import {
  dependsOnOrder,
  NotJudged,
  picksRowsInside,
  readStatement,
  unlisted,
  type KnownTable,
  type Statement,
} from './statement.ts'
import { findTables, partsOf } from './tables.ts'
import type { Template } from './templates.ts'
import type { Customer } from './user-groups.ts'

/** The judgement of one template. */
export interface Verdict {
  readonly path: string
  readonly judgement: 'ok' | 'leak' | 'not_judged'
  /** The reason of a leak, or for not judging; null for `ok`. */
  readonly reason: string | null
  /** Line of the template, from 1; null if the reason has none. */
  readonly line: number | null
  /** The customer who sees others; null otherwise, and for a stranger. */
  readonly userGroupId: string | null
  /** Rows that the customer sees, and how many of them depend on other customers; null unless it leaks. */
  readonly rows: number | null
  readonly differingRows: number | null
  /** Rows that differ, with the rows of other customers and without. Empty unless they may be shown. */
  readonly examples: readonly { readonly withOthers: Row | null; readonly alone: Row | null }[]
}

type Leak = Pick<Verdict, 'reason' | 'userGroupId' | 'rows' | 'differingRows' | 'examples'>

const isUnstable =
  'gives another result each time it runs: fix the time, random values, or the order under a LIMIT'
const isOrderDependent =
  'depends on the order in which the database reads rows: give LIMIT and windows an ORDER BY without ties'

export interface ProbeOptions {
  readonly config: Config
  readonly customers: readonly Customer[]
  readonly database: Database
  /** True if verdicts and reasons may contain values of rows. */
  readonly showRows: boolean
  /** True if tables without rows of two customers are judged by giving their rows to two. */
  readonly canary?: boolean
  /** Role of the row-level security kit, which judges templates that no shadow can cover. */
  readonly rlsRole?: string | undefined
}

const unknown: Verdict = {
  path: '',
  judgement: 'not_judged',
  reason: null,
  line: null,
  userGroupId: null,
  rows: null,
  differingRows: null,
  examples: [],
}

/** Row-level security, which stands in where no shadow can. */
interface RlsJudge {
  readonly role: string
  readonly query: RowLevelSecurity['query']
  readonly opaqueFunctions: ReadonlySet<string>
}

/** Number of differing rows that are shown. */
const maxExamples = 3

/**
 * Judges templates by non-interference: a customer's result must be the same if the rows of all other customers are hidden. A common
 * table expression with the customer's rows hides the others.
 */
export class Probe {
  readonly #config: Config
  readonly #customers: readonly Customer[]
  readonly #database: Database
  readonly #showRows: boolean
  readonly #isCanary: boolean
  readonly #tables: readonly KnownTable[]
  readonly #rls: RlsJudge | null
  /** By table: the reason why its data prove nothing; null if they do. */
  readonly #coverage = new Map<KnownTable, string | null>()

  private constructor(
    { config, customers, database, showRows, canary = false }: ProbeOptions,
    tables: readonly KnownTable[],
    rls: RlsJudge | null,
  ) {
    this.#rls = rls
    this.#config = config
    this.#customers = customers
    this.#database = database
    this.#showRows = showRows
    this.#isCanary = canary
    this.#tables = tables
  }

  /** Looks the listed tables up. @throws UsageError if one does not exist, or if the role of row-level security sees too much */
  static async create(options: ProbeOptions): Promise<Probe> {
    const { config, database, rlsRole: role } = options
    const tables = await findTables(config, database)
    if (role === undefined) return new Probe(options, tables, null)
    const rls = await requireSafeRole(database, config, role)
    const opaqueFunctions = await opaqueFunctionsOf(rls)
    return new Probe(options, tables, { role, opaqueFunctions, query: rls.query.bind(rls) })
  }

  async judge(template: Template): Promise<Verdict> {
    const verdict = { ...unknown, path: template.path }
    try {
      const { statement, rls } = this.#read(template)
      let failure: NotJudged | TemplateError | undefined
      for (const absent of variantsOf(template))
        for (const customer of this.#customers) {
          try {
            const leak =
              rls === null
                ? await this.#findLeak(statement, customer, absent)
                : await this.#findLeakUnderRls(rls, statement, customer, absent)
            if (leak !== null) return { ...verdict, judgement: 'leak', ...leak }
          } catch (error) {
            // A leak for another customer is certain, so it comes first.
            if (!(error instanceof NotJudged || error instanceof TemplateError)) throw error
            failure ??= error
          }
        }
      if (failure !== undefined) throw failure
      // A function may read any of them.
      const gaps = await this.#gapsOf(rls === null ? statement.tables : this.#tables)
      const [[, gap] = []] = gaps
      if (gap !== undefined && (rls !== null || !this.#isCanary)) throw new NotJudged(gap)
      await this.#checkByCanary(statement, gaps)
      return { ...verdict, judgement: 'ok' }
    } catch (error) {
      if (error instanceof TemplateError) return { ...verdict, reason: error.message, line: error.line }
      if (!(error instanceof NotJudged)) throw error
      const { message: reason, offset } = error
      const line = offset === undefined ? null : template.sql.slice(0, offset).split('\n').length
      return { ...verdict, reason, line }
    }
  }

  /** Reads a template, for row-level security if no shadow can cover it. @throws NotJudged */
  #read(template: Template): { statement: Statement; rls: RlsJudge | null } {
    const rls = this.#rls
    try {
      return { statement: readStatement(template, this.#config, this.#tables, this.#database), rls: null }
    } catch (error) {
      if (rls === null || !(error instanceof NotJudged)) throw error
      const { opaqueFunctions } = rls
      return {
        statement: readStatement(template, this.#config, this.#tables, this.#database, opaqueFunctions),
        rls,
      }
    }
  }

  /** As `#findLeak`, but the policies of the role hide the rows of others. @throws NotJudged */
  async #findLeakUnderRls(
    { role, query }: RlsJudge,
    statement: Statement,
    customer: Customer,
    absent: readonly string[],
  ): Promise<Leak | null> {
    const compiled = () => this.#compile(statement.sql, statement, customer, absent)
    const run = (as: string | null) =>
      this.#attempt(as === null ? 'fails' : `fails as ${as}`, async () =>
        query(compiled(), customer.providedId, as),
      )
    await this.#tablesRead(statement, customer, absent)
    const plain = await run(null)
    const alone = await run(role)
    if (!isSame(plain, await run(null))) throw new NotJudged(isUnstable)
    const difference = differenceOf(plain, alone)
    if (difference.missing.length === 0 && difference.added.length === 0) {
      if (statement.isOrdered && !isSameList(plain, alone)) throw new NotJudged(isOrderDependent)
      return null
    }
    // Policies may change the order in which rows are read. Then only the number of rows can tell, unless a subquery picks rows.
    if (dependsOnOrder(statement) && (plain.length === alone.length || picksRowsInside(statement)))
      throw new NotJudged(isOrderDependent)
    return this.#leakOf(customer, difference, Math.max(plain.length, alone.length))
  }

  /** Returns how the customer's result depends on other customers; null if it does not. @throws NotJudged */
  async #findLeak(statement: Statement, customer: Customer, absent: readonly string[]): Promise<Leak | null> {
    const run = (content?: Content) => this.#run(statement, customer, absent, content)
    await this.#tablesRead(statement, customer, absent)
    const plain = await run()
    await this.#checkShadows(statement, customer, absent)
    const alone = await run('own')
    const again = await run()
    if (!isSame(plain, again)) throw new NotJudged(isUnstable)
    const difference = differenceOf(plain, alone)
    const differing = Math.max(difference.missing.length, difference.added.length)
    const differsInOrder = differing === 0 && statement.isOrdered && !isSameList(plain, alone)
    if (differing === 0 && !differsInOrder) return null
    const reordered = [await run('ascending'), await run('descending')]
    if (differsInOrder) {
      if (isSameExceptTies(plain, alone, reordered)) return null
      if (!reordered.every((rows) => isSameList(plain, rows))) throw new NotJudged(isOrderDependent)
    } else if (!reordered.every((rows) => isSame(plain, rows))) {
      // Then only the number of rows can tell, unless a subquery picks rows.
      const isSameCount = reordered.every(({ length }) => length === plain.length)
      if (!isSameCount || alone.length === plain.length || picksRowsInside(statement))
        throw new NotJudged(isOrderDependent)
    }
    return this.#leakOf(customer, difference, Math.max(plain.length, alone.length))
  }

  #leakOf(customer: Customer, difference: ReturnType<typeof differenceOf>, rows: number): Leak {
    const who = customer.isStranger ? 'a customer without rows' : customer.providedId
    const differing = Math.max(difference.missing.length, difference.added.length)
    return {
      reason:
        differing === 0
          ? `${who}: the order of the rows depends on other customers' rows`
          : `${who}: ${differing} of ${rows} ${rows === 1 ? 'row differs' : 'rows differ'} if other customers' rows are hidden`,
      userGroupId: customer.isStranger ? null : customer.providedId,
      rows,
      differingRows: differing,
      examples: this.#showRows
        ? Array.from({ length: Math.min(differing, maxExamples) }, (_, i) => ({
            withOthers: difference.missing[i] ?? null,
            alone: difference.added[i] ?? null,
          }))
        : [],
    }
  }

  /**
   * Refuses a template that reads a table past its shadow, such as through a view or by the name of a partition: with shadows of nulls,
   * the database reads no table that has one.
   */
  async #checkShadows(statement: Statement, customer: Customer, absent: readonly string[]): Promise<void> {
    for (const read of await this.#tablesRead(statement, customer, absent, 'nulls')) {
      const past = partsOf(this.#tables, read).find(({ owner }) => owner !== null)
      if (past !== undefined)
        throw new NotJudged(
          `reads ${past.title} through a view, a function or a partition, where no shadow can hide other customers' rows`,
        )
    }
  }

  /** Returns the tables that the database reads, all of which are listed. @throws NotJudged */
  async #tablesRead(
    statement: Statement,
    customer: Customer,
    absent: readonly string[],
    content?: Content,
  ): Promise<TableRead[]> {
    const { plans } = this.#database
    if (plans === undefined) return []
    const [sql, what] = this.#withContent(statement, content)
    const tables = await this.#attempt(content === undefined ? 'cannot be planned' : what, async () =>
      plans.tablesRead(this.#compile(sql, statement, customer, absent)),
    )
    const strange = tables.find((read) => partsOf(this.#tables, read).length === 0)?.[0]
    if (strange !== undefined) throw new NotJudged(unlisted(`${strange.schema}.${strange.name}`))
    return tables
  }

  /**
   * Gives each customer half of the rows of tables whose data could show no leak. A difference is no proof: a template may rely on
   * rows whose other columns, or those that they join, name the same customer. @throws NotJudged
   */
  async #checkByCanary(
    statement: Statement,
    gaps: readonly (readonly [table: KnownTable, reason: string])[],
  ): Promise<void> {
    for (const [table, reason] of gaps) {
      const text = hasTwoRows(table, this.#database)
      const rows = await this.#attempt('', () => this.#database.query({ text, values: [] }))
      if (table.owner?.includes('{{') === true || rows.length < 2) throw new NotJudged(reason)
    }
    const tables = gaps.map(([table]) => table)
    if (tables.length === 0) return
    const titles = tables.map(({ title }) => title).join(' and ')
    for (const customer of this.#customers.filter(({ isStranger }) => !isStranger)) {
      const other = this.#customers.find(({ providedId }) => providedId !== customer.providedId)
      const ids = { [ownId]: customer.providedId, [otherId]: other?.providedId }
      const given = { ...statement, variables: { ...statement.variables, ...ids } }
      for (const absent of variantsOf(statement))
        for (const own of Object.keys(shares) as (keyof typeof shares)[]) {
          const all = await this.#run(given, customer, absent, { tables, own, sees: 'all' })
          const alone = await this.#run(given, customer, absent, { tables, own, sees: 'own' })
          if (!(statement.isOrdered ? isSameList : isSame)(all, alone))
            throw new NotJudged(
              `gives another result if rows of ${titles} belong to another customer, which may be a leak: probe with rows of two customers`,
            )
        }
    }
  }

  /** Returns the tables whose data could show no leak, with the reason. */
  async #gapsOf(tables: readonly KnownTable[]): Promise<(readonly [table: KnownTable, reason: string])[]> {
    const gaps: (readonly [table: KnownTable, reason: string])[] = []
    for (const table of tables.filter(({ owner }) => owner !== null)) {
      const known = this.#coverage.get(table)
      const gap = known === undefined ? await this.#findGap(table) : known
      this.#coverage.set(table, gap)
      if (gap !== null) gaps.push([table, gap])
    }
    return gaps
  }

  async #findGap(table: KnownTable): Promise<string | null> {
    const scope = { variables: this.#config.variables, optional: [] }
    for (const customer of this.#customers) {
      if (customer.isStranger) continue
      const [own, others] = await Promise.all(
        (['own', 'others'] as const).map((whose) =>
          this.#attempt('', async () =>
            this.#database.query(this.#compile(hasRows(table, whose, this.#database), scope, customer, [])),
          ),
        ),
      )
      if (own?.length === 1 && others?.length === 1) return null
    }
    return `reads ${table.title}, in which no probed customer has rows next to those of another customer, so that no leak could show`
  }

  async #run(
    statement: Statement,
    customer: Customer,
    absent: readonly string[],
    content?: Content,
  ): Promise<Row[]> {
    const [sql, what] = this.#withContent(statement, content)
    return this.#attempt(what, async () =>
      this.#database.query(this.#compile(sql, statement, customer, absent)),
    )
  }

  /** Returns the text of a query on the content, and what it means if it fails. */
  #withContent(statement: Statement, content: Content | undefined): [sql: string, failure: string] {
    return content === undefined
      ? [statement.sql, 'fails']
      : [withContent(statement, content, this.#database), 'fails if table expressions stand for its tables']
  }

  async #attempt<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      throw new NotJudged(`${what}: ${this.#showRows ? error.detail : error.message}`.replace(/^: /, ''))
    }
  }

  #compile(
    sql: string,
    { variables, optional }: Pick<Template, 'variables' | 'optional'>,
    customer: Customer,
    absent: readonly string[],
  ): CompiledSql {
    return compileSql(sql, customer, {
      dialect: this.#database.dialect,
      identifiers: this.#config.identifiers,
      optional,
      variables: nested(variables, absent),
    })
  }
}

/** Compiles templates for a dialect whose database this package does not run. */
export function compileOnly(
  { config, customers }: Omit<ProbeOptions, 'database' | 'showRows'>,
  dialect: SqlDialect,
  template: Template,
): Verdict {
  const { path, sql, variables, optional } = template
  const verdict: Verdict = {
    ...unknown,
    path,
    reason: `compiled, not run: ${dialect} is not a database that is probed`,
  }
  try {
    for (const absent of variantsOf(template))
      for (const customer of customers)
        compileSql(sql, customer, {
          dialect,
          optional,
          identifiers: config.identifiers,
          variables: nested(variables, absent),
        })
    return verdict
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { ...verdict, reason: error.message, line: error.line }
  }
}

/** Returns the lists of optional variables to leave out: none, and all. */
function variantsOf({ sql, optional }: Template): (readonly string[])[] {
  return optional.length > 0 && sql.includes('[[') ? [[], optional] : [[]]
}

/** Returns `{ filter: { rows: 100 } }` for `{ "filter.rows": 100 }`, without the absent ones. */
function nested(variables: Template['variables'], absent: readonly string[]): object {
  const result: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(variables)) {
    const [target, last] = placeOf(result, path)
    target[last] = structuredClone(value)
  }
  for (const path of absent) {
    const [target, last] = placeOf(result, path)
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- A copy.
    delete target[last]
  }
  return result
}

/** Returns the object that has the last key of a path, and this key. */
function placeOf(values: Record<string, unknown>, path: string): [Record<string, unknown>, string] {
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let target = values
  for (const key of keys) {
    const next = (target[key] ??= {})
    if (!isObject(next)) throw new UsageError(`the variable ${path} is a member of another that is no object`)
    target = next
  }
  return [target, last]
}
