import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { usageHistoryQuery } from '../../api/usage.ts'
import { usePages } from '../../api/use-pages.ts'
import { versionsQuery } from '../../api/user-groups.ts'
import type { UserGroup, Wire } from '../../api/wire.ts'
import type { AuditEvent } from '../audit/search.ts'
import { entriesOf, kindOf, type Kind } from './activity.ts'
import { changesOf } from './changes.ts'

/** Loads what happened to a user group. `userGroup` is undefined if it is deleted. */
export function useActivity(teamId: string, userGroup: UserGroup | undefined, kind: Kind | undefined) {
  const isKept = userGroup !== undefined
  const isWanted = (entry: { readonly kind: Kind }) => kind === undefined || entry.kind === kind
  const events = usePages<Wire['AuditEventListResponse'], AuditEvent>({
    queryKey: ['user-group', teamId, 'events'],
    path: '/audit-events',
    query: { team_id: teamId },
    rowsOf: ({ audit_events }) => audit_events.filter((event) => isWanted({ kind: kindOf(event) })),
    wanted: kind ?? '',
    pageRows: 50,
    pageSize: 100,
    refetchOnMount: 'always',
  })
  const versions = useQuery({ ...versionsQuery(teamId), enabled: isKept })
  const usage = useInfiniteQuery({
    ...usageHistoryQuery(teamId, userGroup?.created_at ?? ''),
    enabled: isKept,
  })
  const entries = entriesOf({
    events: events.data?.pages.flatMap(({ audit_events }) => audit_events) ?? [],
    hasEarlierEvents: events.hasNextPage,
    changes: userGroup && versions.data ? changesOf(userGroup, versions.data) : [],
    days: usage.data?.pages.flatMap((month) => month.days) ?? [],
  })
  return {
    entries: entries.filter(isWanted),
    events,
    usage,
    isPending: events.isPending || (isKept && (versions.isPending || usage.isPending)),
    error: events.error ?? versions.error,
    retry: () => void Promise.all([events.refetch(), versions.refetch()]),
  }
}
