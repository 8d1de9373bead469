import { forEachShard, inShard, type Batch, type Located, type Operation } from './operation.ts'
import { either, raw, rowsOf, sql, type ColumnType, type Sql } from './sql.ts'

/** Number of rows that one batch of a deletion removes. */
export const batchSize = 1000

/** The bucket of a row, which SQLite does not have. */
export const bucketColumn = either({ sqlite: raw('0 AS bucket'), postgres: raw('bucket') })

/** Deletes the rows that a statement finds, `batchSize` or fewer, with the statements of each shard. */
export function* deleteBatch<Row extends Located>(
  found: Sql<Row>,
  deletions: (shardBucket: number | null, rows: readonly Row[]) => readonly Sql[],
): Operation<Batch> {
  const rows = yield* found.inBucket(null)
  yield* forEachShard(rows, deletions)
  return { count: rows.length, isDone: rows.length < batchSize }
}

/** Writes the deletion of rows of a shard by their key. `types` are those of the columns of the key, and of the bucket. */
export function deletion<Column extends string>(
  table: string,
  types: Readonly<Record<Column | 'bucket', ColumnType>>,
  shardBucket: number | null,
  rows: readonly (Readonly<Record<NoInfer<Column>, unknown>> & Located)[],
  condition = raw(''),
): Sql {
  const expired = rowsOf('expired', types, rows)
  const columns = Object.keys(types)
  const key = raw(columns.filter((name) => name !== 'bucket').join(', '))
  const isExpired = columns.map((name) => `${table}.${name} = expired.${name}`).join(' AND ')
  return either({
    sqlite: sql`DELETE FROM ${raw(table)} WHERE (${key}) IN (SELECT ${key} FROM ${expired}) ${condition}`,
    postgres: sql`DELETE FROM ${raw(table)} USING ${expired}
      WHERE ${raw(isExpired)} ${inShard(raw(`${table}.bucket`), shardBucket, rows)} ${condition}`,
  })
}
