import { Type, type Static, type TObject } from 'typebox'
import { pointer, withoutNul } from '../../../contract/patterns.ts'
import { textEnum } from '../../../contract/schema.ts'
import { validationFailed } from '../../../domain/fault.ts'
import { jsonPointer, stepsOfPointer } from '../../../domain/json/json-pointer.ts'
import {
  healthProblems,
  type UserGroupSearch,
  type UserGroupSort,
} from '../../../domain/user-group/user-group-search-store.ts'
import { searchText } from '../fields.ts'

/** Search criteria in a query. */
export const criteria = {
  text: searchText('Part of the user group id or of the name. Case and accents are ignored.'),
  user_group_id_prefix: searchText('Prefix of the user group id, case-sensitive.'),
  name: searchText('Part of the name. Case and accents are ignored.'),
  property: Type.Optional(
    Type.String({
      description:
        'JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000 characters. Requires `property_value`.',
      pattern: pointer,
      maxLength: 1000,
      examples: ['/plan'],
    }),
  ),
  property_value: Type.Optional(
    Type.Unsafe<string>({
      type: ['string', 'number', 'boolean'],
      description:
        'Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000 characters.',
      pattern: withoutNul,
      maxLength: 1000,
    }),
  ),
  schema: searchText('Key of a mapping entry. Requires `data_source`.'),
  data_source: searchText(
    'Value of that mapping entry. Also finds user groups that name the same registered data source by its other id.',
  ),
  suspended: Type.Optional(textEnum(['true', 'false'])),
  health: Type.Optional(
    textEnum([...healthProblems], {
      description:
        'A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far. No index has it, so a page examines a limited number of user groups and may have few matches, or none.',
    }),
  ),
}

/** Search criteria of a query. `health` is not one of the store. */
export type Criteria = Omit<Static<TObject<typeof criteria>>, 'health'>

/** @throws Fault `validation_failed` if one of two parameters that belong together is missing */
export function searchOf(query: Criteria): UserGroupSearch {
  const { text, user_group_id_prefix, name, property, property_value, schema, data_source, suspended } = query
  for (const [one, other] of [
    ['property', 'property_value'],
    ['schema', 'data_source'],
  ] as const) {
    const missing = query[one] === undefined ? one : other
    if ((query[one] === undefined) !== (query[other] === undefined)) {
      const given = missing === one ? other : one
      throw validationFailed([{ path: `/${missing}`, message: `is required with ${given}` }])
    }
  }
  return {
    ...(text !== undefined && { textPart: text }),
    ...(user_group_id_prefix !== undefined && { providedIdPrefix: user_group_id_prefix }),
    ...(name !== undefined && { namePart: name }),
    ...(property !== undefined &&
      property_value !== undefined && {
        property: { path: stepsOfPointer(property), value: property_value },
      }),
    ...(schema !== undefined && data_source !== undefined && { mappedTo: [schema, data_source] as const }),
    ...(suspended !== undefined && { suspended: suspended === 'true' }),
  }
}

/** Returns the criteria of a search, as the members of a response. */
export function criteriaOf({
  textPart,
  providedIdPrefix,
  namePart,
  property,
  mappedTo,
  suspended,
}: UserGroupSearch) {
  return {
    text: textPart,
    userGroupIdPrefix: providedIdPrefix,
    name: namePart,
    property: property && jsonPointer(property.path),
    propertyValue: property?.value,
    schema: mappedTo?.[0],
    dataSource: mappedTo?.[1],
    suspended,
  }
}

interface Order {
  readonly sort?: UserGroupSort['by']
  readonly order?: 'asc' | 'desc'
}

/** @throws Fault `validation_failed` if there is a direction without an order */
export function sortOf({ sort, order }: Order): UserGroupSort | undefined {
  if (sort !== undefined) return { by: sort, isDescending: order === 'desc' }
  if (order === undefined) return undefined
  throw validationFailed([{ path: '/sort', message: 'is required with order' }])
}

/** Returns true if a text has the form of a position of a search with this order. */
export function isSortPosition({ by }: UserGroupSort, text: string): boolean {
  try {
    const [sort, key, teamId, ...rest] = JSON.parse(text) as unknown[]
    const isKey =
      by === 'created_at' ? Number.isSafeInteger(key) : typeof key === 'string' && !key.includes('\0')
    return sort === by && isKey && Number.isSafeInteger(teamId) && rest.length === 0
  } catch {
    return false
  }
}
