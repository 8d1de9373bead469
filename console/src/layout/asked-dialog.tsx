import { ViewAsDialog } from '../pages/user-group/session-dialogs.tsx'
import { StartJobDialog } from '../pages/jobs/start-job-dialog.tsx'
import type { Asked } from './commands.ts'

/** Asks about an action of the command menu. */
export function AskedDialog({ asked, onClose }: { readonly asked: Asked; readonly onClose: () => void }) {
  const { action, userGroup } = asked
  if (action === 'view_as') return <ViewAsDialog viewed={{ user_group: userGroup }} onClose={onClose} />
  return (
    <StartJobDialog
      action={action}
      target={{
        name: userGroup.name,
        total: { count: 1, is_exact: true },
        selection: [userGroup.team_id],
      }}
      onClose={onClose}
    />
  )
}
