import { useLocation } from '@tanstack/react-router'
import { Link } from '@tanstack/react-router'
import classes from './tabs.module.css'
import { useTeamId } from './use-user-group.ts'

const tabs = [
  { to: '/user-groups/$teamId', suffix: '', label: 'Overview' },
  { to: '/user-groups/$teamId/edit', suffix: '/edit', label: 'Edit' },
  { to: '/user-groups/$teamId/history', suffix: '/history', label: 'History' },
] as const

export function UserGroupTabs() {
  const teamId = useTeamId()
  const { pathname } = useLocation()
  return (
    <nav aria-label="User group" className={classes.tabs}>
      {tabs.map(({ to, suffix, label }) => (
        <Link
          key={to}
          to={to}
          params={{ teamId }}
          className={classes.tab}
          activeProps={{}}
          aria-current={pathname === `/user-groups/${teamId}${suffix}` ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
