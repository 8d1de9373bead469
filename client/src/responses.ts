import {
  isArray,
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
  JsonObject,
  MappedDataSource,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroup,
  ViewerSession,
} from './user-group.ts'
import type { UserWire as Wire } from './wire.ts'

type WireToken = Wire['ActiveToken']
type WireActiveSession = Wire['ActiveSession']
type Introspection = Omit<WireToken, keyof typeof activeShape> &
  Partial<Pick<WireActiveSession, 'jti' | 'viewer' | 'resources'>>
type WireViewer = Record<'id' | 'name' | 'time_zone' | 'locale', string> & { readonly properties: JsonObject }
type WireDataSource = WireToken['data_sources'][string]

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

const optional = (isValid: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || isValid(value)

const isAbsent = (value: unknown) => value === undefined

const activeShape: Shape<Pick<WireToken | WireActiveSession, 'active' | 'token_type'>> = {
  active: (value) => value === true,
  token_type: (value) => value === 'user_group' || value === 'viewer_session',
}
const tokenShape: Shape<Introspection> = {
  sub: isText,
  iat: isTime,
  exp: optional(isTime),
  team_id: isCount,
  name: isText,
  api_environment_tag: isEnvironment,
  mapping: isTextByKeyOrNull,
  data_sources: isObject,
  properties,
  jti: isAbsent,
  viewer: isAbsent,
  resources: isAbsent,
}
const activeSessionShape: Shape<Introspection> = {
  ...tokenShape,
  exp: isTime,
  jti: isText,
  viewer: isObject,
  resources: optional((value) => isArray(value) && value.every(isText)),
}
const viewerShape: Shape<WireViewer> = {
  id: isText,
  name: optional(isText),
  properties: optional(isObject),
  time_zone: optional(isText),
  locale: optional(isText),
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
  if (JSON.stringify(json) === '{"active":false}') return null
  const { token_type } = read(json, 'the response', activeShape)
  const shape = token_type === 'viewer_session' ? activeSessionShape : tokenShape
  const { sub, iat, exp, jti, viewer, dataSources, ...group } = readNamed(json, 'the response', shape)
  return {
    providedId: sub,
    sessionId: jti,
    ...(group as Pick<IntrospectedUserGroup, keyof typeof group>),
    // Object.fromEntries instead of assignment: a key may be `__proto__`.
    dataSources: Object.fromEntries(
      Object.entries(dataSources).map(([key, value]) => [key, readDataSource(value)]),
    ),
    viewer: viewer && readNamed(viewer, 'viewer', viewerShape),
    token: { issuedAt: iat * 1000, expiresAt: exp && exp * 1000 },
  }
}

function readDataSource(value: unknown): MappedDataSource {
  const source = readNamed(value, 'data_sources', dataSourceShape)
  return { ...source, schema: readNamed(source.schema, 'data_sources', schemaShape) }
}
