import type { Operation } from './connection.ts'
import { jsonText, type WithUndefined } from './json-text.ts'
import * as responses from './admin-responses.ts'
import * as apiTokenResponses from './api-token-responses.ts'
import type {
  ApiTokenFields,
  ApiTokenRotation,
  AuditSearch,
  CandidateSearch,
  DataSourceFields,
  DataSourceSearch,
  LeakedTokenFields,
  NewUserGroupFields,
  PromotionFields,
  SchemaFields,
  UserGroupChange,
  UserGroupSearch,
  WebhookDeliverySearch,
  WebhookEndpointChange,
  WebhookEndpointFields,
  WebhookRedelivery,
  WebhookSecretRotation,
  WorkspaceFields,
} from './management-fields.ts'
import * as webhookResponses from './webhook-responses.ts'
import type { components } from './wire.ts'

// The operations of `/admin/v1`: how each is sent, and what a retry of it means.

type Wire = components['schemas']
type AfterAmbiguousFailure<Result> = NonNullable<Operation<Result>['afterAmbiguousFailure']>

/** Far above a page of 200 user groups of the maximum request body size. */
const maxResponseBytes = 256 * 1024 * 1024

/** The conflict may come from this operation's own earlier attempt, so "nothing changed" could be wrong. */
const rethrow = (ambiguous: unknown): never => {
  throw ambiguous
}
const afterChange: AfterAmbiguousFailure<never> = { revision_mismatch: rethrow }
/** The operation may have revoked the API token that it uses. */
const afterRevocation: AfterAmbiguousFailure<never> = { unauthenticated: rethrow }

export const searchUserGroups = (search: UserGroupSearch, cursor: string | undefined) => {
  const { userGroupIdPrefix, propertyValue, dataSource, ...others } = search
  const query = {
    ...others,
    user_group_id_prefix: userGroupIdPrefix,
    property_value: propertyValue,
    data_source: dataSource,
    cursor,
  }
  return get('/user-groups', responses.readUserGroups, query)
}

export const createUserGroup = ({ userGroupId, ...others }: NewUserGroupFields) => {
  const body: WithUndefined<Wire['NewUserGroup']> = { user_group_id: userGroupId, ...others }
  return {
    ...send('POST', '/user-groups', responses.readUserGroup, body),
    status: 201,
    afterAmbiguousFailure: { already_exists: rethrow },
  } as const
}

export const getUserGroup = (teamId: number) => get(pathOf(teamId), responses.readUserGroup)

export const updateUserGroup = (teamId: number, change: UserGroupChange, ifRevision: number | undefined) => {
  const body: WithUndefined<Wire['UserGroupPatch']> = change
  return {
    ...send('PATCH', pathOf(teamId), responses.readUserGroup, body),
    headers: { ...jsonType, ...ifMatch(teamId, ifRevision) },
    afterAmbiguousFailure: afterChange,
  } as const
}

export const deleteUserGroup = (teamId: number, ifRevision: number | undefined) =>
  ({
    ...send('DELETE', pathOf(teamId), responses.readDeleted),
    headers: ifMatch(teamId, ifRevision),
    afterAmbiguousFailure: { user_group_not_found: () => undefined },
  }) as const

export const getUserGroupToken = (teamId: number) => get(`${pathOf(teamId)}/token`, responses.readToken)

export const rotateUserGroupToken = (
  teamId: number,
  { gracePeriodSeconds, ...others }: { readonly gracePeriodSeconds?: number | undefined },
  revision: number,
) => {
  const body: WithUndefined<Wire['RotateBody']> = { grace_period_seconds: gracePeriodSeconds }
  return {
    ...send('POST', `${pathOf(teamId)}/rotate`, responses.readToken, { ...others, ...body }),
    headers: { ...jsonType, ...ifMatch(teamId, revision) },
  } as const
}

export const setSuspended = (teamId: number, action: 'suspend' | 'resume', ifRevision: number | undefined) =>
  ({
    ...send('POST', `${pathOf(teamId)}/${action}`, responses.readUserGroup),
    headers: ifMatch(teamId, ifRevision),
    afterAmbiguousFailure: afterChange,
  }) as const

export const viewUserGroup = (teamId: number) => get(`${pathOf(teamId)}/view`, responses.readView)

export const listUserGroupVersions = (teamId: number) =>
  get(`${pathOf(teamId)}/versions`, responses.readVersions)

export const diffUserGroupVersions = (teamId: number, from: number, to: number | undefined) =>
  get(`${pathOf(teamId)}/versions/${idOf('from', from)}/diff`, responses.readDifferences, {
    to: to === undefined ? to : idOf('to', to),
  })

export const restoreUserGroupVersion = (teamId: number, revision: number, ifRevision: number | undefined) =>
  ({
    ...send(
      'POST',
      `${pathOf(teamId)}/versions/${idOf('revision', revision)}/restore`,
      responses.readUserGroup,
    ),
    headers: ifMatch(teamId, ifRevision),
    // The service keeps a hundred revisions; this restore may have pushed the version out.
    afterAmbiguousFailure: { ...afterChange, not_found: rethrow },
  }) as const

export const listDeletedUserGroups = (limit: number | undefined, cursor: string | undefined) =>
  get('/deleted-user-groups', responses.readDeletedUserGroups, { limit, cursor })

export const restoreDeletedUserGroup = (teamId: number) =>
  send('POST', `/deleted-user-groups/${idOf('teamId', teamId)}/restore`, responses.readUserGroup)

export const listIsolationFindings = (limit: number | undefined, cursor: string | undefined) =>
  get('/isolation-findings', responses.readFindings, { limit, cursor })

export const listPromotionCandidates = (search: CandidateSearch, cursor: string | undefined) =>
  get('/promotions/candidates', responses.readCandidates, { ...search, cursor })

export const promoteUserGroups = ({ userGroupIds, dryRun, ...others }: PromotionFields) => {
  const body: WithUndefined<Omit<Wire['PromotionBody'], 'user_group_ids'>> & {
    readonly user_group_ids: readonly string[]
  } = { user_group_ids: userGroupIds, dry_run: dryRun }
  return send('POST', '/promotions', responses.readPromotion, { ...others, ...body })
}

export const reportLeakedToken = (fields: LeakedTokenFields) => {
  const body: WithUndefined<Wire['LeakedTokenBody']> = fields
  return {
    ...send('POST', '/leaked-tokens', apiTokenResponses.readLeakedToken, body),
    afterAmbiguousFailure: fields.rotate === true ? afterRevocation : {},
  } as const
}

export const listApiTokens = get('/api-tokens', apiTokenResponses.readApiTokens)

export const createApiToken = ({ expiresInSeconds, ...others }: ApiTokenFields) => {
  const body: WithUndefined<Pick<Wire['ApiTokenBody'], 'expires_in_seconds'>> = {
    expires_in_seconds: expiresInSeconds,
  }
  return {
    ...send('POST', '/api-tokens', apiTokenResponses.readNewApiToken, { ...others, ...body }),
    status: 201,
    isNonIdempotent: true,
  } as const
}

export const rotateApiToken = (id: number, { overlapSeconds }: ApiTokenRotation) => {
  const body: WithUndefined<Wire['ApiTokenRotationBody']> = { overlap_seconds: overlapSeconds }
  return {
    ...send('POST', `/api-tokens/${idOf('id', id)}/rotate`, apiTokenResponses.readRotatedApiToken, body),
    status: 201,
    isNonIdempotent: true,
  } as const
}

export const revokeApiToken = (id: number) =>
  ({
    ...send('POST', `/api-tokens/${idOf('id', id)}/revoke`, apiTokenResponses.readApiToken),
    afterAmbiguousFailure: afterRevocation,
  }) as const

export const listWorkspaces = get('/workspaces', apiTokenResponses.readWorkspaces)

export const createWorkspace = (fields: WorkspaceFields) => {
  const body: Wire['WorkspaceBody'] = fields
  return {
    ...send('POST', '/workspaces', apiTokenResponses.readNewWorkspace, body),
    status: 201,
    // The earlier attempt may have created this workspace, and its API token is lost.
    afterAmbiguousFailure: { already_exists: rethrow },
  } as const
}

export const listSchemas = get('/schemas', responses.readSchemas)

export const createSchema = ({ providedId, ...others }: SchemaFields) =>
  ({
    ...send('POST', '/schemas', responses.readSchema, { provided_id: providedId, ...others }),
    status: 201,
  }) as const

export const deleteSchema = (id: number) => remove(`/schemas/${idOf('id', id)}`)

export const listDataSources = ({ schemaId, ...others }: DataSourceSearch, cursor: string | undefined) =>
  get('/data-sources', responses.readDataSources, { ...others, schema_id: schemaId, cursor })

export const createDataSource = ({ schemaId, providedId, ...others }: DataSourceFields) => {
  const body: Pick<Wire['DataSourceBody'], 'schema_id' | 'provided_id'> = {
    schema_id: schemaId,
    provided_id: providedId,
  }
  return {
    ...send('POST', '/data-sources', responses.readDataSource, { ...body, ...others }),
    status: 201,
  } as const
}

export const deleteDataSource = (id: number) => remove(`/data-sources/${idOf('id', id)}`)

export const listAuditEvents = (search: AuditSearch, cursor: string | undefined) => {
  const { since, until, teamId, userGroupId, requestId, ...others } = search
  return get('/audit-events', responses.readAuditEvents, {
    since: timeText('since', since),
    until: timeText('until', until),
    team_id: teamId,
    user_group_id: userGroupId,
    request_id: requestId,
    ...others,
    cursor,
  })
}

export const listWebhookEndpoints = get('/webhook-endpoints', webhookResponses.readWebhookEndpoints)

export const createWebhookEndpoint = ({ eventTypes, ...others }: WebhookEndpointFields) =>
  ({
    ...send('POST', '/webhook-endpoints', webhookResponses.readWebhookSecret, {
      ...others,
      event_types: eventTypes,
    }),
    status: 201,
    isNonIdempotent: true,
  }) as const

export const getWebhookEndpoint = (id: number) => get(webhookPathOf(id), webhookResponses.readWebhookEndpoint)

export const updateWebhookEndpoint = (id: number, { eventTypes, ...others }: WebhookEndpointChange) =>
  send('PATCH', webhookPathOf(id), webhookResponses.readWebhookEndpoint, {
    ...others,
    event_types: eventTypes,
  })

export const deleteWebhookEndpoint = (id: number) => remove(webhookPathOf(id))

export const rotateWebhookSecret = (id: number, { overlapSeconds }: WebhookSecretRotation) => {
  const body: WithUndefined<Wire['WebhookSecretRotationBody']> = { overlap_seconds: overlapSeconds }
  return {
    ...send('POST', `${webhookPathOf(id)}/rotate-secret`, webhookResponses.readWebhookSecret, body),
    isNonIdempotent: true,
  } as const
}

export const listWebhookDeliveries = (
  id: number,
  search: WebhookDeliverySearch,
  cursor: string | undefined,
) => get(`${webhookPathOf(id)}/deliveries`, webhookResponses.readWebhookDeliveries, { ...search, cursor })

export const redeliverWebhook = (id: number, deliveryId: number) =>
  send(
    'POST',
    `${webhookPathOf(id)}/deliveries/${idOf('deliveryId', deliveryId)}/redeliver`,
    webhookResponses.readRedelivered,
  )

export const redeliverWebhooks = (id: number, { since, until }: WebhookRedelivery) =>
  send('POST', `${webhookPathOf(id)}/redeliver`, webhookResponses.readRedelivered, {
    since: timeText('since', since),
    until: timeText('until', until),
  })

type Parameter = string | number | boolean | undefined

/** The latest time that RFC 3339 can represent. */
const latestTime = Date.parse('9999-12-31T23:59:59.999Z')

const jsonType = { 'content-type': 'application/json' }

function get<Result>(
  path: string,
  read: (json: unknown) => Result,
  query: Readonly<Record<string, Parameter>> = {},
): Operation<Result> {
  return { method: 'GET', path: `/admin/v1${path}`, query: queryText(query), maxResponseBytes, read }
}

function send<Result>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  read: (json: unknown) => Result,
  body?: object,
): Operation<Result> {
  return {
    method,
    path: `/admin/v1${path}`,
    ...(body === undefined ? { body: '' } : { headers: jsonType, body: jsonText(body) }),
    read,
  }
}

function remove(path: string): Operation<void> {
  return {
    ...send('DELETE', path, responses.readDeleted),
    afterAmbiguousFailure: { not_found: () => undefined },
  }
}

function pathOf(teamId: number): string {
  return `/user-groups/${idOf('teamId', teamId)}`
}

function webhookPathOf(id: number): string {
  return `/webhook-endpoints/${idOf('id', id)}`
}

/** @throws TypeError for an id that would change the path */
function idOf(name: string, id: number): number {
  if (Number.isSafeInteger(id) && id >= 1) return id
  throw new TypeError(`${name} must be an integer, 1 or more`)
}

/** @throws TypeError for an invalid time */
function timeText(name: string, time: number | undefined): string | undefined {
  if (time === undefined) return undefined
  if (Number.isSafeInteger(time) && time >= 0 && time <= latestTime) return new Date(time).toISOString()
  throw new TypeError(`${name} must be a time in milliseconds since the Unix epoch`)
}

/** Returns the `If-Match` header with the ETag of this revision. */
function ifMatch(teamId: number, revision: number | undefined): Record<string, string> {
  return revision === undefined ? {} : { 'if-match': `"${teamId}.${idOf('ifRevision', revision)}"` }
}

/** @throws TypeError for a value that a query cannot represent */
function queryText(parameters: Readonly<Record<string, Parameter>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isValid = typeof value === 'number' ? Number.isFinite(value) : isTextOrBoolean(value)
      if (!isValid) throw new TypeError(`${name} cannot be sent in a query string`)
      return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`
    })
    .join('&')
}

function isTextOrBoolean(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value === 'boolean'
}
