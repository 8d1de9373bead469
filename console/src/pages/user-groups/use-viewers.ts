import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { getAdmin } from '../../api/request.ts'

interface UsageOfUserGroups {
  readonly usage: readonly { readonly team_id: number; readonly viewers: number }[]
}

/**
 * Loads the numbers of viewers of this month by team id, one request for each page of user groups. Undefined while they load, and if
 * the service knows no viewers.
 */
export function useViewers(pages: readonly (readonly number[])[]): ReadonlyMap<number, number> | undefined {
  const loaded = useQueries({
    queries: pages.map((teamIds) => ({
      queryKey: ['usage', 'of-user-groups', teamIds.join(',')],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (
          await getAdmin<UsageOfUserGroups>('/usage', {
            query: { by: 'user_group', team_id: teamIds.join(','), limit: 200 },
            signal,
          })
        ).usage,
      staleTime: 60_000,
      retry: false,
    })),
    combine: (results) => results.map(({ data }) => data),
  })
  return useMemo(() => {
    const known = loaded.flatMap((usage) => usage ?? [])
    return known.some(({ viewers }) => viewers > 0)
      ? new Map(known.map(({ team_id, viewers }) => [team_id, viewers]))
      : undefined
  }, [loaded])
}
