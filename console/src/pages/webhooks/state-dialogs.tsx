import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { requestAdmin } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { announce } from '../../components/toast.tsx'
import { queryKey, type WebhookEndpoint } from './webhook-endpoint.ts'

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

interface Kind {
  /** State to set. Null deletes the endpoint. */
  readonly state: 'active' | 'paused' | null
  readonly action: string
  readonly done: string
  readonly children: ReactNode
}

function StateDialog({ endpoint: { id, name }, onClose, state, action, done, children }: Props & Kind) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const path = `/webhook-endpoints/${id}`
  const reload = () => queryClient.invalidateQueries({ queryKey })
  const setState = (next: Kind['state']) => requestAdmin('PATCH', path, { body: { state: next } })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => (state === null ? requestAdmin('DELETE', path) : setState(state)),
    onSuccess: async () => {
      onClose()
      if (state === null) {
        // First, because the page would load the deleted endpoint again.
        await navigate({ to: '/webhooks' })
        queryClient.removeQueries({ queryKey: [...queryKey, String(id)] })
        announce({ title: done, message: name })
      } else {
        const opposite = state === 'active' ? 'paused' : 'active'
        announce({ title: done, message: name, undo: () => setState(opposite).then(reload) })
      }
      await reload()
    },
  })
  return (
    <ConfirmDialog
      title={`${action} ${name}?`}
      action={action}
      destructive={state === null}
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">{children}</Text>
    </ConfirmDialog>
  )
}

export function PauseDialog(props: Props) {
  return (
    <StateDialog {...props} state="paused" action="Pause" done="Paused">
      Events wait until you resume it. The service deletes events that wait for longer than it keeps events
      and 3 days.
    </StateDialog>
  )
}

export function ResumeDialog(props: Props) {
  return (
    <StateDialog {...props} state="active" action="Resume" done="Resumed">
      The service sends the events that wait, in order, and then new ones.
    </StateDialog>
  )
}

export function DeleteDialog(props: Props) {
  return (
    <StateDialog {...props} state={null} action="Delete" done="Deleted">
      It receives no more events. Its secret and its deliveries are deleted too, including events that wait.
      This cannot be undone. To stop deliveries temporarily, pause it instead.
    </StateDialog>
  )
}
