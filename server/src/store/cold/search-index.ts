import type { TenantScope } from '../../domain/tenant-scope.ts'
import { endOfPrefix } from '../../domain/user-group/user-group-filter.ts'
import type { Operation } from './operation.ts'
import {
  all,
  gramLength,
  gramsOf,
  inScope,
  lookUp,
  readPostings,
  runsFrom,
  teamIdsOf,
  type PostingRow,
} from './search-postings.ts'
import { anyOf, either, sql } from './sql.ts'

// Searches read the postings of the search index (decision 0043), and later changes in `unindexed_user_group`. A user group that either of
// them leads to is a candidate: its current text must be compared.

/** Factor by which a search looks at more runs after each step, to read little for a text that many have. */
const runsGrowth = 16
/** Maximum number of grams that a search looks up, and of those that it reads. */
const maxGramsCounted = 8
const maxGramsRead = 3

export interface IndexSearch {
  readonly text: string
  readonly after: number
  /** Maximum number of user groups to return, and of changes to read. */
  readonly limit: number
  readonly maxRuns: number
}

export interface FoundTeamIds {
  /** In ascending order. */
  readonly teamIds: readonly number[]
  /** The last team id that was considered; null at the end. */
  readonly end: number | null
}

/** Finds user groups after a team id that may have the folded text in their name or id. */
export function* findInIndex(
  scope: TenantScope,
  { text, after, limit, maxRuns }: IndexSearch,
): Operation<FoundTeamIds> {
  // Before the runs: an update may move changes to the index between the statements.
  const changed = (yield* sql<{ team_id: number }>`SELECT DISTINCT team_id FROM unindexed_user_group
    WHERE ${inScope(scope)} AND team_id > ${after} ORDER BY team_id LIMIT ${limit}`.inBucket(null)).map(
    (row) => row.team_id,
  )
  let end = changed.length === limit ? (changed.at(-1) as number) : Infinity
  const runs = yield* runsFrom(scope, after, maxRuns + 1)
  const found = new Set(changed)
  for (let next = 0, length = 1; next < runs.length && (runs[next] as number) <= end; length *= runsGrowth) {
    const some = runs.slice(next, Math.min(next + length, maxRuns))
    for (const teamId of yield* findInRuns(scope, some, text)) if (teamId > after) found.add(teamId)
    next += some.length
    if (next < runs.length && (found.size >= limit || next === maxRuns)) {
      end = Math.min(end, (runs[next] as number) - 1)
      break
    }
  }
  const teamIds = [...found].filter((teamId) => teamId <= end).sort((a, b) => a - b)
  if (teamIds.length > limit) return { teamIds: teamIds.slice(0, limit), end: teamIds[limit - 1] as number }
  return { teamIds, end: end === Infinity ? null : end }
}

function* findInRuns(scope: TenantScope, runs: readonly number[], text: string): Operation<number[]> {
  if (text === all) return (yield* readPostings(scope, runs, [all])).flatMap(teamIdsOf)
  if (Array.from(text).length < gramLength) return (yield* readStarting(scope, runs, text)).flatMap(teamIdsOf)
  const grams = [...new Set(gramsOf(text))].filter((gram) => Array.from(gram).length === gramLength)
  const counted = spread(grams, maxGramsCounted)
  const counts = yield* lookUp<CountRow>(scope, runs, counted, 'first_team_id, gram, team_count')
  const complete = [...byRun(counts)].filter(([, rows]) => rows.length === counted.length)
  const totals = new Map<string, number>(counted.map((gram) => [gram, 0]))
  for (const { gram, team_count } of complete.flatMap(([, rows]) => rows))
    totals.set(gram, (totals.get(gram) as number) + team_count)
  const rarest = counted.toSorted((a, b) => (totals.get(a) as number) - (totals.get(b) as number))
  const rows = yield* readPostings(
    scope,
    complete.map(([run]) => run),
    rarest.slice(0, maxGramsRead),
  )
  return [...byRun(rows).values()].flatMap(inAll)
}

/** Reads the postings of the grams that start with one or two characters. */
function* readStarting(scope: TenantScope, runs: readonly number[], start: string): Operation<PostingRow[]> {
  const end = endOfPrefix(start)
  const starting = end === null ? sql`gram >= ${start}` : sql`gram >= ${start} AND gram < ${end}`
  return yield* either<PostingRow>({
    sqlite: sql`SELECT first_team_id, gram, team_ids FROM search_posting
      WHERE ${inScope(scope)} AND ${anyOf('first_team_id', 'bigint', runs)} AND ${starting}`,
    postgres: sql`SELECT posting.* FROM unnest(${runs}::bigint[]) AS run (id)
      CROSS JOIN LATERAL (
        SELECT first_team_id, gram, team_ids FROM search_posting
        WHERE ${inScope(scope)} AND first_team_id = run.id AND ${starting} OFFSET 0
      ) AS posting`,
  })
}

/** Returns the user groups that are in all postings of a run. */
function inAll(postings: readonly PostingRow[]): number[] {
  const [shortest, ...others] = postings.toSorted((a, b) => a.team_ids.length - b.team_ids.length)
  let common = shortest === undefined ? [] : teamIdsOf(shortest)
  for (const other of others) {
    const wanted = new Set(common)
    common = teamIdsOf(other).filter((teamId) => wanted.has(teamId))
  }
  return common
}

function byRun<Row extends { readonly first_team_id: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const runs = new Map<number, Row[]>()
  for (const row of rows) {
    const run = runs.get(row.first_team_id)
    if (run === undefined) runs.set(row.first_team_id, [row])
    else run.push(row)
  }
  return runs
}

/** Returns at most `count` items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count)
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

interface CountRow {
  readonly first_team_id: number
  readonly team_count: number
  readonly gram: string
}
