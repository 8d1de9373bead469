import type {
  AuditEvent,
  DeletedUserGroup,
  Difference,
  IsolationFinding,
  AdminUserGroup,
  ListedUserGroup,
  PromotionCandidate,
  PromotionResult,
  RegisteredDataSource,
  RegisteredSchema,
  UserGroupVersion,
  UserGroupView,
} from './admin-types.ts'
import type { Page } from './paged.ts'
import {
  isArray,
  isBoolean,
  isCount,
  isEnvironment,
  isObject,
  isObjectOrNull,
  isOne,
  isOneOf,
  isText,
  isTextByKeyOrNull,
  isTextOrNull,
  isTimeText,
  isTimeTextOrNull,
  read,
  readEach,
  type Shape,
} from './shape.ts'
import type { DataSource, Json, JsonObject } from './user-group.ts'
import type { components } from './wire.ts'

// Readers for the responses of `/admin/v1`.

type Wire = components['schemas']
type WireDifference = Wire['DiffResponse']['differences'][number]
type WireEvent = Wire['AuditEventListResponse']['audit_events'][number]
type WireFinding = Wire['IsolationResponse']['findings'][number]
type WireVersion = Wire['VersionListResponse']['versions'][number]
type WireHealth = Wire['ListedUserGroup']['health']
type WireUser = Wire['ManagedUserGroup']

export const success = isOne
export const page = { success, next_cursor: isTextOrNull }
const named = { provided_id: isText, name: isText }
const content = { name: isText, mapping: isTextByKeyOrNull, properties: isObjectOrNull }
const authored = { updated_at: isTimeText, updated_by: isTextOrNull }
const registered = { id: isCount, ...named, created_at: isTimeText }
const isAnything = () => true

const userGroupShape: Shape<WireUser> = {
  team_id: isCount,
  provided_id: isText,
  api_environment_tag: isEnvironment,
  ...content,
  revision: isCount,
  created_at: isTimeText,
  ...authored,
  token_issued_at: isTimeText,
  suspended_at: isTimeTextOrNull,
}
const versionShape: Shape<WireVersion> = { revision: isCount, ...content, ...authored }
const differenceShape: Shape<WireDifference> = {
  path: (value) => typeof value === 'string',
  before: isAnything,
  after: isAnything,
}
const auditEventShape: Shape<WireEvent> = {
  event_id: isText,
  occurred_at: isTimeText,
  // Any string, so that actions of newer services are passed on.
  action: isText,
  author: isText,
  request_id: isTextOrNull,
  user_group: isObjectOrNull,
  details: isObjectOrNull,
}
const auditedUserGroupShape: Shape<NonNullable<WireEvent['user_group']>> = {
  team_id: isCount,
  provided_id: isText,
}
const healthShape: Shape<WireHealth> = {
  mapping_entries: isCount,
  unresolved_entries: isCount,
  last_introspected_at: isTimeTextOrNull,
}
const dataSourceShape: Shape<NonNullable<WireFinding['registered']>> = { id: isCount, ...named }
const schemaShape: Shape<Wire['SchemaResponse']['schema']> = registered
const registeredDataSourceShape: Shape<Wire['DataSourceResponse']['data_source']> = {
  ...registered,
  schema_id: isCount,
}

export function readUserGroups(json: unknown): Page<ListedUserGroup> {
  const response = readResponse<Wire['UserGroupListResponse']>(json, { ...page, user_groups: isArray })
  const items = response.user_groups.map((listed) => ({
    ...userGroupOf(listed),
    health: healthOf(listed.health),
  }))
  return { items, nextCursor: response.next_cursor }
}

export function readUserGroup(json: unknown): AdminUserGroup {
  return userGroupOf(
    readResponse<Wire['UserGroupResponse']>(json, { success, user_group: isObject }).user_group,
  )
}

export function readDeleted(json: unknown): void {
  readResponse<Wire['DeletedResponse']>(json, { success, deleted: (value) => value === true })
}

export function readToken(json: unknown): string {
  return readResponse<Wire['TokenResponse']>(json, { success, token: isText }).token
}

export function readView(json: unknown): UserGroupView {
  const response = readResponse<Wire['ViewResponse']>(json, {
    success,
    user_group: isObject,
    variables: isObject,
    data_sources: isArray,
    token: isObject,
    last_introspected_at: isTimeTextOrNull,
    versions: isArray,
  })
  const variables = read<Wire['ViewResponse']['variables']>(response.variables, 'variables', {
    ...named,
    properties: isObjectOrNull,
  })
  const token = read<Wire['ViewResponse']['token']>(response.token, 'token', {
    active: isBoolean,
    issued_at: isTimeText,
  })
  const dataSources = readEach<Wire['ViewResponse']['data_sources'][number]>(
    response.data_sources,
    'data_sources',
    { schema: isText, data_source: isText, has_schema: isBoolean, registered: isObjectOrNull },
  )
  return {
    userGroup: userGroupOf(response.user_group),
    variables: {
      providedId: variables.provided_id,
      name: variables.name,
      properties: variables.properties as JsonObject | null,
    },
    dataSources: dataSources.map((entry) => ({
      schema: entry.schema,
      dataSource: entry.data_source,
      hasSchema: entry.has_schema,
      registered: dataSourceOf(entry.registered),
    })),
    token: { active: token.active, issuedAt: Date.parse(token.issued_at) },
    lastIntrospectedAt: timeOf(response.last_introspected_at),
    versions: versionsOf(response.versions),
  }
}

export function readVersions(json: unknown): UserGroupVersion[] {
  return versionsOf(readResponse<Wire['VersionListResponse']>(json, { success, versions: isArray }).versions)
}

export function readDifferences(json: unknown): Difference[] {
  return differencesOf(
    readResponse<Wire['DiffResponse']>(json, { success, differences: isArray }).differences,
  )
}

export function readDeletedUserGroups(json: unknown): Page<DeletedUserGroup> {
  const response = readResponse<Wire['DeletedUserGroupListResponse']>(json, { ...page, user_groups: isArray })
  const groups = readEach<Wire['DeletedUserGroupListResponse']['user_groups'][number]>(
    response.user_groups,
    'user_groups',
    { team_id: isCount, ...named, deleted_at: isTimeText, deleted_by: isTextOrNull },
  )
  const items = groups.map((group) => ({
    teamId: group.team_id,
    providedId: group.provided_id,
    name: group.name,
    deletedAt: Date.parse(group.deleted_at),
    deletedBy: group.deleted_by,
  }))
  return { items, nextCursor: response.next_cursor }
}

export function readFindings(json: unknown): Page<IsolationFinding> {
  const response = readResponse<Wire['IsolationResponse']>(json, { ...page, findings: isArray })
  const findings = readEach<WireFinding>(response.findings, 'findings', {
    kind: isOneOf(['shared', 'unresolved', 'mapped_twice']),
    schema: isText,
    data_source: isText,
    registered: isObjectOrNull,
    user_groups: isArray,
  })
  const groups = (finding: WireFinding) =>
    readEach<WireFinding['user_groups'][number]>(finding.user_groups, 'user_groups', {
      team_id: isCount,
      ...named,
    })
  const items = findings.map((finding) => ({
    kind: finding.kind,
    schema: finding.schema,
    dataSource: finding.data_source,
    registered: dataSourceOf(finding.registered),
    userGroups: groups(finding).map((group) => ({
      teamId: group.team_id,
      providedId: group.provided_id,
      name: group.name,
    })),
  }))
  return { items, nextCursor: response.next_cursor }
}

export function readCandidates(json: unknown): Page<PromotionCandidate> {
  const response = readResponse<Wire['CandidateListResponse']>(json, { ...page, user_groups: isArray })
  const candidates = readEach<Wire['CandidateListResponse']['user_groups'][number]>(
    response.user_groups,
    'user_groups',
    { ...named, updated_at: isTimeText },
  )
  const items = candidates.map((candidate) => ({
    providedId: candidate.provided_id,
    name: candidate.name,
    updatedAt: Date.parse(candidate.updated_at),
  }))
  return { items, nextCursor: response.next_cursor }
}

export function readPromotion(json: unknown): PromotionResult[] {
  const response = readResponse<Wire['PromotionResponse']>(json, { success, results: isArray })
  const results = readEach<Wire['PromotionResponse']['results'][number]>(response.results, 'results', {
    provided_id: isText,
    outcome: isOneOf(['created', 'updated', 'unchanged', 'not_found', 'refused']),
    differences: isArray,
    team_id: (value) => value === null || isCount(value),
    message: isTextOrNull,
  })
  return results.map((result) => ({
    providedId: result.provided_id,
    outcome: result.outcome,
    differences: differencesOf(result.differences),
    teamId: result.team_id,
    message: result.message,
  }))
}

export function readSchemas(json: unknown): RegisteredSchema[] {
  return readResponse<Wire['SchemaListResponse']>(json, { success, schemas: isArray }).schemas.map(schemaOf)
}

export function readSchema(json: unknown): RegisteredSchema {
  return schemaOf(readResponse<Wire['SchemaResponse']>(json, { success, schema: isObject }).schema)
}

export function readDataSources(json: unknown): Page<RegisteredDataSource> {
  const response = readResponse<Wire['DataSourceListResponse']>(json, { ...page, data_sources: isArray })
  return { items: response.data_sources.map(registeredDataSourceOf), nextCursor: response.next_cursor }
}

export function readDataSource(json: unknown): RegisteredDataSource {
  const response = readResponse<Wire['DataSourceResponse']>(json, { success, data_source: isObject })
  return registeredDataSourceOf(response.data_source)
}

export function readAuditEvents(json: unknown): Page<AuditEvent> {
  const response = readResponse<Wire['AuditEventListResponse']>(json, { ...page, audit_events: isArray })
  return { items: response.audit_events.map(auditEventOf), nextCursor: response.next_cursor }
}

export function readResponse<Body extends object>(json: unknown, shape: Shape<Body>): Body {
  return read(json, 'the response', shape)
}

function healthOf(value: unknown): ListedUserGroup['health'] {
  const health = read(value, 'health', healthShape)
  return {
    mappingEntries: health.mapping_entries,
    unresolvedEntries: health.unresolved_entries,
    lastIntrospectedAt: timeOf(health.last_introspected_at),
  }
}

export function userGroupOf(value: unknown): AdminUserGroup {
  const group = read(value, 'a user group', userGroupShape)
  return {
    teamId: group.team_id,
    providedId: group.provided_id,
    environment: group.api_environment_tag,
    ...contentOf(group),
    revision: group.revision,
    createdAt: Date.parse(group.created_at),
    ...authorOf(group),
    tokenIssuedAt: Date.parse(group.token_issued_at),
    suspendedAt: timeOf(group.suspended_at),
  }
}

function versionsOf(value: unknown): UserGroupVersion[] {
  return readEach(value, 'versions', versionShape).map((version) => ({
    revision: version.revision,
    ...contentOf(version),
    ...authorOf(version),
  }))
}

function contentOf({ name, mapping, properties }: WireUser | WireVersion) {
  return { name, mapping, properties: properties as JsonObject | null }
}

function authorOf(group: WireUser | WireVersion) {
  return { updatedAt: Date.parse(group.updated_at), updatedBy: group.updated_by }
}

function differencesOf(value: unknown): Difference[] {
  return readEach(value, 'differences', differenceShape).map((difference) => ({
    path: difference.path,
    ...('before' in difference && { before: difference.before as Json }),
    ...('after' in difference && { after: difference.after as Json }),
  }))
}

function dataSourceOf(value: unknown): DataSource | null {
  if (value === null) return null
  const { id, provided_id: providedId, name } = read(value, 'registered', dataSourceShape)
  return { id, providedId, name }
}

function schemaOf(value: unknown): RegisteredSchema {
  const { id, provided_id: providedId, name, created_at } = read(value, 'a schema', schemaShape)
  return { id, providedId, name, createdAt: Date.parse(created_at) }
}

function registeredDataSourceOf(value: unknown): RegisteredDataSource {
  const dataSource = read(value, 'a data source', registeredDataSourceShape)
  const { id, provided_id: providedId, name, schema_id: schemaId, created_at } = dataSource
  return { id, providedId, name, schemaId, createdAt: Date.parse(created_at) }
}

function auditEventOf(value: unknown): AuditEvent {
  const event = read(value, 'an audit event', auditEventShape)
  const userGroup = event.user_group && read(event.user_group, 'a user group', auditedUserGroupShape)
  return {
    eventId: event.event_id,
    occurredAt: Date.parse(event.occurred_at),
    action: event.action,
    author: event.author,
    requestId: event.request_id,
    userGroup: userGroup && { teamId: userGroup.team_id, providedId: userGroup.provided_id },
    details: event.details,
  }
}

export function timeOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}
