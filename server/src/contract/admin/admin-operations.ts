import type { TSchema } from 'typebox'
import type { FaultCode } from '../../domain/fault.ts'
import * as queries from './admin-queries.ts'
import type * as schemas from './admin-schemas.ts'
import type { BulkFormat } from '../import/import-rows.ts'

/** An operation of `/admin/v1`: of this the route, the check of its input and the OpenAPI document are made. */
export interface AdminOperation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** After `/admin/v1`. What stands in braces is a whole number. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly query?: TSchema
  readonly body?: keyof typeof schemas
  /** Whether the body is rows of it, in any of `bulkFormats`, and no one JSON value. */
  readonly takesRows?: true
  /** 200 where it is left out. */
  readonly status?: 201
  readonly response: keyof typeof schemas
  /** In which forms it answers rows of that, in place of one JSON value. */
  readonly returnsRows?: readonly BulkFormat[]
  readonly takesIfMatch?: true
  /** Whether it is answered with the ETag of the user group; a `UserGroupResponse` always is. */
  readonly returnsEtag?: true
  /** Besides those that every operation may meet. */
  readonly faults?: readonly FaultCode[]
}

const ofOne = ['user_group_not_found'] as const
const ofChange = ['user_group_not_found', 'revision_mismatch'] as const
const userGroups = 'User group management'
const registry = 'Schemas and data sources'
const access = 'API tokens and workspaces'
const audit = 'Audit log'

export const adminOperations = {
  searchUserGroups: {
    method: 'GET',
    path: '/user-groups',
    tag: userGroups,
    summary: 'List or search user groups',
    description:
      'All that is given must hold. A page takes about a tenth of a second at most: where few match, it may have fewer entries than asked for, and none, and `next_cursor` goes on. In the order of ids where `user_group_id_prefix` is given, else of team ids.',
    query: queries.UserGroupQuery,
    response: 'UserGroupListResponse',
  },
  getUserGroup: {
    method: 'GET',
    path: '/user-groups/{team_id}',
    tag: userGroups,
    summary: 'Show a user group',
    response: 'UserGroupResponse',
    faults: ofOne,
  },
  patchUserGroup: {
    method: 'PATCH',
    path: '/user-groups/{team_id}',
    tag: userGroups,
    summary: 'Change name, mapping or properties',
    description: 'A field that is left out stays as it is; null clears. What it was is kept as a version.',
    body: 'UserGroupPatch',
    response: 'UserGroupResponse',
    takesIfMatch: true,
    faults: ofChange,
  },
  deleteUserGroup: {
    method: 'DELETE',
    path: '/user-groups/{team_id}',
    tag: userGroups,
    summary: 'Delete a user group',
    description: 'Its tokens stop at once. For 30 days it may be restored, while its id is free.',
    response: 'DeletedResponse',
    takesIfMatch: true,
    faults: ofChange,
  },
  getUserGroupToken: {
    method: 'GET',
    path: '/user-groups/{team_id}/token',
    tag: userGroups,
    summary: 'Show the token of a user group',
    response: 'TokenResponse',
    returnsEtag: true,
    faults: ofOne,
  },
  rotateTokenOfUserGroup: {
    method: 'POST',
    path: '/user-groups/{team_id}/rotate',
    tag: userGroups,
    summary: 'Rotate the token of a user group',
    description:
      'Replaces the token. The old one stops at once, unless `grace_period_seconds` keeps it valid for viewing.',
    body: 'RotateBody',
    response: 'TokenResponse',
    takesIfMatch: true,
    faults: ofChange,
  },
  suspendUserGroup: {
    method: 'POST',
    path: '/user-groups/{team_id}/suspend',
    tag: userGroups,
    summary: 'Suspend a user group',
    description: 'Its tokens are inactive for the renderer at once. `/api/user` goes on working.',
    response: 'UserGroupResponse',
    takesIfMatch: true,
    faults: ofChange,
  },
  resumeUserGroup: {
    method: 'POST',
    path: '/user-groups/{team_id}/resume',
    tag: userGroups,
    summary: 'Resume a suspended user group',
    response: 'UserGroupResponse',
    takesIfMatch: true,
    faults: ofChange,
  },
  viewUserGroup: {
    method: 'GET',
    path: '/user-groups/{team_id}/view',
    tag: userGroups,
    summary: 'What a user group sees',
    description:
      'The variables as the renderer gets them, what its mapping names, whether its token works, its last changes, and when a renderer last asked about it.',
    response: 'ViewResponse',
    returnsEtag: true,
    faults: ofOne,
  },
  listUserGroupVersions: {
    method: 'GET',
    path: '/user-groups/{team_id}/versions',
    tag: userGroups,
    summary: 'What a user group was before its last changes',
    description: 'Of name, mapping and properties, the newest first; of the last hundred revisions.',
    response: 'VersionListResponse',
    faults: ofOne,
  },
  diffUserGroupVersions: {
    method: 'GET',
    path: '/user-groups/{team_id}/versions/{revision}/diff',
    tag: userGroups,
    summary: 'What is different from a version',
    query: queries.DiffQuery,
    response: 'DiffResponse',
    faults: [...ofOne, 'not_found'],
  },
  restoreUserGroupVersion: {
    method: 'POST',
    path: '/user-groups/{team_id}/versions/{revision}/restore',
    tag: userGroups,
    summary: 'Have a user group be as it was',
    description:
      'Name, mapping and properties, that is; the token stays. It is a change like any other, and can be undone.',
    response: 'UserGroupResponse',
    takesIfMatch: true,
    faults: [...ofChange, 'not_found'],
  },
  listDeletedUserGroups: {
    method: 'GET',
    path: '/deleted-user-groups',
    tag: userGroups,
    summary: 'List what was deleted within the last 30 days',
    query: queries.PageQuery,
    response: 'DeletedUserGroupListResponse',
  },
  restoreDeletedUserGroup: {
    method: 'POST',
    path: '/deleted-user-groups/{team_id}/restore',
    tag: userGroups,
    summary: 'Restore a deleted user group',
    description:
      'It is as it was, and its token works again. Tokens that were replaced before it was deleted stay unknown.',
    response: 'UserGroupResponse',
    faults: [...ofOne, 'already_exists'],
  },
  importUserGroups: {
    method: 'POST',
    path: '/user-groups/import',
    tag: userGroups,
    summary: 'Import user groups',
    description:
      'Any number of rows, each as a body of `GET /api/user`: NDJSON, a JSON object a line; or CSV (RFC 4180) whose first line names the columns, with `mapping` and `properties` as JSON, and nothing where a field is left out. The answer has a line for each row, in their order, and a last one with the summary; it begins when the whole body is read. A row that is refused does not stop the others, and importing the same again changes nothing.',
    query: queries.ImportQuery,
    body: 'ImportRow',
    takesRows: true,
    response: 'ImportLine',
    returnsRows: ['ndjson'],
  },
  exportUserGroups: {
    method: 'GET',
    path: '/user-groups/export',
    tag: userGroups,
    summary: 'Export all user groups',
    description:
      'In the order of ids, and in a form that can be imported. Tokens are not exported; they are made fresh where a user group is imported.',
    query: queries.ExportQuery,
    response: 'ExportRow',
    returnsRows: ['ndjson', 'csv'],
  },
  listIsolationFindings: {
    method: 'GET',
    path: '/isolation-findings',
    tag: userGroups,
    summary: 'User groups that share a data source, or are mapped to nothing',
    query: queries.PageQuery,
    response: 'IsolationResponse',
  },
  promoteUserGroups: {
    method: 'POST',
    path: '/promotions',
    tag: userGroups,
    summary: 'Promote user groups from Testing to Customer',
    description:
      'Name, mapping and properties of those that are named; a user group that is new in `Customer` gets a token of its own there. For an API token of `Customer`. `dry_run` changes nothing and says what would be different.',
    body: 'PromotionBody',
    response: 'PromotionResponse',
  },
  reportLeakedToken: {
    method: 'POST',
    path: '/leaked-tokens',
    tag: userGroups,
    summary: 'Whose token was found, and stop it',
    description:
      'Says whose token it is and whether it works. With `rotate` it stops in the same call: the user group gets another one, or where it was replaced before its grace period ends; an API token is revoked.',
    body: 'LeakedTokenBody',
    response: 'LeakedTokenResponse',
  },
  listApiTokens: {
    method: 'GET',
    path: '/api-tokens',
    tag: access,
    summary: 'List the API tokens of this workspace and environment',
    response: 'ApiTokenListResponse',
  },
  createApiToken: {
    method: 'POST',
    path: '/api-tokens',
    tag: access,
    summary: 'Make an API token for this workspace and environment',
    body: 'ApiTokenBody',
    status: 201,
    response: 'NewApiTokenResponse',
  },
  rotateApiToken: {
    method: 'POST',
    path: '/api-tokens/{id}/rotate',
    tag: access,
    summary: 'Make an API token in the place of another, which works on for a while',
    description:
      'With its name, scopes and lifetime. The old one stops `overlap_seconds` from now, or when it would have ended.',
    body: 'ApiTokenRotationBody',
    status: 201,
    response: 'ApiTokenRotationResponse',
    faults: ['not_found', 'token_superseded'],
  },
  revokeApiToken: {
    method: 'POST',
    path: '/api-tokens/{id}/revoke',
    tag: access,
    summary: 'Revoke an API token for good',
    response: 'ApiTokenResponse',
    faults: ['not_found'],
  },
  listWorkspaces: {
    method: 'GET',
    path: '/workspaces',
    tag: access,
    summary: 'The workspace of this API token',
    description: 'An API token sees its own alone.',
    response: 'WorkspaceListResponse',
  },
  createWorkspace: {
    method: 'POST',
    path: '/workspaces',
    tag: access,
    summary: 'Make a workspace, and its first API token',
    description: 'The API token has the scope `admin` and the environment of the one that asks.',
    body: 'WorkspaceBody',
    status: 201,
    response: 'NewWorkspaceResponse',
    faults: ['already_exists'],
  },
  listAuditEvents: {
    method: 'GET',
    path: '/audit-events',
    tag: audit,
    summary: 'List what was changed, and by whom',
    description:
      'The newest first. All that is given must hold. As of a search, a page may have fewer entries than asked for, and none, and `next_cursor` goes on.',
    query: queries.AuditQuery,
    response: 'AuditEventListResponse',
  },
  listSchemas: {
    method: 'GET',
    path: '/schemas',
    tag: registry,
    summary: 'List the schemas',
    response: 'SchemaListResponse',
  },
  createSchema: {
    method: 'POST',
    path: '/schemas',
    tag: registry,
    summary: 'Register a schema',
    body: 'SchemaBody',
    status: 201,
    response: 'SchemaResponse',
    faults: ['already_exists', 'in_use'],
  },
  deleteSchema: {
    method: 'DELETE',
    path: '/schemas/{id}',
    tag: registry,
    summary: 'Remove a schema that has no data sources',
    response: 'DeletedResponse',
    faults: ['not_found', 'in_use'],
  },
  listDataSources: {
    method: 'GET',
    path: '/data-sources',
    tag: registry,
    summary: 'List the data sources',
    description: 'In the order of their ids.',
    query: queries.DataSourceQuery,
    response: 'DataSourceListResponse',
  },
  createDataSource: {
    method: 'POST',
    path: '/data-sources',
    tag: registry,
    summary: 'Register a data source',
    body: 'DataSourceBody',
    status: 201,
    response: 'DataSourceResponse',
    faults: ['already_exists', 'in_use'],
  },
  deleteDataSource: {
    method: 'DELETE',
    path: '/data-sources/{id}',
    tag: registry,
    summary: 'Remove a data source that no user group is mapped to',
    response: 'DeletedResponse',
    faults: ['not_found', 'in_use'],
  },
} as const satisfies Record<string, AdminOperation>

export type AdminOperationId = keyof typeof adminOperations
