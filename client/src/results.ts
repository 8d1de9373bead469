import { badAnswer } from './errors.ts'
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
  DataSource,
  GetOrCreateResult,
  IntrospectedUserGroup,
  JsonObject,
  RotatedUserGroup,
  UpdatedUserGroup,
} from './user-group.ts'
import type { components } from './wire.ts'

type Wire = components['schemas']
type WireIntrospection = Extract<Wire['IntrospectionAnswer'], { active: true }>
type WireDataSource = WireIntrospection['data_sources'][string]

const identity = { team_id: isCount, token: isText, name: isText, provided_id: isText }
const properties = isObjectOrNull

const getOrCreateShape: Shape<Wire['GetOrCreateAnswer']> = {
  success: isOne,
  new_user_group: isBoolean,
  user_group: isObject,
}
const updateShape: Shape<Wire['UpdateAnswer']> = getOrCreateShape
const rotationShape: Shape<Wire['RotationAnswer']> = { success: isOne, user_group: isObject }

const createdShape: Shape<Wire['GetOrCreateAnswer']['user_group']> = { ...identity, properties }
const rotatedShape: Shape<Wire['RotationAnswer']['user_group']> = {
  ...identity,
  api_environment_tag: isEnvironment,
}
const updatedShape: Shape<Wire['UpdateAnswer']['user_group']> = { ...rotatedShape, properties }

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
const dataSourceShape: Shape<WireDataSource> = { id: isCount, provided_id: isText, name: isText }

export function readGetOrCreate(json: unknown): GetOrCreateResult {
  const answer = read(json, 'the answer', getOrCreateShape)
  const group = read(answer.user_group, 'user_group', createdShape)
  return {
    newUserGroup: answer.new_user_group,
    userGroup: { ...identityOf(group), properties: group.properties as JsonObject | null },
  }
}

export function readUpdate(json: unknown): UpdatedUserGroup {
  const group = read(read(json, 'the answer', updateShape).user_group, 'user_group', updatedShape)
  return {
    ...identityOf(group),
    properties: group.properties as JsonObject | null,
    environment: group.api_environment_tag,
  }
}

export function readRotation(json: unknown): RotatedUserGroup {
  const group = read(read(json, 'the answer', rotationShape).user_group, 'user_group', rotatedShape)
  return { ...identityOf(group), environment: group.api_environment_tag }
}

/** Null for a token that is not active. */
export function readIntrospection(json: unknown): IntrospectedUserGroup | null {
  if (isObject(json) && json.active === false) {
    if (Object.keys(json).length === 1) return null
    throw badAnswer('the answer is inactive and says more')
  }
  const answer = read(json, 'the answer', introspectionShape)
  const dataSources = Object.entries(answer.data_sources)
  return {
    providedId: answer.sub,
    teamId: answer.team_id,
    name: answer.name,
    environment: answer.api_environment_tag,
    mapping: answer.mapping,
    // Not by assignment: a key may be __proto__.
    dataSources: Object.fromEntries(dataSources.map(([key, value]) => [key, readDataSource(value)])),
    properties: answer.properties as JsonObject | null,
    token: {
      issuedAt: answer.iat * 1000,
      expiresAt: answer.exp === undefined ? null : answer.exp * 1000,
    },
  }
}

function identityOf(group: Pick<Wire['RotationAnswer']['user_group'], keyof typeof identity>) {
  return { teamId: group.team_id, token: group.token, name: group.name, providedId: group.provided_id }
}

function readDataSource(value: unknown): DataSource {
  const { id, provided_id: providedId, name } = read(value, 'data_sources', dataSourceShape)
  return { id, providedId, name }
}
