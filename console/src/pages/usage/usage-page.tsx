import { Button } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { loadFile } from '../../api/download.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { resourceColumns, userGroupColumns, type ResourceUsage, type UserGroupUsage } from './columns.tsx'
import { EraseDialog } from './erase-dialog.tsx'
import { MonthUsage } from './month-usage.tsx'
import { UsageList } from './usage-list.tsx'

/** The user groups that looked in a month. */
export function UsagePage() {
  const { month } = useSearch({ from: '/usage' })
  const navigate = useNavigate({ from: '/usage' })
  const [isErasing, setErasing] = useState(false)
  return (
    <>
      <PageHeader
        title="Usage"
        description="Which user groups looked at their dashboards, and how many viewers they have."
        actions={
          <Allowed to="eraseUsage">
            <Button variant="default" onClick={() => setErasing(true)}>
              Erase a viewer
            </Button>
          </Allowed>
        }
      />
      <MonthUsage
        month={month}
        onChange={(next) => void navigate({ search: { month: next }, replace: true })}
      >
        {(shown) => (
          <>
            <UsageList<UserGroupUsage>
              title="User groups"
              by="user_group"
              month={shown}
              columns={userGroupColumns}
              rowId={({ team_id }) => String(team_id)}
              noun="user group"
              loadCsv={() => loadFile('/usage/export', { month: shown, format: 'csv' })}
            />
            <UsageList<ResourceUsage>
              title="Dashboards"
              by="resource"
              month={shown}
              columns={resourceColumns}
              rowId={({ resource }) => resource}
              noun="dashboard"
              members={['resource', 'user_groups', 'viewers', 'active_days', 'last_seen_at']}
            />
          </>
        )}
      </MonthUsage>
      {isErasing && <EraseDialog onClose={() => setErasing(false)} />}
    </>
  )
}
