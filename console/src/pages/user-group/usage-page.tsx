import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import {
  resourceColumnsOfOne,
  viewerColumns,
  type ResourceUsage,
  type ViewerUsage,
} from '../usage/columns.tsx'
import { EraseDialog } from '../usage/erase-dialog.tsx'
import { MonthUsage } from '../usage/month-usage.tsx'
import { UsageList } from '../usage/usage-list.tsx'
import { useTeamId, useViewed } from './use-user-group.ts'

/** On which days a user group looked, and who looked at what. */
export function UsagePage() {
  const { user_group: userGroup } = useViewed()
  const teamId = useTeamId()
  const { month } = useSearch({ from: '/user-groups/$teamId/usage' })
  const navigate = useNavigate({ from: '/user-groups/$teamId/usage' })
  const [erased, setErased] = useState<string>()
  const columns = useMemo(() => viewerColumns(setErased), [])
  return (
    <>
      <MonthUsage
        month={month}
        onChange={(next) => void navigate({ search: { month: next }, replace: true })}
        userGroup={userGroup}
      >
        {(shown) => (
          <>
            <UsageList<ViewerUsage>
              title="Viewers"
              by="viewer"
              month={shown}
              teamId={teamId}
              columns={columns}
              rowId={({ viewer_id }) => viewer_id}
              noun="known viewer"
              members={['viewer_id', 'active_days', 'last_seen_at']}
            />
            <UsageList<ResourceUsage>
              title="Dashboards"
              by="resource"
              month={shown}
              teamId={teamId}
              columns={resourceColumnsOfOne}
              rowId={({ resource }) => resource}
              noun="dashboard"
              members={['resource', 'viewers', 'active_days', 'last_seen_at']}
            />
          </>
        )}
      </MonthUsage>
      {erased !== undefined && (
        <EraseDialog userGroup={userGroup} viewerId={erased} onClose={() => setErased(undefined)} />
      )}
    </>
  )
}
