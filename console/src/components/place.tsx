import { useSession } from '../session/store.ts'
import { EnvironmentBadge } from './environment-badge.tsx'
import classes from './place.module.css'

/** Names the environment and the workspace in a dialog that changes something there. `Customer` looks more serious. */
export function Place() {
  const { api_environment_tag: environment, workspace } = useSession()
  return (
    <div className={classes.place} data-environment={environment}>
      In <EnvironmentBadge environment={environment} /> of the workspace <bdi>{workspace.name}</bdi>
    </div>
  )
}
