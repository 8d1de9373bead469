import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { Operation } from './operation.ts'
import { anyOf, either, raw, sql, type Sql } from './sql.ts'

// A run of the search index is a range of team ids, from `first_team_id` to that of the next run. For each gram, a posting in
// `search_posting` lists the user groups of the run that have it.

/** Length of a gram in characters. */
export const gramLength = 3
/** The gram that has all user groups of a run. */
export const all = ''
/** Bytes of a team id in a posting: its difference to the first one, as a little-endian integer. */
export const idBytes = 3
export const idEnd = 2 ** (8 * idBytes)

/** Reads the first team ids of runs in order, from the run that a team id belongs to. */
export function* runsFrom(scope: TenantScope, teamId: number, limit: number): Operation<number[]> {
  const rows = yield* sql<{ first_team_id: number }>`SELECT first_team_id FROM search_posting
    WHERE ${inScope(scope)} AND gram = '' AND first_team_id >= coalesce((
      SELECT max(first_team_id) FROM search_posting
      WHERE ${inScope(scope)} AND gram = '' AND first_team_id <= ${teamId}
    ), 0) ORDER BY first_team_id LIMIT ${limit}`
  return rows.map((row) => row.first_team_id)
}

export const readPostings = (scope: TenantScope, runs: readonly number[], grams: readonly string[]) =>
  lookUp<PostingRow>(scope, runs, grams, 'first_team_id, gram, team_ids')

/** Looks up each gram in each run. Without the subquery, PostgreSQL without statistics would read all postings of the environment. */
export function* lookUp<Row>(
  scope: TenantScope,
  runs: readonly number[],
  grams: readonly string[],
  columns: string,
): Operation<Row[]> {
  if (runs.length === 0) return []
  return yield* either<Row>({
    sqlite: sql`SELECT ${raw(columns)} FROM search_posting
      WHERE ${inScope(scope)} AND ${anyOf('first_team_id', 'bigint', runs)} AND ${anyOf('gram', 'text', grams)}`,
    postgres: sql`SELECT posting.* FROM unnest(${runs}::bigint[]) AS run (id)
      CROSS JOIN unnest(${grams}::text[]) AS wanted (gram)
      CROSS JOIN LATERAL (
        SELECT ${raw(columns)} FROM search_posting
        WHERE ${inScope(scope)} AND first_team_id = run.id AND gram = wanted.gram COLLATE "C" LIMIT 1
      ) AS posting`,
  })
}

/** @param teamIds in ascending order */
export function encoded(first: number, teamIds: readonly number[]): Buffer {
  const bytes = Buffer.alloc(teamIds.length * idBytes)
  teamIds.forEach((teamId, i) => bytes.writeUIntLE(teamId - first, i * idBytes, idBytes))
  return bytes
}

export function teamIdsOf({ first_team_id, team_ids }: Omit<PostingRow, 'gram'>): number[] {
  const teamIds: number[] = []
  for (let at = 0; at < team_ids.length; at += idBytes)
    teamIds.push(first_team_id + team_ids.readUIntLE(at, idBytes))
  return teamIds
}

/**
 * Returns the empty gram, each three characters of a folded text, and what is left at its end, so that a prefix of a gram finds one or
 * two characters.
 */
export function gramsOf(text: string): string[] {
  const grams = [all]
  // Other characters than these are two code units.
  const characters = /[\ud800-\udbff]/.test(text) ? Array.from(text) : text
  for (let i = 0; i < characters.length; i++) {
    const gram = characters.slice(i, i + gramLength)
    grams.push(typeof gram === 'string' ? gram : gram.join(''))
  }
  return grams
}

export function inScope({ workspaceId, environment }: TenantScope): Sql {
  return sql`workspace_id = ${workspaceId} AND environment = ${environment}`
}

export interface PostingRow {
  readonly first_team_id: number
  readonly gram: string
  readonly team_ids: Buffer
}
