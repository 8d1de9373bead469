/** What a list of user groups is narrowed by; it stands in the address, so that a search can be linked. */
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

/** What of an address is such a search. */
export function readSearch(raw: Record<string, unknown>): UserGroupSearch {
  const { suspended } = raw
  return {
    ...Object.fromEntries(
      texts.flatMap((name) => (typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [])),
    ),
    ...((suspended === 'true' || suspended === 'false') && { suspended }),
  }
}

/** What can be asked for: while only one of two that belong together is filled in, neither counts. */
export function complete({
  property,
  property_value,
  schema,
  data_source,
  ...rest
}: UserGroupSearch): UserGroupSearch {
  return {
    ...rest,
    ...(property !== undefined && property_value !== undefined && { property, property_value }),
    ...(schema !== undefined && data_source !== undefined && { schema, data_source }),
  }
}

/** How many filters there are beside the text that is searched for. */
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
