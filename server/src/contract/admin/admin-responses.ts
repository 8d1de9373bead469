import type { ApiToken } from '../../domain/api-token/api-token.ts'
import { timeOfEvent, type AuditEvent } from '../../domain/audit/audit-event.ts'
import type { DataSource, ResolvedEntry, Schema } from '../../domain/data-source/data-source.ts'
import type { JsonDifference } from '../../domain/json/json-diff.ts'
import type { ImportResult, ImportSummary } from '../../domain/user-group/user-group-import.ts'
import { rateLimitText } from '../../domain/api-token/rate-limit.ts'
import type { PromotionResult } from '../../domain/user-group/promotion.ts'
import type {
  DeletedUserGroup,
  TokenlessUserGroup,
  UserGroupContent,
  UserGroupVersion,
} from '../../domain/user-group/user-group.ts'
import type {
  IsolationFinding,
  LeakedToken,
  UserGroupView,
} from '../../domain/user-group/user-group-management.ts'
import type { Workspace } from '../../domain/workspace.ts'

// The answers of `/admin/v1`. Like those of `/api/user` they are spliced, since mapping and properties go out as the JSON
// text that was sent. A test holds them to the schemas.

type Members = Record<string, string>

/** `members` are JSON texts. */
function object(members: Members): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`
}

function array<T>(items: readonly T[], jsonOf: (item: T) => string): string {
  return `[${items.map(jsonOf).join()}]`
}

const json = (value: unknown) => JSON.stringify(value)
const time = (ms: number | null) => json(ms === null ? null : new Date(ms).toISOString())

export function successful(members: Members): string {
  return object({ success: '1', ...members })
}

/** A page of a list. `cursor` is null where there is no next one. */
export function listResponse<T>(
  name: string,
  items: readonly T[],
  jsonOf: (item: T) => string,
  cursor?: string | null,
): string {
  return successful({
    [name]: array(items, jsonOf),
    ...(cursor !== undefined && { next_cursor: json(cursor) }),
  })
}

const contentOf = ({ name, mapping, properties }: UserGroupContent): Members => ({
  name: json(name),
  mapping: mapping ?? 'null',
  properties: properties ?? 'null',
})

export function userGroupJson(group: TokenlessUserGroup): string {
  return object({
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
  })
}

/** A line of the answer to an import. */
export function importResultJson({ line, providedId, outcome, fault }: ImportResult): string {
  const error = fault && {
    code: fault.code,
    message: fault.message,
    ...(fault.fields.length > 0 && { fields: fault.fields }),
  }
  return json({ line, user_group_id: providedId, outcome, ...(error !== null && { error }) })
}

/** Its last line. */
export function importSummaryJson(summary: ImportSummary, isDryRun: boolean): string {
  return json({ summary: { ...summary, dry_run: isDryRun } })
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

export function diffResponse(differences: readonly JsonDifference[]): string {
  return successful({ differences: json(differences) })
}

const registeredJson = (dataSource: ResolvedEntry['dataSource']) =>
  json(dataSource && { id: dataSource.id, provided_id: dataSource.providedId, name: dataSource.name })

export function viewResponse({ userGroup, entries, lastIntrospectedAt, versions }: UserGroupView): string {
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
        has_schema: json(entry.hasSchema),
        registered: registeredJson(entry.dataSource),
      }),
    ),
    token: object({ active: json(userGroup.suspendedAt === null), issued_at: time(userGroup.tokenIssuedAt) }),
    last_introspected_at: time(lastIntrospectedAt),
    versions: array(versions, versionJson),
  })
}

export function isolationFindingJson({ kind, entry, dataSource, userGroups }: IsolationFinding): string {
  return object({
    kind: json(kind),
    schema: json(entry[0]),
    data_source: json(entry[1]),
    registered: registeredJson(dataSource),
    user_groups: array(userGroups, ({ teamId, providedId, name }) =>
      json({ team_id: teamId, provided_id: providedId, name }),
    ),
  })
}

export function promotionResultJson(result: PromotionResult): string {
  return json({
    provided_id: result.providedId,
    outcome: result.outcome,
    differences: result.differences,
    team_id: result.teamId,
    message: result.message,
  })
}

export function leakedTokenResponse(leaked: LeakedToken): string {
  switch (leaked.kind) {
    case 'user_group_token':
      return successful({
        kind: json(leaked.kind),
        works: json(leaked.works),
        user_group: userGroupJson(leaked.userGroup),
        valid_until: time(leaked.validUntil),
        rotated: json(leaked.rotated),
      })
    case 'api_token':
      return successful({
        kind: json(leaked.kind),
        works: json(leaked.works),
        api_token: apiTokenJson(leaked.apiToken),
      })
    case 'unknown':
      return successful({ kind: json(leaked.kind), works: 'false' })
  }
}

export function apiTokenJson(token: ApiToken): string {
  return object({
    id: json(token.id),
    name: json(token.name),
    api_environment_tag: json(token.environment),
    scopes: json(token.scopes),
    created_at: time(token.createdAt),
    expires_at: time(token.expiresAt),
    revoked_at: time(token.revokedAt),
    last_used_at: time(token.lastUsedAt),
    replaced_by: json(token.replacedBy),
    rate_limit: json(token.rateLimit && rateLimitText(token.rateLimit)),
  })
}

export function workspaceJson({ id, name, createdAt }: Workspace): string {
  return object({ id: json(id), name: json(name), created_at: time(createdAt) })
}

const registered = ({ id, providedId, name, createdAt }: Schema | DataSource): Members => ({
  id: json(id),
  provided_id: json(providedId),
  name: json(name),
  created_at: time(createdAt),
})

export function schemaJson(schema: Schema): string {
  return object(registered(schema))
}

export function dataSourceJson(dataSource: DataSource): string {
  return object({ ...registered(dataSource), schema_id: json(dataSource.schemaId) })
}

export function auditEventJson(event: AuditEvent): string {
  const { userGroup } = event
  return object({
    event_id: json(event.eventId),
    occurred_at: time(timeOfEvent(event.eventId)),
    action: json(event.action),
    author: json(event.author),
    request_id: json(event.requestId),
    user_group: json(userGroup && { team_id: userGroup.teamId, provided_id: userGroup.providedId }),
    details: event.details ?? 'null',
  })
}
