import type { Database } from 'better-sqlite3'
import type {
  CountEntries,
  EntryCounts,
  SearchResult,
  SearchUserGroups,
  UserGroupFilter,
} from '../../domain/user-group/user-group-search-store.ts'
import {
  endOfPrefix,
  hasProperty,
  hasSchemaKey,
  foldText,
} from '../../domain/user-group/user-group-filter.ts'
import { entryCountsOf } from '../entry-counts.ts'
import { userGroupOf, type UserGroupRow } from '../user-group-row.ts'

/** Maximum number of rows that one call examines: some milliseconds, in which other requests wait. */
const maxRowsExamined = 4000
/** Minimum number of rows, and time limit in milliseconds, of a call that parses properties or mappings. */
const minRowsExamined = 16
const parsingMs = 10

/** Query of the rows to examine: `team_id` and `position`, in order, after `$position`. */
interface Path {
  readonly keys: string
  readonly values: Record<string, unknown>
  /** Position before the first row. */
  readonly start: string | number
}

/** Finds user groups by their content. Examines a bounded number of rows per call. */
export class UserGroupSearch {
  readonly #database: Database
  #rowsParsed = 256

  constructor(database: Database) {
    this.#database = database
    const options = { deterministic: true, directOnly: true }
    database.function('fold_text', options, (text: unknown) => foldText(String(text)))
    database.function('has_property', options, (properties: unknown, path: unknown, value: unknown) =>
      Number(hasProperty(properties as string | null, JSON.parse(String(path)) as string[], String(value))),
    )
    database.function('has_schema_key', options, (mapping: unknown, schemaKey: unknown) =>
      Number(hasSchemaKey(mapping as string | null, String(schemaKey))),
    )
  }

  search({ workspaceId, environment, filter, position, limit }: SearchUserGroups): SearchResult {
    if (filter.mappedTo?.length === 0) return { userGroups: [], position: null }
    const path = pathOf(filter, position === null)
    const isById = filter.providedIdPrefix !== undefined
    const values = {
      ...path.values,
      workspaceId,
      environment,
      position: position === null ? path.start : isById ? position : Number(position),
      rows: parses(filter) ? this.#rowsParsed : maxRowsExamined,
    }
    const started = performance.now()
    const slice = `WITH slice AS MATERIALIZED (${path.keys} ORDER BY position LIMIT $rows)`
    const end = this.#database
      .prepare<unknown[], string | number>(`${slice} SELECT position FROM slice LIMIT 1 OFFSET $rows - 1`)
      .pluck()
      .get(values)
    const conditions = conditionsOf(filter)
    const rows = this.#database
      .prepare<unknown[], UserGroupRow & { position: string | number }>(
        `${slice} SELECT user_group.*, position FROM slice CROSS JOIN user_group USING (team_id)
         WHERE ${['workspace_id = $workspaceId AND environment = $environment', ...conditions.sql].join(' AND ')}
         ORDER BY position LIMIT $limit`,
      )
      .all({ ...values, ...conditions.values, limit })
    if (parses(filter)) this.#adapt(performance.now() - started)
    const next = rows.length === limit ? rows.at(-1)?.position : end
    return {
      userGroups: rows.map((row) => userGroupOf({ workspaceId, environment }, row)),
      position: next === undefined ? null : String(next),
    }
  }

  #adapt(ms: number): void {
    if (ms > parsingMs) this.#rowsParsed = Math.max(minRowsExamined, Math.floor(this.#rowsParsed / 2))
    else if (ms < parsingMs / 2) this.#rowsParsed = Math.min(maxRowsExamined, this.#rowsParsed * 2)
  }

  countEntries({ workspaceId, environment, after }: CountEntries): EntryCounts {
    // Compare the whole key: with a part of it, SQLite would scan all rows of the entry to continue after.
    const rows = this.#database
      .prepare<unknown[], { schema_key: string; data_source_key: string; count: number }>(
        `SELECT schema_key, data_source_key, count(*) AS count FROM (
           SELECT schema_key, data_source_key FROM mapping_entry
           WHERE workspace_id = ? AND environment = ? AND (schema_key, data_source_key, team_id) > (?, ?, ?)
           ORDER BY schema_key, data_source_key LIMIT ?
         )
         GROUP BY schema_key, data_source_key ORDER BY schema_key, data_source_key`,
      )
      .all(workspaceId, environment, ...(after ?? ['', '']), Number.MAX_SAFE_INTEGER, maxRowsExamined)
    return entryCountsOf(rows, maxRowsExamined)
  }
}

function parses({ property, schemaKey }: UserGroupFilter): boolean {
  return property !== undefined || schemaKey !== undefined
}

/** Chooses an index if the filter has one. */
function pathOf({ providedIdPrefix, mappedTo, suspended }: UserGroupFilter, isFirst: boolean): Path {
  const isInScope = 'workspace_id = $workspaceId AND environment = $environment'
  if (providedIdPrefix !== undefined) {
    const end = endOfPrefix(providedIdPrefix)
    // One lower bound for the index: of two, SQLite may choose the less selective one.
    return {
      keys: `SELECT team_id, provided_id AS position FROM user_group
             WHERE ${isInScope} AND ${isFirst ? 'provided_id >= $prefix' : 'provided_id > $position AND +provided_id >= $prefix'}
             ${end === null ? '' : 'AND provided_id < $end'}`,
      values: { prefix: providedIdPrefix, ...(end !== null && { end }), ...valuesOf(mappedTo) },
      start: '',
    }
  }
  if (mappedTo !== undefined) {
    const ofEntry = (_: unknown, i: number) =>
      `SELECT team_id FROM (
         SELECT team_id FROM mapping_entry
         WHERE ${isInScope} AND schema_key = $schema${i} AND data_source_key = $source${i} AND team_id > $position
         ORDER BY team_id LIMIT $rows)`
    return {
      keys: `SELECT team_id, team_id AS position FROM (${mappedTo.map(ofEntry).join(' UNION ')})`,
      values: valuesOf(mappedTo),
      start: 0,
    }
  }
  const ofSuspended = suspended === true ? `${isInScope} AND suspended_at IS NOT NULL AND` : ''
  return {
    keys: `SELECT team_id, team_id AS position FROM user_group WHERE ${ofSuspended} team_id > $position`,
    values: {},
    start: 0,
  }
}

function valuesOf(mappedTo: UserGroupFilter['mappedTo'] = []): Record<string, string> {
  return Object.fromEntries(
    mappedTo.flatMap(([schemaKey, dataSourceKey], i) => [
      [`schema${i}`, schemaKey],
      [`source${i}`, dataSourceKey],
    ]),
  )
}

function conditionsOf(filter: UserGroupFilter): { sql: string[]; values: Record<string, unknown> } {
  const { providedIdPrefix, namePart, property, mappedTo, schemaKey, suspended } = filter
  // Without a prefix, the path already selects only these rows.
  const entries = providedIdPrefix === undefined ? undefined : mappedTo
  return {
    sql: [
      ...(namePart === undefined ? [] : ['instr(fold_text(name), $namePart) > 0']),
      ...(property === undefined ? [] : ['has_property(properties, $path, $value)']),
      ...(schemaKey === undefined ? [] : ['has_schema_key(mapping, $schemaKey)']),
      ...(suspended === undefined ? [] : [`suspended_at IS ${suspended ? 'NOT ' : ''}NULL`]),
      ...(entries === undefined
        ? []
        : [
            `EXISTS (SELECT 1 FROM mapping_entry AS entry
               WHERE entry.workspace_id = $workspaceId AND entry.environment = $environment
                 AND entry.team_id = user_group.team_id
                 AND (schema_key, data_source_key) IN (VALUES ${entries.map((_, i) => `($schema${i}, $source${i})`).join()}))`,
          ]),
    ],
    values: {
      ...(namePart !== undefined && { namePart: foldText(namePart) }),
      ...(schemaKey !== undefined && { schemaKey }),
      ...(property !== undefined && { path: JSON.stringify(property.path), value: property.value }),
    },
  }
}
