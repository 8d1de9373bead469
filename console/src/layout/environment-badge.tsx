import { IconFlask2, IconUsersGroup } from '../components/icons.tsx'
import type { EnvironmentTag } from '../api/wire.ts'
import classes from './environment-badge.module.css'

/** Told apart by colour, pattern, picture and word: nobody shall take customers for a test. */
export function EnvironmentBadge({ environment }: { readonly environment: EnvironmentTag }) {
  const Icon = environment === 'Customer' ? IconUsersGroup : IconFlask2
  return (
    <span className={classes.badge} data-environment={environment}>
      <Icon size={16} aria-hidden />
      {environment}
    </span>
  )
}
