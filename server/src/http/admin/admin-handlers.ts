import { Readable } from 'node:stream'
import {
  apiTokenJson,
  auditEventJson,
  dataSourceJson,
  deletedUserGroupJson,
  diffResponse,
  importResultJson,
  importSummaryJson,
  isolationFindingJson,
  leakedTokenResponse,
  listResponse,
  promotionResultJson,
  schemaJson,
  successful,
  userGroupJson,
  versionJson,
  viewResponse,
  workspaceJson,
} from '../../contract/admin/admin-responses.ts'
import type { AdminOperationId } from '../../contract/admin/admin-operations.ts'
import type {
  AuditQuery,
  DataSourceQuery,
  DiffQuery,
  ExportQuery,
  ImportQuery,
  PageQuery,
  UserGroupQuery,
} from '../../contract/admin/admin-queries.ts'
import type {
  ApiTokenBody,
  ApiTokenRotationBody,
  DataSourceBody,
  LeakedTokenBody,
  PromotionBody,
  RotateBody,
  SchemaBody,
  WorkspaceBody,
} from '../../contract/admin/admin-schemas.ts'
import { readChange } from '../../contract/user/bodies.ts'
import { rowWriters, type BulkFormat } from '../../contract/import/import-rows.ts'
import { defaultOverlapMs } from '../../domain/api-token/api-token.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import { isEventId } from '../../domain/audit/audit-event.ts'
import type { AuditLog } from '../../domain/audit/audit-log.ts'
import type { DataSourceManagement } from '../../domain/data-source/data-source-management.ts'
import { validationFailed } from '../../domain/fault.ts'
import { parseTimestamp } from '../../domain/util/timestamp.ts'
import { stepsOfPointer } from '../../domain/json/json-pointer.ts'
import type { Promotion } from '../../domain/user-group/promotion.ts'
import type { TokenlessUserGroup } from '../../domain/user-group/user-group.ts'
import {
  isIsolationPosition,
  type UserGroupManagement,
  type UserGroupSearch,
} from '../../domain/user-group/user-group-management.ts'
import { UserGroupImport, type ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { AdminResponse, AdminRequest } from './admin-routes.ts'
import { cursorOf, isId, positionOf } from './cursor.ts'
import { expectedOf } from './etag.ts'
import { spool } from './spool.ts'

export interface AdminServices {
  readonly auditLog: AuditLog
  readonly userGroups: UserGroupService
  readonly management: UserGroupManagement
  readonly promotion: Promotion
  readonly apiTokens: ApiTokenManagement
  readonly dataSources: DataSourceManagement
}

type Handler = (call: AdminRequest) => Promise<AdminResponse>

const defaultLimit = 50
const maxLimit = 200
const versionsListed = 200
const deleted = { json: successful({ deleted: 'true' }) }

/** What each operation of `/admin/v1` does. Queries and bodies are as their schemas have it. */
export function handlersOf(parts: AdminServices): Record<AdminOperationId, Handler> {
  return {
    ...userGroupHandlers(parts),
    ...accessHandlers(parts),
    ...registryHandlers(parts),
    ...auditHandlers(parts),
  }
}

function userGroupHandlers({ userGroups, management, promotion }: AdminServices) {
  const teamIdOf = ({ params }: AdminRequest) => params.team_id as number
  const find = (call: AdminRequest) => management.find(call.caller, teamIdOf(call))
  const expected = (call: AdminRequest) =>
    expectedOf(teamIdOf(call), call.ifMatch, async () => (await find(call)).revision)
  return {
    searchUserGroups: async ({ caller, query }) => {
      const { cursor, ...rest } = query as UserGroupQuery
      const search = searchOf(rest)
      const isPosition = search.providedIdPrefix === undefined ? isId : () => true
      const { items, position } = await management.search(caller, search, {
        position: positionOf(cursor, isPosition),
        limit: limitOf(rest),
      })
      return { json: listResponse('user_groups', items, userGroupJson, cursorOf(position)) }
    },
    getUserGroup: async (call) => userGroupResponse(await find(call)),
    patchUserGroup: async (call) => {
      const { providedId } = await find(call)
      const change = readChange(call.body)
      return userGroupResponse(await userGroups.update(call.caller, providedId, change, await expected(call)))
    },
    deleteUserGroup: async (call) => {
      await management.delete(call.caller, await expected(call))
      return deleted
    },
    getUserGroupToken: async (call) => {
      const { token, teamId, revision } = await userGroups.showById(call.caller, teamIdOf(call))
      return { json: successful({ token: JSON.stringify(token) }), userGroup: { teamId, revision } }
    },
    rotateTokenOfUserGroup: async (call) => {
      const { providedId } = await find(call)
      const { grace_period_seconds } = call.body.value as RotateBody
      const { token } = await userGroups.rotate(call.caller, {
        target: { providedId, expected: await expected(call) },
        gracePeriodSeconds: grace_period_seconds ?? 0,
      })
      return { json: successful({ token: JSON.stringify(token) }) }
    },
    suspendUserGroup: async (call) =>
      userGroupResponse(await management.setSuspended(call.caller, await expected(call), true)),
    resumeUserGroup: async (call) =>
      userGroupResponse(await management.setSuspended(call.caller, await expected(call), false)),
    viewUserGroup: async (call) => {
      const view = await management.view(call.caller, teamIdOf(call))
      return { json: viewResponse(view), userGroup: view.userGroup }
    },
    listUserGroupVersions: async (call) => {
      const versions = await management.listVersions(call.caller, teamIdOf(call), versionsListed)
      return { json: listResponse('versions', versions, versionJson) }
    },
    diffUserGroupVersions: async (call) => {
      const { to } = call.query as DiffQuery
      const from = call.params.revision as number
      const differences = await management.diff(
        call.caller,
        teamIdOf(call),
        from,
        to === undefined ? null : Number(to),
      )
      return { json: diffResponse(differences) }
    },
    restoreUserGroupVersion: async (call) =>
      userGroupResponse(
        await management.restoreVersion(call.caller, await expected(call), call.params.revision as number),
      ),
    listDeletedUserGroups: ({ caller, query }) =>
      pageById(
        'user_groups',
        query as PageQuery,
        ({ afterId, limit }) => management.listDeleted(caller, afterId, limit),
        { idOf: ({ teamId }) => teamId, jsonOf: deletedUserGroupJson },
      ),
    restoreDeletedUserGroup: async (call) =>
      userGroupResponse(await management.restoreDeleted(call.caller, teamIdOf(call))),
    importUserGroups: async ({ caller, query, readRows }) => {
      const isDryRun = (query as ImportQuery).dry_run === 'true'
      const running = new UserGroupImport(userGroups, caller, { isDryRun })
      return { format: 'ndjson', stream: await spool(importLines(running, readRows(), isDryRun)) }
    },
    exportUserGroups: ({ caller, query }) => {
      const { format = 'ndjson' } = query as ExportQuery
      return exported(format, management.listAll(caller))
    },
    listIsolationFindings: async ({ caller, query }) => {
      const { cursor } = query as PageQuery
      const { items, position } = await management.findIsolationFindings(caller, {
        position: positionOf(cursor, isIsolationPosition),
        limit: limitOf(query as PageQuery),
      })
      return { json: listResponse('findings', items, isolationFindingJson, cursorOf(position)) }
    },
    promoteUserGroups: async ({ caller, body }) => {
      const { user_group_ids, dry_run = false } = body.value as PromotionBody
      const results = await promotion.promote(caller, user_group_ids, dry_run)
      return { json: listResponse('results', results, promotionResultJson) }
    },
    reportLeakedToken: async ({ caller, body }) => {
      const { token, rotate = false } = body.value as LeakedTokenBody
      return { json: leakedTokenResponse(await management.findLeaked(caller, token, rotate)) }
    },
  } satisfies Partial<Record<AdminOperationId, Handler>>
}

function accessHandlers({ apiTokens }: AdminServices) {
  return {
    listApiTokens: async ({ caller }) => ({
      json: listResponse('api_tokens', await apiTokens.list(caller), apiTokenJson),
    }),
    createApiToken: async ({ caller, body }) => {
      const { name, scopes, expires_in_seconds } = body.value as ApiTokenBody
      const { apiToken, token } = await apiTokens.create(caller, {
        name,
        scopes,
        validForMs: expires_in_seconds === undefined ? null : expires_in_seconds * 1000,
      })
      return { json: successful({ api_token: apiTokenJson(apiToken), token: JSON.stringify(token) }) }
    },
    revokeApiToken: async ({ caller, params }) => {
      const revoked = await apiTokens.revoke(caller, params.id as number)
      return { json: successful({ api_token: apiTokenJson(revoked) }) }
    },
    rotateApiToken: async ({ caller, params, body }) => {
      const { overlap_seconds: overlap } = body.value as ApiTokenRotationBody
      const overlapMs = overlap === undefined ? defaultOverlapMs : overlap * 1000
      const { apiToken, token, oldApiToken } = await apiTokens.rotate(caller, params.id as number, overlapMs)
      return {
        json: successful({
          api_token: apiTokenJson(apiToken),
          token: JSON.stringify(token),
          replaces: apiTokenJson(oldApiToken),
        }),
      }
    },
    listWorkspaces: async ({ caller }) => ({
      json: listResponse('workspaces', await apiTokens.findWorkspaces(caller), workspaceJson),
    }),
    createWorkspace: async ({ caller, body }) => {
      const { name } = body.value as WorkspaceBody
      const { workspace, apiToken, token } = await apiTokens.createWorkspace(caller, name)
      return {
        json: successful({
          workspace: workspaceJson(workspace),
          api_token: apiTokenJson(apiToken),
          token: JSON.stringify(token),
        }),
      }
    },
  } satisfies Partial<Record<AdminOperationId, Handler>>
}

function registryHandlers({ dataSources }: AdminServices) {
  return {
    listSchemas: async ({ caller }) => ({
      json: listResponse('schemas', await dataSources.listSchemas(caller), schemaJson),
    }),
    createSchema: async ({ caller, body }) => {
      const { provided_id, name } = body.value as SchemaBody
      const schema = await dataSources.createSchema(caller, { providedId: provided_id, name })
      return { json: successful({ schema: schemaJson(schema) }) }
    },
    deleteSchema: async ({ caller, params }) => {
      await dataSources.deleteSchema(caller, params.id as number)
      return deleted
    },
    listDataSources: ({ caller, query }) => {
      const { schema_id, ...page } = query as DataSourceQuery
      const ofSchema = schema_id !== undefined && { schemaId: Number(schema_id) }
      return pageById(
        'data_sources',
        page,
        (position) => dataSources.list(caller, { ...ofSchema, ...position }),
        { idOf: ({ id }) => id, jsonOf: dataSourceJson },
      )
    },
    createDataSource: async ({ caller, body }) => {
      const { schema_id, provided_id, name } = body.value as DataSourceBody
      const dataSource = await dataSources.create(caller, {
        schemaId: schema_id,
        providedId: provided_id,
        name,
      })
      return { json: successful({ data_source: dataSourceJson(dataSource) }) }
    },
    deleteDataSource: async ({ caller, params }) => {
      await dataSources.delete(caller, params.id as number)
      return deleted
    },
  } satisfies Partial<Record<AdminOperationId, Handler>>
}

function auditHandlers({ auditLog }: AdminServices) {
  return {
    listAuditEvents: async ({ caller, query }) => {
      const { cursor, ...rest } = query as AuditQuery
      const { items, position } = await auditLog.list(caller, auditFilterOf(rest), {
        position: positionOf(cursor, isEventId),
        limit: limitOf(rest),
      })
      return { json: listResponse('audit_events', items, auditEventJson, cursorOf(position)) }
    },
  } satisfies Partial<Record<AdminOperationId, Handler>>
}

/** A page of what is listed in the order of ids. */
async function pageById<T>(
  name: string,
  query: PageQuery,
  list: (position: { afterId: number | null; limit: number }) => Promise<readonly T[]>,
  { idOf, jsonOf }: { idOf: (item: T) => number; jsonOf: (item: T) => string },
): Promise<AdminResponse> {
  const limit = limitOf(query)
  const position = positionOf(query.cursor, isId)
  const items = await list({ afterId: position === null ? null : Number(position), limit })
  const last = items.at(-1)
  const next = last !== undefined && items.length === limit ? String(idOf(last)) : null
  return { json: listResponse(name, items, jsonOf, cursorOf(next)) }
}

function userGroupResponse(userGroup: TokenlessUserGroup): AdminResponse {
  return { json: successful({ user_group: userGroupJson(userGroup) }), userGroup }
}

/** The lines of the answer to an import. */
async function* importLines(
  running: UserGroupImport,
  rows: AsyncIterable<readonly ImportRow[]>,
  isDryRun: boolean,
): AsyncGenerator<string> {
  for await (const results of running.run(rows))
    yield results.map((result) => `${importResultJson(result)}\n`).join('')
  yield `${importSummaryJson(running.summary, isDryRun)}\n`
}

/** Answers once there is a first page: that the store cannot be reached is told as of any other call. */
async function exported(
  format: BulkFormat,
  pages: AsyncGenerator<TokenlessUserGroup[]>,
): Promise<AdminResponse> {
  const { head, row } = rowWriters[format]
  const first = await pages.next()
  async function* texts() {
    yield head
    if (first.done !== true) yield first.value.map(row).join('')
    for await (const page of pages) yield page.map(row).join('')
  }
  return { format, stream: Readable.from(texts(), { objectMode: false }) }
}

/** @throws Fault `validation_failed` */
function limitOf({ limit = String(defaultLimit) }: { limit?: string }): number {
  if (Number(limit) <= maxLimit) return Number(limit)
  throw validationFailed([{ path: '/limit', message: `must be from 1 to ${maxLimit}` }])
}

/** @throws Fault `validation_failed` where a time is none */
function auditFilterOf({ since, until, team_id, user_group_id, action, author, request_id }: AuditQuery) {
  return {
    since: timestampOf('since', since),
    until: timestampOf('until', until),
    teamId: team_id === undefined ? undefined : Number(team_id),
    providedId: user_group_id,
    action,
    author,
    requestId: request_id,
  }
}

/** @throws Fault `validation_failed` */
function timestampOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw validationFailed([{ path: `/${name}`, message: 'must be a time that there is' }])
}

/** @throws Fault `validation_failed` where one of two parameters is given without the other */
function searchOf(query: UserGroupQuery): UserGroupSearch {
  const { user_group_id_prefix, name, property, property_value, schema, data_source, suspended } = query
  for (const [one, other] of [
    ['property', 'property_value'],
    ['schema', 'data_source'],
  ] as const) {
    const missing = query[one] === undefined ? one : other
    if ((query[one] === undefined) !== (query[other] === undefined)) {
      const given = missing === one ? other : one
      throw validationFailed([{ path: `/${missing}`, message: `is required with ${given}` }])
    }
  }
  return {
    ...(user_group_id_prefix !== undefined && { providedIdPrefix: user_group_id_prefix }),
    ...(name !== undefined && { namePart: name }),
    ...(property !== undefined &&
      property_value !== undefined && {
        property: { path: stepsOfPointer(property), value: property_value },
      }),
    ...(schema !== undefined && data_source !== undefined && { mappedTo: [schema, data_source] as const }),
    ...(suspended !== undefined && { suspended: suspended === 'true' }),
  }
}
