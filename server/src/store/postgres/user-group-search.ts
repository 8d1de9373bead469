import type {
  UserGroupSearchStore,
  CountEntries,
  EntryCounts,
  SearchResult,
  SearchUserGroups,
  UserGroupFilter,
} from '../../domain/user-group/user-group-search-store.ts'
import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import { endOfPrefix, numberOf, foldText } from '../../domain/user-group/user-group-filter.ts'
import { entryCountsOf } from '../entry-counts.ts'
import { entryIn } from './data-source-sql.ts'
import type { Retry } from './retry.ts'
import { columns, userGroupOf, type UserGroupRow } from '../user-group-row.ts'

/** Number of rows that one call examines: some hundredths of a second of one connection. */
const maxRowsExamined = 5000

/** Values of a statement, numbered in order. */
class Values {
  readonly list: unknown[] = []

  add(value: unknown, type: 'bigint' | 'bigint[]' | 'text' | 'float8'): string {
    return `$${this.list.push(value)}::${type}`
  }
}

/**
 * Finds user groups by their content. Examines a bounded number of rows per call: the first statement finds the end of a slice of
 * the index that gives the order, the second filters the rows in it. Citus runs both on each shard, and merges sorted results.
 */
export class UserGroupSearch implements UserGroupSearchStore {
  readonly #retry: Retry
  #collation: Promise<string> | undefined

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async search(query: SearchUserGroups): Promise<SearchResult> {
    const { workspaceId, environment, filter, limit } = query
    if (filter.mappedTo?.length === 0) return { userGroups: [], position: null }
    const collation = filter.namePart === undefined ? '' : await this.#findCollation()
    const slice = await this.#findSlice(query)
    const values = new Values()
    const isInWorkspace = `workspace_id = ${values.add(workspaceId, 'bigint')}`
    const environmentValue = values.add(environment, 'text')
    const conditions = [...slice.conditionsOf(values), ...conditionsOf(filter, values, collation)]
    const column = positionColumn(filter)
    const rows = await this.#retry.query<UserGroupRow>(
      `SELECT ${columns} FROM user_group
       WHERE ${isInWorkspace} AND ${inEnvironment(filter, environmentValue)} AND ${conditions.join(' AND ')}
       ORDER BY ${column} LIMIT ${values.add(limit, 'bigint')}`,
      values.list,
      null,
    )
    const next = rows.length === limit ? rows.at(-1)?.[column] : slice.end
    return {
      userGroups: rows.map((row) => userGroupOf({ workspaceId, environment }, row)),
      position: next === undefined || next === null ? null : String(next),
    }
  }

  async #findSlice(query: SearchUserGroups): Promise<Slice> {
    const { workspaceId, environment, filter, position } = query
    const values = new Values()
    const isInWorkspace = `workspace_id = ${values.add(workspaceId, 'bigint')}`
    const { providedIdPrefix, mappedTo, suspended } = filter
    // In order of team id, the primary key has the user groups of both environments. All other indexes have the environment.
    const isInScope =
      providedIdPrefix === undefined && mappedTo === undefined && suspended !== true
        ? isInWorkspace
        : `${isInWorkspace} AND environment = ${values.add(environment, 'text')}`
    if (mappedTo !== undefined && providedIdPrefix === undefined) {
      const after = values.add(Number(position ?? 0), 'bigint')
      const ofEntry = ([schemaKey, dataSourceKey]: MappingEntry) => `(
        SELECT team_id FROM mapping_entry
        WHERE ${isInScope} AND schema_key = ${values.add(schemaKey, 'text')}
          AND data_source_key = ${values.add(dataSourceKey, 'text')} AND team_id > ${after}
        ORDER BY team_id LIMIT ${maxRowsExamined})`
      const rows = await this.#retry.query<{ team_id: number }>(
        `SELECT team_id FROM (${mappedTo.map(ofEntry).join(' UNION ')}) AS entry ORDER BY team_id LIMIT ${maxRowsExamined}`,
        values.list,
        null,
      )
      const teamIds = rows.map(({ team_id }) => team_id)
      return {
        end: teamIds.length === maxRowsExamined ? (teamIds.at(-1) ?? null) : null,
        conditionsOf: (more) => [`team_id = ANY (${more.add(teamIds, 'bigint[]')})`],
      }
    }
    const column = positionColumn(filter)
    const type = column === 'team_id' ? 'bigint' : 'text'
    const start = position ?? (column === 'team_id' ? 0 : '')
    const prefix = providedIdPrefix === undefined ? [] : prefixConditions(providedIdPrefix, values)
    const isSuspended = suspended === true ? ['suspended_at IS NOT NULL'] : []
    const rows = await this.#retry.query<{ position: string | number }>(
      `SELECT position FROM (
         SELECT ${column} AS position FROM user_group
         WHERE ${[isInScope, ...isSuspended, `${column} > ${values.add(start, type)}`, ...prefix].join(' AND ')}
         ORDER BY ${column} LIMIT ${maxRowsExamined}
       ) AS slice ORDER BY position OFFSET ${maxRowsExamined - 1} LIMIT 1`,
      values.list,
      null,
    )
    const end = rows[0]?.position ?? null
    return {
      end,
      conditionsOf: (more) => [
        `${column} > ${more.add(start, type)}`,
        ...(end === null ? [] : [`${column} <= ${more.add(end, type)}`]),
        ...(providedIdPrefix === undefined ? [] : prefixConditions(providedIdPrefix, more)),
      ],
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
      null,
    )
    return entryCountsOf(rows, maxRowsExamined)
  }
}

/** The rows to examine in one call. */
interface Slice {
  /** Position of the last row; null if no rows follow. */
  readonly end: string | number | null
  readonly conditionsOf: (values: Values) => string[]
}

function positionColumn({ providedIdPrefix }: UserGroupFilter): 'team_id' | 'provided_id' {
  return providedIdPrefix === undefined ? 'team_id' : 'provided_id'
}

/**
 * In order of team id, the expression keeps PostgreSQL without statistics from the index of provided ids, which it would sort. Suspended
 * user groups have an index with the environment.
 */
function inEnvironment(filter: UserGroupFilter, environment: string): string {
  return positionColumn(filter) === 'team_id' && filter.suspended !== true
    ? `environment || '' = ${environment}`
    : `environment = ${environment}`
}

function prefixConditions(prefix: string, values: Values): string[] {
  const end = endOfPrefix(prefix)
  return [
    `provided_id >= ${values.add(prefix, 'text')}`,
    ...(end === null ? [] : [`provided_id < ${values.add(end, 'text')}`]),
  ]
}

function conditionsOf(
  { providedIdPrefix, namePart, property, mappedTo, schemaKey, suspended }: UserGroupFilter,
  values: Values,
  collation: string,
): string[] {
  // Without a prefix, the slice already has only these rows.
  const entries = providedIdPrefix === undefined ? undefined : mappedTo
  return [
    ...(namePart === undefined
      ? []
      : [`strpos(${foldedName(collation)}, ${values.add(foldText(namePart), 'text')}) > 0`]),
    ...(property === undefined ? [] : [hasProperty(property, values)]),
    ...(schemaKey === undefined ? [] : [`${entryIn('mapping', values.add(schemaKey, 'text'))} IS NOT NULL`]),
    ...(suspended === undefined ? [] : [`suspended_at IS ${suspended ? 'NOT ' : ''}NULL`]),
    ...(entries === undefined ? [] : [`(${entries.map((entry) => hasEntry(entry, values)).join(' OR ')})`]),
  ]
}

/** The same as `foldText`. Names without accents, which are most, skip the expensive part. */
function foldedName(collation: string): string {
  const lower = `lower(name ${collation})`
  return `CASE WHEN octet_length(name) = length(name) THEN ${lower}
    ELSE normalize(regexp_replace(normalize(${lower}, NFD), '[\\u0300-\\u036f]', '', 'g'), NFC) END`
}

function hasEntry([schemaKey, dataSourceKey]: MappingEntry, values: Values): string {
  // A range, because PostgreSQL could turn an equality into a hash table of all entries.
  return `EXISTS (
    SELECT 1 FROM mapping_entry
    WHERE mapping_entry.workspace_id = user_group.workspace_id AND mapping_entry.environment = user_group.environment
      AND schema_key = ${values.add(schemaKey, 'text')} AND data_source_key = ${values.add(dataSourceKey, 'text')}
      AND mapping_entry.team_id BETWEEN user_group.team_id AND user_group.team_id
      AND mapping_entry.bucket = user_group.bucket
  )`
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
