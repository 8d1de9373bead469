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
  readNamed,
  type Shape,
} from './shape.ts'
import type {
  GetOrCreateResult,
  IntrospectedUserGroup,
  MappedDataSource,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroup,
  ViewerSession,
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
const rotationShape: Shape<Wire['RotationResponse']> = { success: isOne, user_group: isObject }

const createdShape: Shape<Wire['GetOrCreateResponse']['user_group']> = { ...identity, properties }
const rotatedShape: Shape<Wire['RotationResponse']['user_group']> = {
  ...identity,
  api_environment_tag: isEnvironment,
}
const updatedShape: Shape<Wire['UpdateResponse']['user_group']> = { ...rotatedShape, properties }
const endSessionsShape: Shape<Wire['EndSessionsResponse']> = { success: isOne }
const createSessionShape: Shape<Wire['CreateSessionResponse']> = { ...endSessionsShape, session: isObject }
const sessionShape: Shape<Wire['CreateSessionResponse']['session']> = {
  token: isText,
  session_id: isText,
  expires_at: (value) => isText(value) && Date.parse(value as string) > 0,
  expires_in_seconds: isCount,
}

const activeShape: Shape<Pick<WireIntrospection, 'active' | 'token_type'>> = {
  active: (value) => value === true,
  token_type: (value) => value === 'user_group',
}
const introspectionShape: Shape<Omit<WireIntrospection, keyof typeof activeShape>> = {
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
  const { newUserGroup, userGroup } = readNamed(json, 'the response', getOrCreateShape)
  return { newUserGroup, userGroup: readNamed(userGroup, 'user_group', createdShape) as UserGroup }
}

export function readUpdate(json: unknown): UpdatedUserGroup {
  const { userGroup } = readNamed(json, 'the response', getOrCreateShape)
  return readNamed(userGroup, 'user_group', updatedShape) as UpdatedUserGroup
}

export function readRotation(json: unknown): RotatedUserGroup {
  return readNamed(readNamed(json, 'the response', rotationShape).userGroup, 'user_group', rotatedShape)
}

export function readSession(json: unknown): ViewerSession {
  const { session } = readNamed(json, 'the response', createSessionShape)
  const named = readNamed(session, 'session', sessionShape)
  return { ...named, expiresAt: Date.parse(named.expiresAt) }
}

export function readEndSessions(json: unknown): void {
  read(json, 'the response', endSessionsShape)
}

/** Returns null for an inactive token. */
export function readIntrospection(json: unknown): IntrospectedUserGroup | null {
  if (isObject(json) && json.active === false) {
    if (Object.keys(json).length === 1) return null
    throw badResponse('it is inactive but has more members')
  }
  read(json, 'the response', activeShape)
  const { sub, iat, exp, dataSources, ...group } = readNamed(json, 'the response', introspectionShape)
  return {
    providedId: sub,
    ...(group as Pick<IntrospectedUserGroup, keyof typeof group>),
    // Object.fromEntries instead of assignment: a key may be `__proto__`.
    dataSources: Object.fromEntries(
      Object.entries(dataSources).map(([key, value]) => [key, readDataSource(value)]),
    ),
    token: { issuedAt: iat * 1000, expiresAt: exp === undefined ? null : exp * 1000 },
  }
}

function readDataSource(value: unknown): MappedDataSource {
  const source = readNamed(value, 'data_sources', dataSourceShape)
  return { ...source, schema: readNamed(source.schema, 'data_sources', schemaShape) }
}
