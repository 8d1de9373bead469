import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { restoreDeleted, useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { announce } from '../../components/toast.tsx'

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
  readonly onDone?: () => Promise<void>
  /** Reverses the change that led to this ETag. */
  readonly undo: (etag: string | undefined) => Promise<unknown>
  readonly children: ReactNode
}

function StateDialog({ viewed, onClose, ...kind }: Props & Kind) {
  const { user_group: userGroup, etag } = viewed
  const { mutate, isPending, error } = useChange(String(userGroup.team_id))
  const confirm = () =>
    mutate(
      { method: kind.method, path: kind.path, ifMatch: etag },
      {
        onSuccess: ({ etag: next }) => {
          onClose()
          void Promise.resolve(kind.onDone?.()).then(() =>
            announce({ title: kind.done, message: userGroup.name, undo: () => kind.undo(next) }),
          )
        },
      },
    )
  return (
    <ConfirmDialog
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

/** Returns a function that sends the opposite change. */
function useOpposite({ viewed }: Props, path: string) {
  const { mutateAsync } = useChange(String(viewed.user_group.team_id))
  return (ifMatch: string | undefined) => mutateAsync({ method: 'POST', path, ifMatch })
}

export function SuspendDialog(props: Props) {
  const undo = useOpposite(props, '/resume')
  return (
    <StateDialog
      {...props}
      method="POST"
      path="/suspend"
      action="Suspend"
      destructive
      done="Suspended"
      undo={undo}
    >
      Its token becomes inactive at once, and all its embedded dashboards stop. Your backend is not affected,
      and no data is lost. When you resume it, the same token works again.
    </StateDialog>
  )
}

export function ResumeDialog(props: Props) {
  const undo = useOpposite(props, '/suspend')
  return (
    <StateDialog
      {...props}
      method="POST"
      path="/resume"
      action="Resume"
      destructive={false}
      done="Resumed"
      undo={undo}
    >
      Its current token works again at once, and so do old ones whose grace period is not over. Open
      dashboards may have to be reloaded.
    </StateDialog>
  )
}

export function DeleteDialog(props: Props) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return (
    <StateDialog
      {...props}
      method="DELETE"
      path=""
      action="Delete"
      destructive
      done="Deleted"
      onDone={() => navigate({ to: '/user-groups' })}
      undo={() => restoreDeleted(queryClient, props.viewed.user_group.team_id)}
    >
      Its tokens and all its embedded dashboards stop at once. For 30 days you can restore it, unless its id
      is taken: your backend takes the id again when it gets or creates this customer. To stop dashboards
      temporarily, suspend it instead.
    </StateDialog>
  )
}
