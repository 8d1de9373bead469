import { raw, sql, Sql } from './sql.ts'

/** First step of an operation whose statements are one transaction. */
const begin = Symbol('begin')

/** The statements of one operation, and the result that it computes from their rows. */
export type Operation<Result> = Generator<Sql | typeof begin | PerShard, Result, unknown>

/**
 * Makes all statements of an operation one transaction. Without it, PostgreSQL commits each statement by itself; SQLite always runs an
 * operation in one transaction.
 */
export function* transaction(): Operation<Attempted> {
  return (yield begin) as Attempted
}

export interface Located {
  readonly bucket: number
}

type StatementsOf<Row> = (shardBucket: number | null, rows: readonly Row[]) => readonly Sql[]

/** Step of `forEachShard`. */
export class PerShard {
  readonly rows: readonly Located[]
  readonly statementsOf: StatementsOf<Located>

  constructor(rows: readonly Located[], statementsOf: StatementsOf<Located>) {
    this.rows = rows
    this.statementsOf = statementsOf
  }
}

/**
 * Runs statements on rows of user groups and returns their rows: on Citus once for each shard, with a bucket of the shard, otherwise once
 * with null. On PostgreSQL each statement is a transaction.
 */
export function* forEachShard<Row extends Located>(
  rows: readonly Row[],
  statementsOf: StatementsOf<Row>,
): Operation<unknown[]> {
  return (yield new PerShard(rows, statementsOf as StatementsOf<Located>)) as unknown[]
}

/** Limits a statement of `forEachShard` to its shard: Citus needs constant buckets to find it. */
export function inShard(column: Sql, shardBucket: number | null, rows: readonly Located[]): Sql {
  const buckets = rows.map(({ bucket }) => bucket)
  return shardBucket === null ? raw('') : sql`AND ${column} = ANY (${buckets}::smallint[])`
}

export interface Attempted {
  /** True if an earlier attempt of the operation may have taken effect although the connection broke. Always false on SQLite. */
  readonly isAmbiguous: boolean
}

export function isBegin(step: unknown): boolean {
  return step === begin
}

/** Runs operations against a store. `name` is that of the port and its method, for reports of slow operations. */
export interface Runner {
  run<Result>(name: string, operation: () => Operation<Result>): Promise<Result>
  /** Runs a step, as an operation of its own, until it is done, and returns the total count. */
  untilDone(name: string, step: () => Operation<Batch>): Promise<number>
}

export interface Batch {
  readonly count: number
  readonly isDone: boolean
}

/** An operation in several transactions. */
class Batches<Args extends unknown[]> {
  readonly begin: (...args: Args) => () => Operation<Batch>

  constructor(begin: (...args: Args) => () => Operation<Batch>) {
    this.begin = begin
  }
}

/** Makes an operation of a step that runs again, each time in a transaction of its own, until it is done. */
export function inBatches<Args extends unknown[]>(
  begin: (...args: Args) => () => Operation<Batch>,
): Batches<Args> {
  return new Batches(begin)
}

/** The methods of a port as operations. */
export type Operations<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? ((...args: Args) => Operation<Result>) | (Result extends number ? Batches<Args> : never)
    : never
}

/** Turns operations into a port. */
export function portOf<Port>(runner: Runner, name: string, operations: Operations<Port>): Port {
  const methods = Object.entries<((...args: unknown[]) => Operation<unknown>) | Batches<unknown[]>>(
    operations,
  )
  return Object.fromEntries(
    methods.map(([method, operation]) => [
      method,
      (...args: unknown[]) =>
        operation instanceof Batches
          ? runner.untilDone(`${name}.${method}`, operation.begin(...args))
          : runner.run(`${name}.${method}`, () => operation(...args)),
    ]),
  ) as Port
}
