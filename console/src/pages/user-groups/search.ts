/** Search of user groups. Kept in the address, so that it can be linked. */
export interface UserGroupSearch {
  readonly name?: string
  readonly user_group_id_prefix?: string
  readonly property?: string
  readonly property_value?: string
  readonly schema?: string
  readonly data_source?: string
  readonly suspended?: 'true' | 'false'
}

const texts = [
  'name',
  'user_group_id_prefix',
  'property',
  'property_value',
  'schema',
  'data_source',
] as const satisfies (keyof UserGroupSearch)[]

/** Reads the search from an address. */
export function readSearch(raw: Record<string, unknown>): UserGroupSearch {
  const { suspended } = raw
  return {
    ...Object.fromEntries(
      texts.flatMap((name) => (typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [])),
    ),
    ...((suspended === 'true' || suspended === 'false') && { suspended }),
  }
}

/**
 * Returns the valid part of the search: of two fields that belong together, a single one does not count. The path `plan` means
 * `/plan`.
 */
export function complete({
  property,
  property_value,
  schema,
  data_source,
  ...rest
}: UserGroupSearch): UserGroupSearch {
  return {
    ...rest,
    ...(property !== undefined &&
      property_value !== undefined && {
        property: property.startsWith('/') ? property : `/${property}`,
        property_value,
      }),
    ...(schema !== undefined && data_source !== undefined && { schema, data_source }),
  }
}

/** Number of filters besides the text. */
export function filterCount({
  property,
  property_value,
  schema,
  data_source,
  suspended,
}: UserGroupSearch): number {
  return [property ?? property_value, schema ?? data_source, suspended].filter((set) => set !== undefined)
    .length
}

export const isSameSearch = (one: UserGroupSearch, other: UserGroupSearch): boolean =>
  one.suspended === other.suspended && texts.every((name) => one[name] === other[name])
