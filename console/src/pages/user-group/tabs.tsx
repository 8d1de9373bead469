import { Link } from '@tanstack/react-router'
import { operationOfPage, useMay } from '../../session/permissions.tsx'
import classes from './tabs.module.css'
import { useTeamId } from './use-user-group.ts'

const tabs = [
  { to: '/user-groups/$teamId', label: 'Activity' },
  { to: '/user-groups/$teamId/data', label: 'Data' },
  { to: '/user-groups/$teamId/edit', label: 'Edit' },
  { to: '/user-groups/$teamId/usage', label: 'Usage' },
] as const

export function UserGroupTabs() {
  const teamId = useTeamId()
  const may = useMay()
  return (
    <nav aria-label="User group" className={classes.tabs}>
      {tabs
        .filter(({ to }) => may(operationOfPage[to]))
        .map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ teamId }}
            className={classes.tab}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {label}
          </Link>
        ))}
    </nav>
  )
}
