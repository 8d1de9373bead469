import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { endOfPrefix, foldText, hasParts, numberOf } from '../../domain/user-group/user-group-filter.ts'
import type {
  SearchUserGroups,
  UserGroupFilter,
  UserGroupSearchStore,
  UserGroupSort,
} from '../../domain/user-group/user-group-search-store.ts'
import { maxCounted } from '../../domain/util/page.ts'
import { jsonOf } from '../postgres/data-source-sql.ts'
import { columns, userGroupOf, type UserGroupRow } from '../user-group-row.ts'
import { inBatches, type Operation, type Operations } from './operation.ts'
import { updateIndex } from './search-index-update.ts'
import { findInIndex } from './search-index.ts'
import { anyOf, either, joined, postgres, raw, sql, type Sql } from './sql.ts'

export interface SearchLimits {
  /** Maximum number of rows that one call examines, for which other requests wait on SQLite. */
  readonly rows: number
  /** Time that a call should take at most, in milliseconds. It examines fewer rows if their properties are long. */
  readonly ms: number
  /** Maximum number of runs of the search index that one call examines. */
  readonly runs: number
  /** Maximum number of rows that one transaction of an update of the search index reads or writes. */
  readonly indexedRows: number
}

const minRows = 16

interface Candidate {
  readonly teamId: number
  readonly position: string
}

/** The user groups to examine in one call, in order. */
interface Slice {
  readonly candidates: readonly Candidate[]
  /** Position after all that were considered; null at the end. */
  readonly end: string | null
}

/** Finds user groups by their content. A call takes a slice of the index that gives the order, and filters the rows in it. */
export function userGroupSearch(limits: SearchLimits): Operations<UserGroupSearchStore> {
  let parsedRows = Math.min(256, limits.rows)
  return {
    *search(query) {
      const { filter } = query
      if (filter.mappedTo?.length === 0) return { userGroups: [], position: null }
      const parses = filter.property !== undefined || filter.schemaKey !== undefined
      const started = performance.now()
      const result = yield* searchSlice(query, { rows: parses ? parsedRows : limits.rows, runs: limits.runs })
      if (parses) {
        const ms = performance.now() - started
        if (ms > limits.ms) parsedRows = Math.max(minRows, Math.floor(parsedRows / 2))
        else if (ms < limits.ms / 2) parsedRows = Math.min(limits.rows, parsedRows * 2)
      }
      return result
    },

    *count({ workspaceId, environment, filter, position }) {
      const scope = { workspaceId, environment }
      if (filter.mappedTo?.length === 0) return { count: 0, position: null }
      if (isIndexed(filter)) return yield* countIndexed(scope, filter)
      const { candidates, end } = yield* sliceOf(scope, filter, position, limits)
      const isExamined = filter.providedIdPrefix !== undefined || !hasPart(filter)
      const examined = isExamined ? candidates : yield* withParts(scope, candidates, filter)
      const conditions = conditionsOf(filter)
      const [row] = yield* selectOf<CountRow>(scope, examined, raw('count(*) AS count'), conditions)
      return { count: row?.count ?? 0, position: end }
    },

    *countEntries({ workspaceId, environment, after }) {
      const [schemaKey, dataSourceKey] = after ?? ['', '']
      // Compare the whole key: with a part of it, SQLite would scan all rows of the entry to continue after.
      const rows = yield* sql<EntryRow>`
        SELECT schema_key, data_source_key, count(*) AS count FROM (
          SELECT schema_key, data_source_key FROM mapping_entry
          WHERE workspace_id = ${workspaceId} AND environment = ${environment}
            AND (schema_key, data_source_key, team_id) > (${schemaKey}, ${dataSourceKey}, ${Number.MAX_SAFE_INTEGER})
          ORDER BY schema_key, data_source_key, team_id LIMIT ${limits.rows}
        ) AS slice
        GROUP BY schema_key, data_source_key ORDER BY schema_key, data_source_key`.inBucket(null)
      return {
        counts: rows.map(({ schema_key, data_source_key, count }) => ({
          entry: [schema_key, data_source_key],
          count,
        })),
        isEnd: rows.reduce((sum, { count }) => sum + count, 0) < limits.rows,
      }
    },

    updateIndex: inBatches(() => updateIndex({ portion: limits.indexedRows, erases: false })),
    eraseFromIndex: inBatches(() => updateIndex({ portion: limits.indexedRows, erases: true })),
  }
}

interface CountRow {
  readonly count: number
}

interface EntryRow extends CountRow {
  readonly schema_key: string
  readonly data_source_key: string
}

/** Returns whether the entries of an index are the user groups that match. */
function isIndexed({ suspended, ...others }: UserGroupFilter): boolean {
  return suspended !== false && Object.keys(others).length === 0
}

/** Counts entries of an index up to one more than the maximum. */
function* countIndexed(
  { workspaceId, environment }: TenantScope,
  { suspended }: UserGroupFilter,
): Operation<{ readonly count: number; readonly position: null }> {
  const condition = raw(suspended === true ? 'AND suspended_at IS NOT NULL' : '')
  const [row] = yield* sql<CountRow>`SELECT count(*) AS count FROM (
      SELECT 1 FROM user_group WHERE workspace_id = ${workspaceId} AND environment = ${environment} ${condition}
      LIMIT ${maxCounted + 1}
    ) AS entry`.inBucket(null)
  return { count: row?.count ?? 0, position: null }
}

function* searchSlice(
  { workspaceId, environment, filter, sort, position, limit }: SearchUserGroups,
  limits: Pick<SearchLimits, 'rows' | 'runs'>,
) {
  const scope = { workspaceId, environment }
  let { candidates, end } =
    sort === undefined
      ? yield* sliceOf(scope, filter, position, limits)
      : yield* sorted(
          scope,
          filter,
          sort,
          position,
          Object.keys(filter).length === 0 ? limit + 1 : limits.rows,
        )
  if (hasPart(filter) && filter.providedIdPrefix === undefined && sort === undefined) {
    // Most have the part, unless its characters are frequent in another order.
    const first = candidates.slice(0, 2 * limit)
    const others = candidates.slice(first.length)
    candidates = yield* withParts(scope, first, filter)
    if (candidates.length < limit) candidates = [...candidates, ...(yield* withParts(scope, others, filter))]
    else if (others.length > 0) end = first.at(-1)?.position ?? null
  }
  const conditions = conditionsOf(filter, sort !== undefined)
  if (conditions.length === 0 && candidates.length > limit) {
    candidates = candidates.slice(0, limit)
    end = candidates.at(-1)?.position ?? null
  }
  const found = yield* readAll(scope, candidates, conditions)
  const some = found.slice(0, limit)
  const positionOf = new Map(candidates.map((candidate) => [candidate.teamId, candidate.position]))
  const last = some.at(-1)
  return {
    userGroups: some.map((row) => userGroupOf(scope, row)),
    position: last === undefined || some.length < limit ? end : (positionOf.get(last.team_id) as string),
  }
}

function* sliceOf(
  scope: TenantScope,
  filter: UserGroupFilter,
  position: string | null,
  { rows, runs }: Pick<SearchLimits, 'rows' | 'runs'>,
): Operation<Slice> {
  const { providedIdPrefix, mappedTo, suspended, namePart = '', textPart = '' } = filter
  if (providedIdPrefix !== undefined)
    return yield* withPrefix(scope, providedIdPrefix, filter, position, rows)
  const after = Number(position ?? 0)
  const slice = { after, limit: rows }
  if (mappedTo !== undefined) return byTeamId(yield* mappedTeamIds(scope, mappedTo, slice), rows)
  if (suspended === true) return byTeamId(yield* suspendedTeamIds(scope, slice), rows)
  const [text = ''] = [foldText(namePart), foldText(textPart)].sort((a, b) => b.length - a.length)
  const { teamIds, end } = yield* findInIndex(scope, { ...slice, text, maxRuns: runs })
  return { ...byTeamId(teamIds, Infinity), end: end === null ? null : String(end) }
}

function* withPrefix(
  { workspaceId, environment }: TenantScope,
  prefix: string,
  filter: UserGroupFilter,
  position: string | null,
  limit: number,
): Operation<Slice> {
  const end = endOfPrefix(prefix)
  // One lower bound for the index: of two, SQLite may choose the less selective one.
  const start =
    position !== null && Buffer.compare(Buffer.from(position), Buffer.from(prefix)) >= 0
      ? sql`provided_id > ${position}`
      : sql`provided_id >= ${prefix}`
  const rows = yield* sql<TextRow>`SELECT team_id, provided_id, name FROM user_group
    WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND ${start}
      ${end === null ? raw('') : sql`AND provided_id < ${end}`}
    ORDER BY provided_id LIMIT ${limit}`.inBucket(null)
  const candidates = rows
    .filter(
      ({ provided_id, name }) => !hasPart(filter) || hasParts({ providedId: provided_id, name }, filter),
    )
    .map((row) => ({ teamId: row.team_id, position: row.provided_id }))
  return { candidates, end: rows.length === limit ? (rows.at(-1)?.provided_id ?? null) : null }
}

const sortKeys: Readonly<Record<UserGroupSort['by'], Sql>> = {
  name: either({ sqlite: raw('lower(name)'), postgres: raw('lower(name COLLATE "C")') }),
  user_group_id: raw('provided_id'),
  created_at: raw('created_at'),
}

/** Reads a slice of the index that gives the order. */
function* sorted(
  { workspaceId, environment }: TenantScope,
  filter: UserGroupFilter,
  { by, isDescending }: UserGroupSort,
  position: string | null,
  limit: number,
): Operation<Slice> {
  const key = sortKeys[by]
  const direction = raw(isDescending ? 'DESC' : 'ASC')
  const inTenantScope = sql`workspace_id ${by === 'user_group_id' ? raw('') : postgres`+ 0`} = ${workspaceId} AND environment = ${environment}`
  const follows = raw(isDescending ? '<' : '>')
  const [, after, teamId] =
    position === null ? [] : (JSON.parse(position) as [string, string | number, number])
  // Not one comparison of rows: SQLite would begin at the first row for it.
  const ranges =
    after === undefined
      ? [raw('')]
      : [sql`AND ${key} = ${after} AND team_id ${follows} ${teamId}`, sql`AND ${key} ${follows} ${after}`]
  const rows: (TextRow & { readonly sort_key: string | number })[] = []
  for (const range of ranges)
    if (rows.length < limit)
      rows.push(
        ...(yield* sql<(typeof rows)[number]>`
          SELECT team_id, provided_id, name, ${key} AS sort_key FROM user_group
          WHERE ${inTenantScope} ${range}
          ORDER BY ${key} ${direction}, team_id ${direction} LIMIT ${limit - rows.length}`.inBucket(null)),
      )
  const positionOf = ({ sort_key, team_id }: (typeof rows)[number]) => JSON.stringify([by, sort_key, team_id])
  const { providedIdPrefix = '' } = filter
  const candidates = rows
    .filter(({ provided_id }) => provided_id.startsWith(providedIdPrefix))
    .filter(
      ({ provided_id, name }) => !hasPart(filter) || hasParts({ providedId: provided_id, name }, filter),
    )
    .map((row) => ({ teamId: row.team_id, position: positionOf(row) }))
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { candidates, end: last === undefined ? null : positionOf(last) }
}

type TextRow = Pick<UserGroupRow, 'team_id' | 'provided_id' | 'name'>

function hasPart({ namePart, textPart }: UserGroupFilter): boolean {
  return namePart !== undefined || textPart !== undefined
}

interface TeamIdRow {
  readonly team_id: number
}

function* mappedTeamIds(
  { workspaceId, environment }: TenantScope,
  entries: readonly MappingEntry[],
  { after, limit }: { readonly after: number; readonly limit: number },
): Operation<number[]> {
  const ofEntry = ([schemaKey, dataSourceKey]: MappingEntry) => sql`
    SELECT team_id FROM (
      SELECT team_id FROM mapping_entry
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND schema_key = ${schemaKey}
        AND data_source_key = ${dataSourceKey} AND team_id > ${after}
      ORDER BY team_id LIMIT ${limit}
    ) AS entry`
  const rows =
    yield* sql<TeamIdRow>`SELECT team_id FROM (${joined(entries.map(ofEntry), ' UNION ')}) AS entries
    ORDER BY team_id LIMIT ${limit}`.inBucket(null)
  return rows.map((row) => row.team_id)
}

function* suspendedTeamIds(
  { workspaceId, environment }: TenantScope,
  { after, limit }: { readonly after: number; readonly limit: number },
): Operation<number[]> {
  const rows = yield* sql<TeamIdRow>`SELECT team_id FROM user_group
    WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND suspended_at IS NOT NULL AND team_id > ${after}
    ORDER BY team_id LIMIT ${limit}`.inBucket(null)
  return rows.map((row) => row.team_id)
}

function byTeamId(teamIds: readonly number[], limit: number): Slice {
  const candidates = teamIds.map((teamId) => ({ teamId, position: String(teamId) }))
  return { candidates, end: teamIds.length === limit ? (candidates.at(-1)?.position ?? null) : null }
}

/** Returns the candidates whose current name and id have the parts of the filter. */
function* withParts(
  scope: TenantScope,
  candidates: readonly Candidate[],
  filter: UserGroupFilter,
): Operation<Candidate[]> {
  const rows = yield* selectOf<TextRow>(
    scope,
    candidates,
    raw('user_group.team_id, user_group.provided_id, user_group.name'),
    [],
  )
  const found = new Set(
    rows
      .filter(({ provided_id, name }) => hasParts({ providedId: provided_id, name }, filter))
      .map((row) => row.team_id),
  )
  return candidates.filter(({ teamId }) => found.has(teamId))
}

function* readAll(
  scope: TenantScope,
  candidates: readonly Candidate[],
  conditions: readonly Sql[],
): Operation<UserGroupRow[]> {
  const rows = yield* selectOf<UserGroupRow>(scope, candidates, raw(columns), conditions)
  const rowOf = new Map(rows.map((row) => [row.team_id, row]))
  return candidates.flatMap(({ teamId }) => rowOf.get(teamId) ?? [])
}

function* selectOf<Row>(
  { workspaceId, environment }: TenantScope,
  candidates: readonly Candidate[],
  selected: Sql,
  conditions: readonly Sql[],
): Operation<Row[]> {
  if (candidates.length === 0) return []
  const teamIds = candidates.map(({ teamId }) => teamId)
  // The expressions keep the databases from the index of provided ids.
  const inTenantScope = either({
    sqlite: sql`+workspace_id = ${workspaceId} AND environment = ${environment}`,
    postgres: sql`workspace_id = ${workspaceId} AND environment || '' = ${environment}`,
  })
  return yield* sql<Row>`SELECT ${selected} FROM user_group
    WHERE ${inTenantScope} AND ${anyOf('team_id', 'bigint', teamIds)}
    ${joined(
      conditions.map((condition) => sql`AND ${condition}`),
      ' ',
    )}`.inBucket(null)
}

function conditionsOf(
  { providedIdPrefix, property, mappedTo, schemaKey, suspended }: UserGroupFilter,
  isSorted = false,
): Sql[] {
  // Without an order or a prefix, the slice already has only these rows.
  const entries = providedIdPrefix === undefined && !isSorted ? undefined : mappedTo
  return [
    ...(property === undefined ? [] : [hasProperty(property)]),
    ...(schemaKey === undefined
      ? []
      : [
          either({
            sqlite: sql`has_schema_key(mapping, ${schemaKey})`,
            postgres: sql`(${raw(jsonOf('mapping'))} ->> ${schemaKey}::text) IS NOT NULL`,
          }),
        ]),
    ...(suspended === undefined ? [] : [raw(`suspended_at IS ${suspended ? 'NOT ' : ''}NULL`)]),
    ...(entries === undefined ? [] : [sql`(${joined(entries.map(hasEntry), ' OR ')})`]),
  ]
}

function hasEntry([schemaKey, dataSourceKey]: MappingEntry): Sql {
  // A range, because PostgreSQL could turn an equality into a hash table of all entries.
  return sql`EXISTS (
    SELECT 1 FROM mapping_entry
    WHERE mapping_entry.workspace_id = user_group.workspace_id AND mapping_entry.environment = user_group.environment
      AND schema_key = ${schemaKey} AND data_source_key = ${dataSourceKey}
      AND mapping_entry.team_id BETWEEN user_group.team_id AND user_group.team_id
      ${postgres`AND mapping_entry.bucket = user_group.bucket`}
  )`
}

function hasProperty({ path, value }: NonNullable<UserGroupFilter['property']>): Sql {
  // Key by key, because `#>` would read a number as an array index.
  const found = joined([raw('properties::json'), ...path.map((key) => sql`${key}::text`)], ' -> ')
  const text = sql`${found} #>> '{}'`
  return either({
    sqlite: sql`has_property(properties, ${JSON.stringify(path)}, ${value})`,
    postgres: sql`CASE json_typeof(${found})
      WHEN 'number' THEN (${text})::float8 = ${numberOf(value) ?? null}::float8
      WHEN 'string' THEN ${text} = ${value}::text
      WHEN 'boolean' THEN ${text} = ${value}::text
    END`,
  })
}
