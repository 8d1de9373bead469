import type { EntryCounts } from '../domain/user-group/user-group-search-store.ts'

interface CountRow {
  readonly schema_key: string
  readonly data_source_key: string
  readonly count: number
}

/** `maxRowsExamined`: maximum number of entries that were counted. */
export function entryCountsOf(rows: readonly CountRow[], maxRowsExamined: number): EntryCounts {
  return {
    counts: rows.map(({ schema_key, data_source_key, count }) => ({
      entry: [schema_key, data_source_key],
      count,
    })),
    isEnd: rows.reduce((sum, { count }) => sum + count, 0) < maxRowsExamined,
  }
}
