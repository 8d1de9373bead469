import { readChange } from '../../../contract/user/change.ts'
import { retained } from '../../../domain/user-group/user-group-erasure.ts'
import type { TokenlessUserGroup } from '../../../domain/user-group/user-group.ts'
import { expectedOf } from '../etag.ts'
import { DeletedResponse, PageLimit } from '../fields.ts'
import {
  type AdminRequest,
  type AdminResponse,
  type AdminServices,
  deleted,
  type Operations,
  tagged,
} from '../operation.ts'
import { cursorOf, isId, limitOf, pageById, positionOf } from '../pages.ts'
import { viewOf } from './responses.ts'
import * as schemas from './schemas.ts'
import { isSortPosition, searchOf, sortOf } from './criteria.ts'

const versionsListed = 200

const one = { faults: ['user_group_not_found'] } as const
const change = {
  takesIfMatch: true,
  faults: ['user_group_not_found', 'revision_mismatch'],
  retry: { revision_mismatch: 'unknown' },
} as const
const returnsUserGroup = { response: schemas.UserGroupResponse, returnsEtag: true } as const

export const userGroupOperations = tagged('User group management', {
  searchUserGroups: {
    method: 'GET',
    path: '/user-groups',
    scope: 'observe',
    summary: 'Find user groups',
    description:
      'Ordered by `sort`; without it, by id if `user_group_id_prefix` is given, otherwise by team id. A page takes at most about 100 ms, so it may have fewer entries than `limit`, or none, although another one follows.',
    query: schemas.UserGroupSearch,
    response: schemas.UserGroupListResponse,
    handle: async ({ caller, query }, { healthSearch }) => {
      const { cursor, health, total, ...rest } = query as schemas.UserGroupSearch
      const search = searchOf(rest)
      const sort = sortOf(rest)
      const { providedIdPrefix } = search
      const isPosition = (text: string) =>
        sort !== undefined
          ? isSortPosition(sort, text)
          : providedIdPrefix === undefined
            ? isId(text)
            : text.startsWith(providedIdPrefix)
      const page = { position: positionOf(cursor, isPosition), limit: limitOf(rest), sort }
      const { items, position } = await healthSearch.search(caller, search, page, health)
      const counted = total === 'true' && { total: await healthSearch.count(caller, search, health) }
      return { body: { userGroups: items, nextCursor: cursorOf(position), ...counted } }
    },
  },
  createUserGroup: {
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups',
    scope: 'support',
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
    scope: 'observe',
    summary: 'Show a user group',
    handle: async (request, { management }) =>
      userGroupResponse(await management.find(request.caller, teamIdOf(request))),
  },
  patchUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'PATCH',
    path: '/user-groups/{team_id}',
    scope: 'support',
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
    scope: 'support',
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
  deleteUserGroupByProvidedId: {
    ...change,
    method: 'DELETE',
    path: '/user-groups',
    scope: 'support',
    summary: 'Delete the user group with your id',
    description:
      'For a backend that offboards a customer. As the deletion by team id: tokens stop working at once, the user group can be restored for 30 days, and `If-Match` refuses the deletion if the user group has changed.',
    query: schemas.ProvidedIdQuery,
    retry: { user_group_not_found: 'succeeded' },
    response: DeletedResponse,
    handle: async ({ caller, query, ifMatch }, { userGroups }) => {
      const { user_group_id: providedId } = query as schemas.ProvidedIdQuery
      if (ifMatch === undefined) await userGroups.delete(caller, providedId)
      else {
        const { teamId, revision } = await userGroups.show(caller, providedId)
        const expected = await expectedOf(teamId, ifMatch, () => Promise.resolve(revision))
        await userGroups.delete(caller, providedId, expected)
      }
      return deleted
    },
  },
  getUserGroupToken: {
    ...one,
    method: 'GET',
    path: '/user-groups/{team_id}/token',
    scope: 'admin',
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
    scope: 'support',
    summary: 'Rotate the token of a user group',
    description:
      'Replaces the token. The old token stops working at once, unless `grace_period_seconds` keeps it valid for viewing. The response has the new token only with the scope `admin`. A repeated request that names no revision rotates again.',
    retry: 'never',
    body: schemas.TokenRotation,
    response: schemas.RotatedTokenResponse,
    handle: async (request, { management, userGroups }) => {
      const { providedId } = await management.find(request.caller, teamIdOf(request))
      const { grace_period_seconds } = request.body.value as schemas.TokenRotation
      const { token } = await userGroups.rotate(request.caller, {
        target: { providedId, expected: await expectedBy(request, management) },
        gracePeriodSeconds: grace_period_seconds ?? 0,
      })
      return { body: { token: request.maySeeTokens ? token : null } }
    },
  },
  suspendUserGroup: {
    ...change,
    ...returnsUserGroup,
    method: 'POST',
    path: '/user-groups/{team_id}/suspend',
    scope: 'support',
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
    scope: 'support',
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
    scope: 'support',
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
    scope: 'support',
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
    scope: 'observe',
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
    scope: 'observe',
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
    method: 'GET',
    path: '/user-groups/{team_id}/versions/{revision}/diff',
    scope: 'observe',
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
    scope: 'support',
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
    method: 'GET',
    path: '/deleted-user-groups',
    scope: 'observe',
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
  eraseUserGroup: {
    method: 'DELETE',
    path: '/deleted-user-groups/{team_id}',
    scope: 'admin',
    summary: 'Erase a deleted user group',
    description:
      'Removes it at once, with its usage, its versions, and its id and all details in the audit log, and returns what was erased and what still has its id. It cannot be restored.',
    retry: { user_group_not_found: 'unknown' },
    response: schemas.UserGroupErasureResponse,
    faults: ['user_group_not_found'],
    handle: async (request, { erasure }) => {
      const teamId = teamIdOf(request)
      return { body: { teamId, erased: await erasure.erase(request.caller, teamId), retained } }
    },
  },
  restoreDeletedUserGroup: {
    ...returnsUserGroup,
    method: 'POST',
    path: '/deleted-user-groups/{team_id}/restore',
    scope: 'support',
    summary: 'Restore a deleted user group',
    description:
      'The user group gets its previous state, and its token works again. Tokens that were superseded before the deletion stay unknown. Fails with `already_exists` if another user group has its id.',
    retry: { user_group_not_found: 'unknown' },
    faults: ['user_group_not_found', 'already_exists'],
    handle: async (request, { management }) =>
      userGroupResponse(await management.restoreDeleted(request.caller, teamIdOf(request))),
  },
} as const satisfies Operations)

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
