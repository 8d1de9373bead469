import type { Database, Statement } from 'better-sqlite3'
import {
  isBegin,
  PerShard,
  type Attempted,
  type Batch,
  type Operation,
  type Runner,
} from '../cold/operation.ts'
import type { Sql } from '../cold/sql.ts'
import type { GroupCommit } from './group-commit.ts'
import { untilDone } from './port.ts'

const attempted: Attempted = { isAmbiguous: false }

/** Runs the statements of operations, which are prepared once. */
export class Statements {
  readonly #database: Database
  readonly #prepared = new Map<string, Statement>()

  constructor(database: Database) {
    this.#database = database
  }

  run<Result>(operation: Operation<Result>): Result {
    let step = operation.next()
    while (step.done !== true) step = operation.next(this.#resultOf(step.value))
    return step.value
  }

  #resultOf(step: unknown): unknown {
    if (step instanceof PerShard)
      return step.statementsOf(null, step.rows).flatMap((sql) => this.#rowsOf(sql))
    return isBegin(step) ? attempted : this.#rowsOf(step as Sql)
  }

  #rowsOf(sql: Sql): unknown[] {
    const { text, values } = sql.render('sqlite')
    // It is for PostgreSQL only.
    if (text === '') return []
    let statement = this.#prepared.get(text)
    if (statement === undefined) this.#prepared.set(text, (statement = this.#database.prepare(text)))
    if (statement.reader) return statement.all(...values)
    statement.run(...values)
    return []
  }
}

/** Runs each operation as one operation of the group commit. */
export class SqliteRunner implements Runner {
  readonly #commit: GroupCommit
  readonly #statements: Statements

  constructor(commit: GroupCommit, database: Database) {
    this.#commit = commit
    this.#statements = new Statements(database)
  }

  run<Result>(name: string, operation: () => Operation<Result>): Promise<Result> {
    return this.#commit.run(name, () => this.#statements.run(operation()))
  }

  untilDone(name: string, step: () => Operation<Batch>): Promise<number> {
    return untilDone(this.#commit, name, () => this.#statements.run(step()))
  }
}
