import {
  queryOptions,
  useMutation,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query'
import { callAdmin, getAdmin, type CallOptions } from './call.ts'
import type { UserGroup, UserGroupView, Version, Wire } from './wire.ts'

/** A user group as it was looked at, and what to name in If-Match to change just that. */
export interface Viewed extends UserGroupView {
  readonly etag: string | undefined
}

export const viewQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['user-group', teamId, 'view'],
    queryFn: async ({ signal }): Promise<Viewed> => {
      const { body, etag } = await callAdmin<UserGroupView>('GET', `/user-groups/${teamId}/view`, { signal })
      return { ...body, etag }
    },
  })

export const versionsQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['user-group', teamId, 'versions'],
    queryFn: async ({ signal }): Promise<readonly Version[]> =>
      (await getAdmin<Wire['VersionListAnswer']>(`/user-groups/${teamId}/versions`, { signal })).versions,
  })

interface Change extends Pick<CallOptions, 'body' | 'ifMatch'> {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** After the path of the user group. */
  readonly path?: string
}

/** Changes a user group; afterwards all that was loaded about it is loaded again. */
export function useChange(teamId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ method, path = '', ...options }: Change) => {
      // What it answers may hold a token, which is not to be kept.
      const { body } = await callAdmin<Partial<Wire['UserGroupAnswer']>>(
        method,
        `/user-groups/${teamId}${path}`,
        options,
      )
      return body.user_group
    },
    onSuccess: async (userGroup, { method }) => {
      updateLists(queryClient, Number(teamId), userGroup, method === 'DELETE')
      if (method === 'DELETE') queryClient.removeQueries({ queryKey: ['user-group', teamId] })
      else await queryClient.invalidateQueries({ queryKey: ['user-group', teamId] })
    },
    // It may have been changed by somebody else: what is shown shall be what is.
    onError: () => queryClient.invalidateQueries({ queryKey: ['user-group', teamId] }),
  })
}

type List = InfiniteData<Wire['UserGroupListAnswer']>

/** In the lists that are loaded, so that the way back leads to the same place of them. */
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
              .map((known) => (known.team_id === teamId ? (userGroup ?? known) : known)),
          })),
        },
  )
  if (isDeleted) void queryClient.invalidateQueries({ queryKey: ['user-groups', 'deleted'] })
}
