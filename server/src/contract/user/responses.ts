import type { ActiveUserGroup, TokenOwner } from '../../domain/user-group/user-group-store.ts'
import type { SessionView } from '../../domain/viewer-session/viewer-session.ts'
import type { UserGroupWithToken, RotationResult } from '../../domain/user-group/user-group-service.ts'

// Response bodies of `/api/user` and introspection, built as text because `properties` is stored and returned as the JSON text
// that the client sent. A test compares them with the schemas.

/** The members that every response of `/api/user` contains. */
type Shown = Pick<UserGroupWithToken, 'teamId' | 'token' | 'name' | 'providedId'>

export function getOrCreateResponse(
  created: boolean,
  userGroup: Shown & Pick<UserGroupWithToken, 'properties'>,
): string {
  return `{"success":1,"new_user_group":${created},"user_group":{${identity(userGroup)},"properties":${userGroup.properties}}}`
}

export function updateResponse(userGroup: UserGroupWithToken): string {
  return `{"success":1,"new_user_group":false,"user_group":{${identity(userGroup)},"properties":${userGroup.properties},${environmentTag(userGroup)}}}`
}

export function rotationResponse(userGroup: RotationResult): string {
  return `{"success":1,"user_group":{${identity(userGroup)},${environmentTag(userGroup)}}}`
}

/** Returns an introspection response (RFC 7662, section 2.2). An inactive token has no other members. Times are in seconds. */
export function introspectionResponse(owner: Omit<TokenOwner, 'state'> | null): string {
  if (owner === null) return '{"active":false}'
  const { issuedAt, validUntil } = owner
  const expiry = validUntil === null ? '' : `,"exp":${secondsOf(validUntil)}`
  return activeResponse('user_group', `"iat":${secondsOf(issuedAt)}${expiry}`, owner)
}

/** Returns an introspection response about a viewer session. */
export function sessionIntrospectionResponse(session: Omit<SessionView, 'state'> | null): string {
  if (session === null) return introspectionResponse(null)
  const { iat, exp, jti, viewer, resources } = session.claims
  const others = `,"viewer":${JSON.stringify(viewer)}${resources === undefined ? '' : `,"resources":${JSON.stringify(resources)}`}`
  return activeResponse('viewer_session', `"iat":${iat},"exp":${exp},"jti":"${jti}"`, session, others)
}

function activeResponse(
  type: string,
  times: string,
  { userGroup, dataSources }: Omit<ActiveUserGroup, 'state'>,
  others = '',
): string {
  const { providedId, teamId, name, environment, mapping, properties } = userGroup
  return (
    `{"active":true,"token_type":"${type}","sub":${JSON.stringify(providedId)},${times},` +
    `"team_id":${teamId},"name":${JSON.stringify(name)},${environmentTag({ environment })},` +
    `"mapping":${mapping},"data_sources":${dataSourcesObject(dataSources)},"properties":${properties}${others}}`
  )
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}

function dataSourcesObject(entries: TokenOwner['dataSources']): string {
  const members = entries.map(
    ({ schemaKey, schema, dataSource: { id, providedId, name } }) =>
      `${JSON.stringify(schemaKey)}:${JSON.stringify({
        id,
        provided_id: providedId,
        name,
        schema: { id: schema.id, provided_id: schema.providedId },
      })}`,
  )
  return `{${members.join()}}`
}

function identity({ teamId, token, name, providedId }: Shown): string {
  return `"team_id":${teamId},"token":"${token}","name":${JSON.stringify(name)},"provided_id":${JSON.stringify(providedId)}`
}

function environmentTag({ environment }: Pick<RotationResult, 'environment'>): string {
  return `"api_environment_tag":"${environment}"`
}
