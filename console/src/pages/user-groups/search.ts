import type { Filter } from '../../api/jobs.ts'
import { mayHaveToken } from '../../api/token-text.ts'

/** Problems by which user groups can be filtered. */
export const healthLabels = {
  no_mapping: 'No mapping',
  unresolved: 'Names no data source',
  never_viewed: 'Never viewed',
} as const

export type HealthProblem = keyof typeof healthLabels

/** Search of user groups. Kept in the address, so that it can be linked. */
export interface UserGroupSearch {
  /** A part of the name or of the id. */
  readonly text?: string
  readonly property?: string
  readonly property_value?: string
  readonly schema?: string
  readonly data_source?: string
  readonly suspended?: 'true' | 'false'
  readonly health?: HealthProblem
  readonly sort?: SortKey
  /** Absent for ascending. */
  readonly order?: 'desc'
}

const sortKeys = ['name', 'user_group_id', 'created_at'] as const
export type SortKey = (typeof sortKeys)[number]

const texts = [
  'text',
  'property',
  'property_value',
  'schema',
  'data_source',
] as const satisfies (keyof UserGroupSearch)[]

/** Reads the search from an address. */
export function readSearch(raw: Record<string, unknown>): UserGroupSearch {
  const { suspended, health, sort, order } = raw
  return {
    ...Object.fromEntries(
      texts.flatMap((name) => {
        const value = raw[name]
        return typeof value === 'string' && value !== '' && !mayHaveToken(value) ? [[name, value]] : []
      }),
    ),
    ...((suspended === 'true' || suspended === 'false') && { suspended }),
    ...(isProblem(health) && { health }),
    ...(isSortKey(sort) && { sort, ...(order === 'desc' && { order }) }),
  }
}

/**
 * Returns the filters that are complete: of two fields that belong together, a single one does not count. The path `plan` means
 * `/plan`.
 */
function filtersOf(search: UserGroupSearch) {
  const { property, property_value, schema, data_source, suspended, health } = search
  return {
    ...(property !== undefined &&
      property_value !== undefined && {
        property: property.startsWith('/') ? property : `/${property}`,
        property_value,
      }),
    ...(schema !== undefined && data_source !== undefined && { schema, data_source }),
    ...(suspended !== undefined && { suspended }),
    ...(health !== undefined && { health }),
  }
}

/** Returns the filter of a search, as query parameters of the service. */
export function filterOf(search: UserGroupSearch): Readonly<Record<string, string>> {
  const { text } = search
  return { ...(text !== undefined && { text }), ...filtersOf(search) }
}

/** Returns the filter of a search, as a job takes it. */
export function jobFilterOf(search: UserGroupSearch): Filter {
  const { suspended, ...filter } = filterOf(search)
  return { ...filter, ...(suspended !== undefined && { suspended: suspended === 'true' }) }
}

/** Number of filters besides the text. */
export function filterCount({
  property,
  property_value,
  schema,
  data_source,
  suspended,
  health,
}: UserGroupSearch): number {
  return [property ?? property_value, schema ?? data_source, suspended, health].filter(
    (set) => set !== undefined,
  ).length
}

export const isSameSearch = (one: UserGroupSearch, other: UserGroupSearch): boolean =>
  one.suspended === other.suspended &&
  one.health === other.health &&
  one.sort === other.sort &&
  one.order === other.order &&
  texts.every((name) => one[name] === other[name])

const isSortKey = (value: unknown): value is SortKey => sortKeys.some((key) => key === value)

const isProblem = (value: unknown): value is HealthProblem =>
  typeof value === 'string' && Object.hasOwn(healthLabels, value)
