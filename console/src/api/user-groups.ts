import {
  queryOptions,
  useMutation,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query'
import { requestAdmin, getAdmin, postAdmin, type RequestOptions } from './request.ts'
import type { UserGroup, UserGroupView, Version, Wire } from './wire.ts'

/** A loaded user group and the ETag for changes of it. */
export interface Viewed extends UserGroupView {
  readonly etag: string | undefined
}

export const viewQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['user-group', teamId, 'view'],
    queryFn: async ({ signal }): Promise<Viewed> => {
      const { body, etag } = await requestAdmin<UserGroupView>('GET', `/user-groups/${teamId}/view`, {
        signal,
      })
      return { ...body, etag }
    },
  })

export const versionsQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['user-group', teamId, 'versions'],
    queryFn: async ({ signal }): Promise<readonly Version[]> =>
      (await getAdmin<Wire['VersionListResponse']>(`/user-groups/${teamId}/versions`, { signal })).versions,
  })

interface Change extends Pick<RequestOptions, 'body' | 'ifMatch'> {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Path below the user group. */
  readonly path?: string
}

/** Returns a mutation of a user group that reloads its data afterwards. */
export function useChange(teamId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ method, path = '', ...options }: Change) => {
      // The response may hold a token, which must not be cached.
      const { body, etag } = await requestAdmin<Partial<Wire['UserGroupResponse']>>(
        method,
        `/user-groups/${teamId}${path}`,
        options,
      )
      return { userGroup: body.user_group, etag }
    },
    onSuccess: async ({ userGroup }, { method }) => {
      updateLists(queryClient, Number(teamId), userGroup, method === 'DELETE')
      if (method === 'DELETE') queryClient.removeQueries({ queryKey: ['user-group', teamId] })
      else await queryClient.invalidateQueries({ queryKey: ['user-group', teamId] })
    },
    // Somebody else may have changed it: reload the current state.
    onError: () => queryClient.invalidateQueries({ queryKey: ['user-group', teamId] }),
  })
}

/** Restores a deleted user group, and reloads what shows it. */
export async function restoreDeleted(queryClient: QueryClient, teamId: number): Promise<UserGroup> {
  const path = `/deleted-user-groups/${teamId}/restore`
  const { user_group } = await postAdmin<Wire['UserGroupResponse']>(path)
  for (const queryKey of [['user-groups'], ['user-group', String(teamId)]])
    await queryClient.invalidateQueries({ queryKey })
  return user_group
}

type List = InfiniteData<Wire['UserGroupListResponse']>

/** Updates loaded lists, so that going back keeps their position, and marks them for reloading, because the health may differ. */
function updateLists(
  queryClient: QueryClient,
  teamId: number,
  userGroup: UserGroup | undefined,
  isDeleted: boolean,
): void {
  queryClient.setQueriesData<List>({ queryKey: ['user-groups', 'search'] }, (list) =>
    list === undefined
      ? undefined
      : {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            user_groups: page.user_groups
              .filter(({ team_id }) => !isDeleted || team_id !== teamId)
              .map((known) => (known.team_id === teamId ? { ...known, ...userGroup } : known)),
          })),
        },
  )
  void queryClient.invalidateQueries({ queryKey: ['user-groups'] })
}
