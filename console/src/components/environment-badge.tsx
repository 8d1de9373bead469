import { IconFlask2, IconUsersGroup } from './icons.tsx'
import type { EnvironmentTag } from '../api/wire.ts'
import classes from './environment-badge.module.css'

/** Distinguishes environments by color, pattern, icon and word, so that production is not mistaken for test. */
export function EnvironmentBadge({ environment }: { readonly environment: EnvironmentTag }) {
  const Icon = environment === 'Customer' ? IconUsersGroup : IconFlask2
  return (
    <span className={classes.badge} data-environment={environment}>
      <Icon size={16} aria-hidden />
      {environment}
    </span>
  )
}
