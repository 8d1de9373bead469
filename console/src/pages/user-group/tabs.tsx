import { Link } from '@tanstack/react-router'
import classes from './tabs.module.css'
import { useTeamId } from './use-user-group.ts'

const tabs = [
  { to: '/user-groups/$teamId', label: 'Overview' },
  { to: '/user-groups/$teamId/edit', label: 'Edit' },
  { to: '/user-groups/$teamId/history', label: 'History' },
] as const

export function UserGroupTabs() {
  const teamId = useTeamId()
  return (
    <nav aria-label="User group" className={classes.tabs}>
      {tabs.map(({ to, label }) => (
        <Link key={to} to={to} params={{ teamId }} className={classes.tab} activeOptions={{ exact: true }}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
