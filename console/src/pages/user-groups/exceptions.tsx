import type { Health, ListedUserGroup } from '../../api/wire.ts'
import { IconAlertTriangle, IconPlayerPause } from '../../components/icons.tsx'
import classes from './search-results.module.css'

/** Returns the problem of the mapping, or undefined. */
function mappingProblem({
  mapping_entries: all,
  unresolved_entries: unresolved,
}: Health): string | undefined {
  if (all === 0) return 'No mapping'
  if (unresolved === 0) return undefined
  if (all === 1) return 'Its mapping names no data source'
  return `${unresolved} of ${all} mappings ${unresolved === 1 ? 'names' : 'name'} no data source`
}

/** Shows what distinguishes a user group from a healthy, active one. */
export function Exceptions({ userGroup: { suspended_at, health } }: { readonly userGroup: ListedUserGroup }) {
  const problem = health && mappingProblem(health)
  return (
    <>
      {suspended_at !== null && (
        <div className={classes.exception} data-strong>
          <IconPlayerPause size={14} aria-hidden /> Suspended
        </div>
      )}
      {problem !== undefined && (
        <div className={classes.exception}>
          <IconAlertTriangle size={14} aria-hidden /> {problem}
        </div>
      )}
    </>
  )
}
