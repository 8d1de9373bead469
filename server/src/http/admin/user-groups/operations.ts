import { readChange } from '../../../contract/user/change.ts'
import { validationFailed } from '../../../domain/fault.ts'
import { stepsOfPointer } from '../../../domain/json/json-pointer.ts'
import type { TokenlessUserGroup } from '../../../domain/user-group/user-group.ts'
import type { UserGroupSearch } from '../../../domain/user-group/user-group-management.ts'
import { expectedOf } from '../etag.ts'
import { DeletedResponse, PageLimit } from '../fields.ts'
import {
  deleted,
  type AdminOperation,
  type AdminRequest,
  type AdminResponse,
  type AdminServices,
} from '../operation.ts'
import { cursorOf, isId, limitOf, pageById, positionOf } from '../pages.ts'
import { viewOf } from './responses.ts'
import * as schemas from './schemas.ts'

const tag = 'User group management'
const versionsListed = 200

const one = { tag, faults: ['user_group_not_found'] } as const
const change = {
  tag,
  takesIfMatch: true,
  faults: ['user_group_not_found', 'revision_mismatch'],
  retry: { revision_mismatch: 'unknown' },
} as const
const returnsUserGroup = { response: schemas.UserGroupResponse, returnsEtag: true } as const

export const userGroupOperations = {
  searchUserGroups: {
    tag,
    method: 'GET',
    path: '/user-groups',
    summary: 'Find user groups',
    description:
      'Ordered by id if `user_group_id_prefix` is given, otherwise by team id. A page takes at most about 100 ms, so it may have fewer entries than `limit`, or none, although another one follows.',
    query: schemas.UserGroupSearch,
    response: schemas.UserGroupListResponse,
    handle: async ({ caller, query }, { healthSearch }) => {
      const { cursor, health, ...rest } = query as schemas.UserGroupSearch
      const search = searchOf(rest)
      const isPosition = search.providedIdPrefix === undefined ? isId : () => true
      const page = { position: positionOf(cursor, isPosition), limit: limitOf(rest) }
      const { items, position } = await healthSearch.search(caller, search, page, health)
      return { body: { userGroups: items, nextCursor: cursorOf(position) } }
    },
  },
  createUserGroup: {
    ...returnsUserGroup,
    tag,
    method: 'POST',
    path: '/user-groups',
    summary: 'Create a user group',
    description:
      'Never changes an existing user group. Your backend gets the token with its next request for this id.',
    retry: { already_exists: 'unknown' },
    body: schemas.NewUserGroupFields,
    status: 201,
    faults: ['already_exists'],
    handle: async ({ caller, body }, { management, userGroups }) => {
      const providedId = (body.value as schemas.NewUserGroupFields).user_group_id
      const teamId = await userGroups.create(caller, { providedId, change: readChange(body) })
      return userGroupResponse(await management.find(caller, teamId))
    },
  },
  getUserGroup: {
    ...one,
    ...returnsUserGroup,
    method: 'GET',
    path: '/user-groups/{team_id}',
    summary: 'Show a user group',
    handle: async (request, { management }) =>
      userGroupResponse(await management.find(request.caller, teamIdOf(request))),
  },
  patchUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'PATCH',
    path: '/user-groups/{team_id}',
    summary: 'Change name, mapping or properties',
    description:
      'Omitted fields keep their values; null clears a field. The previous state is kept as a version. A repeated request overwrites changes that others made in between, unless it names a revision.',
    body: schemas.UserGroupChange,
    handle: async (request, { management, userGroups }) => {
      const { providedId } = await management.find(request.caller, teamIdOf(request))
      const change = readChange(request.body)
      const expected = await expectedBy(request, management)
      return userGroupResponse(await userGroups.update(request.caller, providedId, change, expected))
    },
  },
  deleteUserGroup: {
    ...change,
    method: 'DELETE',
    path: '/user-groups/{team_id}',
    summary: 'Delete a user group',
    description:
      'Its tokens stop working at once. It can be restored for 30 days, unless another user group takes its id.',
    retry: { user_group_not_found: 'succeeded' },
    response: DeletedResponse,
    handle: async (request, { management }) => {
      await management.delete(request.caller, await expectedBy(request, management))
      return deleted
    },
  },
  getUserGroupToken: {
    ...one,
    method: 'GET',
    path: '/user-groups/{team_id}/token',
    summary: 'Show the token of a user group',
    response: schemas.TokenResponse,
    returnsEtag: true,
    handle: async (request, { userGroups }) => {
      const { token, teamId, revision } = await userGroups.showById(request.caller, teamIdOf(request))
      return { body: { token }, userGroup: { teamId, revision } }
    },
  },
  rotateTokenOfUserGroup: {
    ...change,
    method: 'POST',
    path: '/user-groups/{team_id}/rotate',
    summary: 'Rotate the token of a user group',
    description:
      'Replaces the token. The old token stops working at once, unless `grace_period_seconds` keeps it valid for viewing. A repeated request that names no revision rotates again.',
    retry: 'never',
    body: schemas.TokenRotation,
    response: schemas.TokenResponse,
    handle: async (request, { management, userGroups }) => {
      const { providedId } = await management.find(request.caller, teamIdOf(request))
      const { grace_period_seconds } = request.body.value as schemas.TokenRotation
      const { token } = await userGroups.rotate(request.caller, {
        target: { providedId, expected: await expectedBy(request, management) },
        gracePeriodSeconds: grace_period_seconds ?? 0,
      })
      return { body: { token } }
    },
  },
  suspendUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups/{team_id}/suspend',
    summary: 'Suspend a user group',
    description:
      'Its tokens are inactive for the renderer, from its next introspection. `/api/user` continues to work. A suspended user group stays as it is. A repeated request suspends again if the user group was resumed in between.',
    handle: async (request, { management }) =>
      userGroupResponse(
        await management.setSuspended(request.caller, await expectedBy(request, management), true),
      ),
  },
  resumeUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups/{team_id}/resume',
    summary: 'Resume a suspended user group',
    description:
      'Its current token, and superseded ones in their grace period, work again. A repeated request resumes again if the user group was suspended in between.',
    handle: async (request, { management }) =>
      userGroupResponse(
        await management.setSuspended(request.caller, await expectedBy(request, management), false),
      ),
  },
  endSessionsOfUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups/{team_id}/end-sessions',
    summary: 'End the viewer sessions of a user group',
    description:
      'Ends the sessions of one viewer, or of all, that were created until now. The user group token stays. A repeated request also ends sessions that were created in between.',
    body: schemas.SessionsToEnd,
    handle: async (request, { management, viewerSessions }) => {
      const { providedId } = await management.find(request.caller, teamIdOf(request))
      const { viewer_id: viewerId } = request.body.value as schemas.SessionsToEnd
      const subject = viewerId === undefined ? 'all' : { viewerId }
      const expected = await expectedBy(request, management)
      return userGroupResponse(await viewerSessions.end(request.caller, providedId, subject, expected))
    },
  },
  viewAsUserGroup: {
    ...one,
    method: 'POST',
    path: '/user-groups/{team_id}/view-as',
    summary: 'View as a user group',
    description:
      'Creates a viewer session of 5 minutes, and returns the URL of your page of dashboards with it. The id of the viewer is `support:` and the name of the API token, and the viewer has `support: true`. It is in the audit log. Requires `UGS_DASHBOARD_URL`.',
    response: schemas.ViewAsResponse,
    handle: async (request, { management, viewerSessions }) => {
      const { providedId } = await management.find(request.caller, teamIdOf(request))
      return { body: await viewerSessions.viewAs(request.caller, providedId, request.callerName) }
    },
  },
  viewUserGroup: {
    ...one,
    method: 'GET',
    path: '/user-groups/{team_id}/view',
    summary: 'Show what a user group sees',
    description:
      'Returns the variables as the renderer gets them, the data sources that the mapping names, whether the token is active, the last versions, and the time of the last introspection.',
    response: schemas.UserGroupViewResponse,
    returnsEtag: true,
    handle: async (request, { management }) => {
      const view = await management.view(request.caller, teamIdOf(request))
      return { body: viewOf(view), userGroup: view.userGroup }
    },
  },
  listUserGroupVersions: {
    ...one,
    method: 'GET',
    path: '/user-groups/{team_id}/versions',
    summary: 'List earlier states of a user group',
    description:
      'Returns earlier values of name, mapping and properties within the last 100 revisions, the newest first.',
    response: schemas.VersionListResponse,
    handle: async (request, { management }) => {
      const versions = await management.listVersions(request.caller, teamIdOf(request), versionsListed)
      return { body: { versions } }
    },
  },
  diffUserGroupVersions: {
    tag,
    method: 'GET',
    path: '/user-groups/{team_id}/versions/{revision}/diff',
    summary: 'Compare a version with another or with the current state',
    query: schemas.VersionQuery,
    response: schemas.DiffResponse,
    faults: ['user_group_not_found', 'not_found'],
    handle: async (request, { management }) => {
      const { to } = request.query as { to?: string }
      const from = request.params.revision as number
      const target = to === undefined ? null : Number(to)
      const differences = await management.diff(request.caller, teamIdOf(request), from, target)
      return { body: { differences } }
    },
  },
  restoreUserGroupVersion: {
    ...change,
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups/{team_id}/versions/{revision}/restore',
    summary: 'Restore an earlier state of a user group',
    description:
      'Restores name, mapping and properties; the token stays. This is a change like any other and can be reverted. Fails with `not_found` if the version does not exist or is no longer kept.',
    faults: ['user_group_not_found', 'revision_mismatch', 'not_found'],
    // The service keeps a hundred revisions. An earlier attempt may have pushed the version out.
    retry: { revision_mismatch: 'unknown', not_found: 'unknown' },
    handle: async (request, { management }) => {
      const expected = await expectedBy(request, management)
      const revision = request.params.revision as number
      return userGroupResponse(await management.restoreVersion(request.caller, expected, revision))
    },
  },
  listDeletedUserGroups: {
    tag,
    method: 'GET',
    path: '/deleted-user-groups',
    summary: 'List user groups deleted in the last 30 days',
    description: 'Ordered by team id.',
    query: PageLimit,
    response: schemas.DeletedUserGroupListResponse,
    handle: async ({ caller, query }, { management }) => {
      const { items: userGroups, nextCursor } = await pageById(
        query as PageLimit,
        ({ afterId, limit }) => management.listDeleted(caller, afterId, limit),
        ({ teamId }) => teamId,
      )
      return { body: { userGroups, nextCursor } }
    },
  },
  restoreDeletedUserGroup: {
    ...returnsUserGroup,
    tag,
    method: 'POST',
    path: '/deleted-user-groups/{team_id}/restore',
    summary: 'Restore a deleted user group',
    description:
      'The user group gets its previous state, and its token works again. Tokens that were superseded before the deletion stay unknown. Fails with `already_exists` if another user group has its id.',
    retry: { user_group_not_found: 'unknown' },
    faults: ['user_group_not_found', 'already_exists'],
    handle: async (request, { management }) =>
      userGroupResponse(await management.restoreDeleted(request.caller, teamIdOf(request))),
  },
} as const satisfies Record<string, AdminOperation>

function teamIdOf({ params }: AdminRequest): number {
  return params.team_id as number
}

/** @throws Fault `revision_mismatch`, `user_group_not_found` */
function expectedBy(request: AdminRequest, management: AdminServices['management']) {
  const teamId = teamIdOf(request)
  return expectedOf(
    teamId,
    request.ifMatch,
    async () => (await management.find(request.caller, teamId)).revision,
  )
}

function userGroupResponse(userGroup: TokenlessUserGroup): AdminResponse {
  return { body: { userGroup }, userGroup }
}

/** @throws Fault `validation_failed` if one of two parameters that belong together is missing */
function searchOf(query: schemas.UserGroupSearch): UserGroupSearch {
  const { text, user_group_id_prefix, name, property, property_value, schema, data_source, suspended } = query
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
    ...(text !== undefined && { textPart: text }),
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
