import { Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

interface Props {
  readonly viewed: Viewed
  readonly onClose: () => void
}

interface Kind {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly action: string
  readonly destructive: boolean
  readonly done: string
  readonly onDone?: () => void
  readonly children: ReactNode
}

function StateDialog({ viewed, onClose, ...kind }: Props & Kind) {
  const { user_group: userGroup, etag } = viewed
  const { mutate, isPending, error } = useChange(String(userGroup.team_id))
  const confirm = () =>
    mutate(
      { method: kind.method, path: kind.path, ifMatch: etag },
      {
        onSuccess: () => {
          notifications.show({ title: kind.done, message: userGroup.name })
          onClose()
          kind.onDone?.()
        },
      },
    )
  return (
    <ConfirmDialog
      opened
      title={`${kind.action} ${userGroup.name}?`}
      action={kind.action}
      destructive={kind.destructive}
      pending={isPending}
      error={error}
      onConfirm={confirm}
      onClose={onClose}
    >
      <Text size="sm" component="div">
        {kind.children}
      </Text>
    </ConfirmDialog>
  )
}

export function SuspendDialog(props: Props) {
  return (
    <StateDialog {...props} method="POST" path="/suspend" action="Suspend" destructive done="Suspended">
      Its token becomes inactive at once, and all its embedded dashboards stop. Your backend is not affected,
      and no data is lost. When you resume it, the same token works again.
    </StateDialog>
  )
}

export function ResumeDialog(props: Props) {
  return (
    <StateDialog {...props} method="POST" path="/resume" action="Resume" destructive={false} done="Resumed">
      Its current token works again at once, and so do old ones whose grace period is not over. Open
      dashboards may have to be reloaded.
    </StateDialog>
  )
}

export function DeleteDialog(props: Props) {
  const navigate = useNavigate()
  return (
    <StateDialog
      {...props}
      method="DELETE"
      path=""
      action="Delete"
      destructive
      done="Deleted"
      onDone={() => void navigate({ to: '/user-groups' })}
    >
      Its tokens and all its embedded dashboards stop at once. For 30 days you can restore it, unless its id
      is taken: your backend takes the id again when it gets or creates this customer. To stop dashboards
      temporarily, suspend it instead.
    </StateDialog>
  )
}
