import type {
  UserGroupSearchStore,
  CountEntries,
  EntryCounts,
  SearchResult,
  SearchUserGroups,
  UserGroupFilter,
} from '../../domain/user-group/user-group-search-store.ts'
import { endOfPrefix, numberOf, withoutCase } from '../../domain/user-group/user-group-filter.ts'
import { entryCountsOf } from '../entry-counts.ts'
import type { Retry } from './retry.ts'
import { columns, userGroupOf, type UserGroupRow } from '../user-group-row.ts'

/** Number of rows that one call examines: some hundredths of a second of one connection. */
const maxRowsExamined = 5000

interface SliceEnd {
  /** Null if there are no more rows to examine, or if the page is full. */
  readonly slice_end: string | number | null
}

type FoundRow = UserGroupRow & SliceEnd & { readonly position: string | number }
type NothingFound = SliceEnd & { readonly position: null }

/** Values of a statement, numbered in order. */
class Values {
  readonly list: unknown[] = []

  add(value: unknown, type: 'bigint' | 'text' | 'text[]' | 'float8'): string {
    return `$${this.list.push(value)}::${type}`
  }
}

/** Finds user groups by their content. Examines a bounded number of rows per call. */
export class UserGroupSearch implements UserGroupSearchStore {
  readonly #retry: Retry
  #collation: Promise<string> | undefined

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async search(query: SearchUserGroups): Promise<SearchResult> {
    const { workspaceId, environment, filter, position, limit } = query
    if (filter.mappedTo?.length === 0) return { userGroups: [], position: null }
    const collation = filter.namePart === undefined ? '' : await this.#findCollation()
    const values = new Values()
    const isInScope = `workspace_id = ${values.add(workspaceId, 'bigint')} AND environment = ${values.add(environment, 'text')}`
    const isById = filter.providedIdPrefix !== undefined
    const after = isById
      ? values.add(position ?? '', 'text')
      : values.add(position === null ? 0 : Number(position), 'bigint')
    const rows = values.add(maxRowsExamined, 'bigint')
    const most = values.add(limit, 'bigint')
    const slice = `(${keysOf(filter, { isInScope, after, rows }, values)} ORDER BY position LIMIT ${rows}) AS slice`
    // Rows are examined in order, and only as many as needed. There is always one row, with the end of the slice.
    const sql = `WITH found AS MATERIALIZED (
        SELECT ${columns}, position
        FROM ${slice} CROSS JOIN LATERAL (
          SELECT * FROM user_group WHERE ${isInScope} AND team_id = slice.team_id LIMIT 1
        ) AS user_group
        WHERE ${['true', ...conditionsOf(filter, values, collation)].join(' AND ')}
        ORDER BY position LIMIT ${most}
      )
      SELECT slice_end, found.*
      FROM (
        SELECT CASE WHEN (SELECT count(*) FROM found) < ${most}
          THEN (SELECT position FROM ${slice} ORDER BY position LIMIT 1 OFFSET ${rows} - 1) END AS slice_end
      ) AS slice_end
      LEFT JOIN found ON true
      ORDER BY position`
    const results = await this.#retry.query<FoundRow | NothingFound>(sql, values.list)
    const found = results.filter((row) => row.position !== null)
    const next = found.length === limit ? found.at(-1)?.position : results[0]?.slice_end
    return {
      userGroups: found.map((row) => userGroupOf({ workspaceId, environment }, row)),
      position: next === undefined || next === null ? null : String(next),
    }
  }

  /**
   * Returns a collation that knows letters beyond ASCII, which the locale "C" does not. Nearly every PostgreSQL has it;
   * otherwise the locale of the database applies.
   */
  #findCollation(): Promise<string> {
    this.#collation ??= this.#retry
      .query("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'")
      .then((rows) => (rows.length === 0 ? '' : 'COLLATE "und-x-icu"'))
    this.#collation.catch(() => (this.#collation = undefined))
    return this.#collation
  }

  async countEntries({ workspaceId, environment, after }: CountEntries): Promise<EntryCounts> {
    const rows = await this.#retry.query<{ schema_key: string; data_source_key: string; count: number }>(
      `SELECT schema_key, data_source_key, count(*) AS count FROM (
         SELECT schema_key, data_source_key FROM mapping_entry
         WHERE workspace_id = $1 AND environment = $2 AND (schema_key, data_source_key) > ($3, $4)
         ORDER BY schema_key, data_source_key LIMIT $5
       ) AS slice
       GROUP BY schema_key, data_source_key ORDER BY schema_key, data_source_key`,
      [workspaceId, environment, ...(after ?? ['', '']), maxRowsExamined],
    )
    return entryCountsOf(rows, maxRowsExamined)
  }
}

/** Returns the query for the rows to examine, in order, by an index if the filter has one. */
function keysOf(
  { providedIdPrefix, mappedTo, suspended }: UserGroupFilter,
  { isInScope, after, rows }: { isInScope: string; after: string; rows: string },
  values: Values,
): string {
  if (providedIdPrefix !== undefined) {
    const end = endOfPrefix(providedIdPrefix)
    return `SELECT team_id, provided_id AS position FROM user_group
      WHERE ${isInScope} AND provided_id > ${after} AND provided_id >= ${values.add(providedIdPrefix, 'text')}
      ${end === null ? '' : `AND provided_id < ${values.add(end, 'text')}`}`
  }
  if (mappedTo !== undefined) {
    const ofEntry = ([schemaKey, dataSourceKey]: readonly [string, string]) => `(
      SELECT team_id FROM mapping_entry
      WHERE ${isInScope} AND schema_key = ${values.add(schemaKey, 'text')}
        AND data_source_key = ${values.add(dataSourceKey, 'text')} AND team_id > ${after}
      ORDER BY team_id LIMIT ${rows})`
    return `SELECT team_id, team_id AS position FROM (${mappedTo.map(ofEntry).join(' UNION ')}) AS entry`
  }
  const ofSuspended = suspended === true ? 'environment = $2 AND suspended_at IS NOT NULL AND' : ''
  return `SELECT team_id, team_id AS position FROM user_group
    WHERE workspace_id = $1 AND ${ofSuspended} team_id > ${after}`
}

function conditionsOf(
  { providedIdPrefix, namePart, property, mappedTo, suspended }: UserGroupFilter,
  values: Values,
  collation: string,
): string[] {
  // Without a prefix, the keys already select only these rows.
  const entries = providedIdPrefix === undefined ? undefined : mappedTo
  return [
    ...(namePart === undefined
      ? []
      : [`strpos(lower(name ${collation}), ${values.add(withoutCase(namePart), 'text')}) > 0`]),
    ...(property === undefined ? [] : [hasProperty(property, values)]),
    ...(suspended === undefined ? [] : [`suspended_at IS ${suspended ? 'NOT ' : ''}NULL`]),
    ...(entries === undefined
      ? []
      : [
          `EXISTS (SELECT 1 FROM unnest(${values.add(
            entries.map(([schemaKey]) => schemaKey),
            'text[]',
          )}, ${values.add(
            entries.map(([, dataSourceKey]) => dataSourceKey),
            'text[]',
          )}) AS wanted (schema_key, data_source_key)
             CROSS JOIN LATERAL (
               SELECT 1 FROM mapping_entry
               WHERE workspace_id = $1 AND environment = $2 AND schema_key = wanted.schema_key
                 AND data_source_key = wanted.data_source_key AND team_id = user_group.team_id LIMIT 1
             ) AS entry)`,
        ]),
  ]
}

function hasProperty({ path, value }: NonNullable<UserGroupFilter['property']>, values: Values): string {
  // Key by key, because `#>` would read a number as an array index.
  const keys = path.map((key) => values.add(key, 'text'))
  const found = ['properties::json', ...keys].join(' -> ')
  const text = `${found} #>> '{}'`
  const wanted = values.add(value, 'text')
  const number = values.add(numberOf(value) ?? null, 'float8')
  return `CASE json_typeof(${found})
    WHEN 'number' THEN (${text})::float8 = ${number}
    WHEN 'string' THEN ${text} = ${wanted}
    WHEN 'boolean' THEN ${text} = ${wanted}
  END`
}
