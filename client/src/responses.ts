import { badResponse } from './errors.ts'
import {
  isBoolean,
  isCount,
  isEnvironment,
  isObject,
  isObjectOrNull,
  isOne,
  isText,
  isTextByKeyOrNull,
  isTime,
  read,
  type Shape,
} from './shape.ts'
import type {
  GetOrCreateResult,
  IntrospectedUserGroup,
  JsonObject,
  MappedDataSource,
  RotatedUserGroup,
  UpdatedUserGroup,
} from './user-group.ts'
import type { UserWire as Wire } from './wire.ts'

type WireIntrospection = Wire['ActiveToken']
type WireDataSource = WireIntrospection['data_sources'][string]

const identity = { team_id: isCount, token: isText, name: isText, provided_id: isText }
const properties = isObjectOrNull

const getOrCreateShape: Shape<Wire['GetOrCreateResponse']> = {
  success: isOne,
  new_user_group: isBoolean,
  user_group: isObject,
}
const updateShape: Shape<Wire['UpdateResponse']> = getOrCreateShape
const rotationShape: Shape<Wire['RotationResponse']> = { success: isOne, user_group: isObject }

const createdShape: Shape<Wire['GetOrCreateResponse']['user_group']> = { ...identity, properties }
const rotatedShape: Shape<Wire['RotationResponse']['user_group']> = {
  ...identity,
  api_environment_tag: isEnvironment,
}
const updatedShape: Shape<Wire['UpdateResponse']['user_group']> = { ...rotatedShape, properties }

const introspectionShape: Shape<WireIntrospection> = {
  active: (value) => value === true,
  token_type: (value) => value === 'user_group',
  sub: isText,
  iat: isTime,
  exp: (value) => value === undefined || isTime(value),
  team_id: isCount,
  name: isText,
  api_environment_tag: isEnvironment,
  mapping: isTextByKeyOrNull,
  data_sources: isObject,
  properties,
}
const schemaShape: Shape<WireDataSource['schema']> = { id: isCount, provided_id: isText }
const dataSourceShape: Shape<WireDataSource> = {
  ...schemaShape,
  name: isText,
  schema: isObject,
}

export function readGetOrCreate(json: unknown): GetOrCreateResult {
  const response = read(json, 'the response', getOrCreateShape)
  const group = read(response.user_group, 'user_group', createdShape)
  return {
    newUserGroup: response.new_user_group,
    userGroup: { ...identityOf(group), properties: group.properties as JsonObject | null },
  }
}

export function readUpdate(json: unknown): UpdatedUserGroup {
  const group = read(read(json, 'the response', updateShape).user_group, 'user_group', updatedShape)
  return {
    ...identityOf(group),
    properties: group.properties as JsonObject | null,
    environment: group.api_environment_tag,
  }
}

export function readRotation(json: unknown): RotatedUserGroup {
  const group = read(read(json, 'the response', rotationShape).user_group, 'user_group', rotatedShape)
  return { ...identityOf(group), environment: group.api_environment_tag }
}

/** Returns null for an inactive token. */
export function readIntrospection(json: unknown): IntrospectedUserGroup | null {
  if (isObject(json) && json.active === false) {
    if (Object.keys(json).length === 1) return null
    throw badResponse('it is inactive but has more members')
  }
  const response = read(json, 'the response', introspectionShape)
  const dataSources = Object.entries(response.data_sources)
  return {
    providedId: response.sub,
    teamId: response.team_id,
    name: response.name,
    environment: response.api_environment_tag,
    mapping: response.mapping,
    // Object.fromEntries instead of assignment: a key may be `__proto__`.
    dataSources: Object.fromEntries(dataSources.map(([key, value]) => [key, readDataSource(value)])),
    properties: response.properties as JsonObject | null,
    token: {
      issuedAt: response.iat * 1000,
      expiresAt: response.exp === undefined ? null : response.exp * 1000,
    },
  }
}

function identityOf(group: Pick<Wire['RotationResponse']['user_group'], keyof typeof identity>) {
  return { teamId: group.team_id, token: group.token, name: group.name, providedId: group.provided_id }
}

function readDataSource(value: unknown): MappedDataSource {
  const { id, provided_id: providedId, name, schema } = read(value, 'data_sources', dataSourceShape)
  const named = read(schema, 'data_sources', schemaShape)
  return { id, providedId, name, schema: { id: named.id, providedId: named.provided_id } }
}
