import type { Operation } from './connection.ts'
import { jsonText, type Unset } from './json-text.ts'
import * as results from './managed-results.ts'
import type {
  ApiTokenFields,
  ApiTokenRotation,
  AuditSearch,
  DataSourceFields,
  DataSourceSearch,
  LeakedTokenFields,
  PromotionFields,
  SchemaFields,
  UserGroupChange,
  UserGroupSearch,
  WorkspaceFields,
} from './management-fields.ts'
import type { components } from './wire.ts'

// The operations of `/admin/v1`: how each is sent, and what a repeat of it does.

type Wire = components['schemas']
type AfterDoubt<Result> = NonNullable<Operation<Result>['afterDoubt']>

/** A page of 200 user groups, each as large as a body of a call may be, is well below. */
const maxAnswerBytes = 256 * 1024 * 1024

/** It may be the very try whose answer was lost that is in the way. To say that nothing has changed would be wrong. */
const unknown = (doubt: unknown): never => {
  throw doubt
}
const afterChange: AfterDoubt<never> = { revision_mismatch: unknown }
/** An API token may have been revoked that makes the call. */
const afterRevocation: AfterDoubt<never> = { unauthenticated: unknown }

export const searchUserGroups = (search: UserGroupSearch, cursor: string | undefined) => {
  const { userGroupIdPrefix, propertyValue, dataSource, ...others } = search
  const query = {
    ...others,
    user_group_id_prefix: userGroupIdPrefix,
    property_value: propertyValue,
    data_source: dataSource,
    cursor,
  }
  return get('/user-groups', results.readUserGroups, query)
}

export const getUserGroup = (teamId: number) => get(pathOf(teamId), results.readUserGroup)

export const updateUserGroup = (teamId: number, change: UserGroupChange, ifRevision: number | undefined) => {
  const body: Unset<Wire['UserGroupPatch']> = change
  return {
    ...send('PATCH', pathOf(teamId), results.readUserGroup, body),
    headers: { ...jsonType, ...ifMatch(teamId, ifRevision) },
    afterDoubt: afterChange,
  } as const
}

export const deleteUserGroup = (teamId: number, ifRevision: number | undefined) =>
  ({
    ...send('DELETE', pathOf(teamId), results.readDeleted),
    headers: ifMatch(teamId, ifRevision),
    afterDoubt: { user_group_not_found: () => undefined },
  }) as const

export const getUserGroupToken = (teamId: number) => get(`${pathOf(teamId)}/token`, results.readToken)

export const rotateUserGroupToken = (
  teamId: number,
  { gracePeriodSeconds, ...others }: { readonly gracePeriodSeconds?: number | undefined },
  revision: number,
) => {
  const body: Unset<Wire['RotateBody']> = { grace_period_seconds: gracePeriodSeconds }
  return {
    ...send('POST', `${pathOf(teamId)}/rotate`, results.readToken, { ...others, ...body }),
    headers: { ...jsonType, ...ifMatch(teamId, revision) },
  } as const
}

export const setSuspended = (teamId: number, action: 'suspend' | 'resume', ifRevision: number | undefined) =>
  ({
    ...send('POST', `${pathOf(teamId)}/${action}`, results.readUserGroup),
    headers: ifMatch(teamId, ifRevision),
    afterDoubt: afterChange,
  }) as const

export const viewUserGroup = (teamId: number) => get(`${pathOf(teamId)}/view`, results.readView)

export const listUserGroupVersions = (teamId: number) =>
  get(`${pathOf(teamId)}/versions`, results.readVersions)

export const diffUserGroupVersions = (teamId: number, from: number, to: number | undefined) =>
  get(`${pathOf(teamId)}/versions/${idOf('from', from)}/diff`, results.readDifferences, {
    to: to === undefined ? to : idOf('to', to),
  })

export const restoreUserGroupVersion = (teamId: number, revision: number, ifRevision: number | undefined) =>
  ({
    ...send(
      'POST',
      `${pathOf(teamId)}/versions/${idOf('revision', revision)}/restore`,
      results.readUserGroup,
    ),
    headers: ifMatch(teamId, ifRevision),
    // Of the last hundred revisions: the restoring itself may have been one too many.
    afterDoubt: { ...afterChange, not_found: unknown },
  }) as const

export const listDeletedUserGroups = (limit: number | undefined, cursor: string | undefined) =>
  get('/deleted-user-groups', results.readDeletedUserGroups, { limit, cursor })

export const restoreDeletedUserGroup = (teamId: number) =>
  send('POST', `/deleted-user-groups/${idOf('teamId', teamId)}/restore`, results.readUserGroup)

export const listIsolationFindings = (limit: number | undefined, cursor: string | undefined) =>
  get('/isolation-findings', results.readFindings, { limit, cursor })

export const promoteUserGroups = ({ userGroupIds, dryRun, ...others }: PromotionFields) => {
  const body: Unset<Omit<Wire['PromotionBody'], 'user_group_ids'>> & {
    readonly user_group_ids: readonly string[]
  } = { user_group_ids: userGroupIds, dry_run: dryRun }
  return send('POST', '/promotions', results.readPromotion, { ...others, ...body })
}

export const reportLeakedToken = (fields: LeakedTokenFields) => {
  const body: Unset<Wire['LeakedTokenBody']> = fields
  return {
    ...send('POST', '/leaked-tokens', results.readLeakedToken, body),
    afterDoubt: fields.rotate === true ? afterRevocation : {},
  } as const
}

export const listApiTokens = get('/api-tokens', results.readApiTokens)

export const createApiToken = ({ expiresInSeconds, ...others }: ApiTokenFields) => {
  const body: Unset<Pick<Wire['ApiTokenBody'], 'expires_in_seconds'>> = {
    expires_in_seconds: expiresInSeconds,
  }
  return {
    ...send('POST', '/api-tokens', results.readNewApiToken, { ...others, ...body }),
    status: 201,
    isOnce: true,
  } as const
}

export const rotateApiToken = (id: number, { overlapSeconds }: ApiTokenRotation) => {
  const body: Unset<Wire['ApiTokenRotationBody']> = { overlap_seconds: overlapSeconds }
  return {
    ...send('POST', `/api-tokens/${idOf('id', id)}/rotate`, results.readRotatedApiToken, body),
    status: 201,
    isOnce: true,
  } as const
}

export const revokeApiToken = (id: number) =>
  ({
    ...send('POST', `/api-tokens/${idOf('id', id)}/revoke`, results.readApiToken),
    afterDoubt: afterRevocation,
  }) as const

export const listWorkspaces = get('/workspaces', results.readWorkspaces)

export const createWorkspace = (fields: WorkspaceFields) => {
  const body: Wire['WorkspaceBody'] = fields
  return {
    ...send('POST', '/workspaces', results.readNewWorkspace, body),
    status: 201,
    // It may be the one that was asked for, its API token lost.
    afterDoubt: { already_exists: unknown },
  } as const
}

export const listSchemas = get('/schemas', results.readSchemas)

export const createSchema = ({ providedId, ...others }: SchemaFields) =>
  ({
    ...send('POST', '/schemas', results.readSchema, { provided_id: providedId, ...others }),
    status: 201,
  }) as const

export const deleteSchema = (id: number) => remove(`/schemas/${idOf('id', id)}`)

export const listDataSources = ({ schemaId, ...others }: DataSourceSearch, cursor: string | undefined) =>
  get('/data-sources', results.readDataSources, { ...others, schema_id: schemaId, cursor })

export const createDataSource = ({ schemaId, providedId, ...others }: DataSourceFields) => {
  const body: Pick<Wire['DataSourceBody'], 'schema_id' | 'provided_id'> = {
    schema_id: schemaId,
    provided_id: providedId,
  }
  return {
    ...send('POST', '/data-sources', results.readDataSource, { ...body, ...others }),
    status: 201,
  } as const
}

export const deleteDataSource = (id: number) => remove(`/data-sources/${idOf('id', id)}`)

export const listAuditEvents = (search: AuditSearch, cursor: string | undefined) => {
  const { since, until, teamId, userGroupId, requestId, ...others } = search
  return get('/audit-events', results.readAuditEvents, {
    since: timeText('since', since),
    until: timeText('until', until),
    team_id: teamId,
    user_group_id: userGroupId,
    request_id: requestId,
    ...others,
    cursor,
  })
}

type Parameter = string | number | boolean | undefined

/** The last that RFC 3339 can write. */
const latestTime = Date.parse('9999-12-31T23:59:59.999Z')

const jsonType = { 'content-type': 'application/json' }

function get<Result>(
  path: string,
  read: (json: unknown) => Result,
  query: Readonly<Record<string, Parameter>> = {},
): Operation<Result> {
  return { method: 'GET', path: `/admin/v1${path}`, query: queryText(query), maxAnswerBytes, read }
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
    ...send('DELETE', path, results.readDeleted),
    afterDoubt: { not_found: () => undefined },
  }
}

function pathOf(teamId: number): string {
  return `/user-groups/${idOf('teamId', teamId)}`
}

/** @throws TypeError for what would be another path */
function idOf(name: string, id: number): number {
  if (Number.isSafeInteger(id) && id >= 1) return id
  throw new TypeError(`${name} must be a whole number, 1 or more`)
}

/** @throws TypeError for what is no time */
function timeText(name: string, time: number | undefined): string | undefined {
  if (time === undefined) return undefined
  if (Number.isSafeInteger(time) && time >= 0 && time <= latestTime) return new Date(time).toISOString()
  throw new TypeError(`${name} must be a time in milliseconds since the Unix epoch`)
}

/** The ETag of the user group at this revision. */
function ifMatch(teamId: number, revision: number | undefined): Record<string, string> {
  return revision === undefined ? {} : { 'if-match': `"${teamId}.${idOf('ifRevision', revision)}"` }
}

/** @throws TypeError for what a query would alter without a word */
function queryText(parameters: Readonly<Record<string, Parameter>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isRight = typeof value === 'number' ? Number.isFinite(value) : isTextOrBoolean(value)
      if (!isRight) throw new TypeError(`${name} holds what a query cannot: it would be lost or altered`)
      return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`
    })
    .join('&')
}

function isTextOrBoolean(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value === 'boolean'
}
