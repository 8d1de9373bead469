import { array, json, object, successful, time, type Members } from '../../../contract/json/json-builder.ts'
import type { ResolvedEntry } from '../../../domain/data-source/data-source.ts'
import type {
  DeletedUserGroup,
  TokenlessUserGroup,
  UserGroupContent,
  UserGroupVersion,
} from '../../../domain/user-group/user-group.ts'
import type { WithHealth } from '../../../domain/user-group/user-group-health.ts'
import type { UserGroupDetails } from '../../../domain/user-group/user-group-management.ts'

const contentOf = ({ name, mapping, properties }: UserGroupContent): Members => ({
  name: json(name),
  mapping: mapping ?? 'null',
  properties: properties ?? 'null',
})

export const userGroupJson = (group: TokenlessUserGroup): string => object(membersOf(group))

export function listedUserGroupJson({ userGroup, health }: WithHealth): string {
  return object({
    ...membersOf(userGroup),
    health: object({
      mapping_entries: json(health.entries),
      unresolved_entries: json(health.unresolvedEntries),
      last_introspected_at: time(health.lastIntrospectedAt),
    }),
  })
}

function membersOf(group: TokenlessUserGroup): Members {
  return {
    team_id: json(group.teamId),
    provided_id: json(group.providedId),
    api_environment_tag: json(group.environment),
    ...contentOf(group),
    revision: json(group.revision),
    created_at: time(group.createdAt),
    updated_at: time(group.updatedAt),
    updated_by: json(group.updatedBy),
    token_issued_at: time(group.tokenIssuedAt),
    suspended_at: time(group.suspendedAt),
  }
}

export function deletedUserGroupJson(group: DeletedUserGroup): string {
  return json({
    team_id: group.teamId,
    provided_id: group.providedId,
    name: group.name,
    deleted_at: new Date(group.deletedAt).toISOString(),
    deleted_by: group.deletedBy,
  })
}

export function versionJson(version: UserGroupVersion): string {
  return object({
    revision: json(version.revision),
    ...contentOf(version),
    updated_at: time(version.updatedAt),
    updated_by: json(version.updatedBy),
  })
}

export const registeredJson = (dataSource: ResolvedEntry['dataSource']) =>
  json(dataSource && { id: dataSource.id, provided_id: dataSource.providedId, name: dataSource.name })

export function viewResponse({ userGroup, entries, lastIntrospectedAt, versions }: UserGroupDetails): string {
  return successful({
    user_group: userGroupJson(userGroup),
    variables: object({
      provided_id: json(userGroup.providedId),
      name: json(userGroup.name),
      properties: userGroup.properties ?? 'null',
    }),
    data_sources: array(entries, (entry) =>
      object({
        schema: json(entry.schemaKey),
        data_source: json(entry.dataSourceKey),
        has_schema: json(entry.schema !== null),
        registered: registeredJson(entry.dataSource),
      }),
    ),
    token: object({ active: json(userGroup.suspendedAt === null), issued_at: time(userGroup.tokenIssuedAt) }),
    last_introspected_at: time(lastIntrospectedAt),
    versions: array(versions, versionJson),
  })
}
