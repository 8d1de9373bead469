import type { OpenedUserGroup, RotationResult } from '../domain/user-group-service.ts'

// The answers of `/api/user`, byte for byte. They are spliced rather than built and serialised, since `properties` is
// kept as the JSON text that was sent and goes out as that. A test holds them to the schemas.

export function getOrCreateAnswer(created: boolean, userGroup: OpenedUserGroup): string {
  return `{"success":1,"new_user_group":${created},"user_group":{${identity(userGroup)},"properties":${userGroup.properties}}}`
}

export function updateAnswer(userGroup: OpenedUserGroup): string {
  return `{"success":1,"new_user_group":false,"user_group":{${identity(userGroup)},"properties":${userGroup.properties},${environmentTag(userGroup)}}}`
}

export function rotationAnswer(userGroup: RotationResult): string {
  return `{"success":1,"user_group":{${identity(userGroup)},${environmentTag(userGroup)}}}`
}

function identity({ teamId, token, name, providedId }: RotationResult): string {
  return `"team_id":${teamId},"token":"${token}","name":${JSON.stringify(name)},"provided_id":${JSON.stringify(providedId)}`
}

function environmentTag({ environment }: RotationResult): string {
  return `"api_environment_tag":"${environment}"`
}
