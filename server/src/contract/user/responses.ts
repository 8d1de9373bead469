import type { TokenOwner } from '../../domain/user-group/user-group-store.ts'
import type { UserGroupWithToken, RotationResult } from '../../domain/user-group/user-group-service.ts'

// The answers of `/api/user` and of introspection, byte for byte. They are spliced rather than built and serialised, since `properties` is
// kept as the JSON text that was sent and goes out as that. A test holds them to the schemas.

/** What every answer shows of a user group. */
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

/** RFC 7662, section 2.2: what is not active is told nothing else of. Times are in seconds. */
export function introspectionResponse(owner: Omit<TokenOwner, 'stamp'> | null): string {
  if (owner === null) return '{"active":false}'
  const { userGroup, issuedAt, validUntil, dataSources } = owner
  const { providedId, teamId, name, environment, mapping, properties } = userGroup
  const expiry = validUntil === null ? '' : `,"exp":${secondsOf(validUntil)}`
  return (
    `{"active":true,"token_type":"user_group","sub":${JSON.stringify(providedId)},"iat":${secondsOf(issuedAt)}${expiry},` +
    `"team_id":${teamId},"name":${JSON.stringify(name)},${environmentTag({ environment })},` +
    `"mapping":${mapping},"data_sources":${dataSourcesObject(dataSources)},"properties":${properties}}`
  )
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}

function dataSourcesObject(entries: TokenOwner['dataSources']): string {
  const members = entries.map(
    ({ schemaKey, dataSource: { id, providedId, name } }) =>
      `${JSON.stringify(schemaKey)}:${JSON.stringify({ id, provided_id: providedId, name })}`,
  )
  return `{${members.join()}}`
}

function identity({ teamId, token, name, providedId }: Shown): string {
  return `"team_id":${teamId},"token":"${token}","name":${JSON.stringify(name)},"provided_id":${JSON.stringify(providedId)}`
}

function environmentTag({ environment }: Pick<RotationResult, 'environment'>): string {
  return `"api_environment_tag":"${environment}"`
}
