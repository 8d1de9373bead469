import { Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../api/field-message.ts'
import { postAdmin } from '../../api/request.ts'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import type { Wire } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { announce } from '../../components/toast.tsx'

interface Props {
  readonly viewed: Viewed
  readonly onClose: () => void
}

/** Ends the sessions of one viewer or of all. */
export function EndSessionsDialog({ viewed: { user_group: userGroup }, onClose }: Props) {
  const [viewerId, setViewerId] = useState('')
  const { mutate, isPending, error } = useChange(String(userGroup.team_id))
  const end = () =>
    mutate(
      { method: 'POST', path: '/end-sessions', body: viewerId === '' ? {} : { viewer_id: viewerId } },
      {
        onSuccess: () => {
          announce({
            title: 'The sessions are over',
            message: viewerId === '' ? `Those of all viewers of ${userGroup.name}` : `Those of ${viewerId}`,
          })
          onClose()
        },
      },
    )
  return (
    <FormDialog
      title={`End viewer sessions of ${userGroup.name}?`}
      action="End the sessions"
      pending={isPending}
      error={error}
      onSubmit={end}
      onClose={onClose}
    >
      <Text size="sm">
        Dashboards that were opened with them stop at once. Your backend can create new sessions, and the user
        group token still works.
      </Text>
      <TextInput
        label="Viewer"
        description="Your own id of the person. Leave it empty for all viewers."
        value={viewerId}
        onChange={(event) => setViewerId(event.currentTarget.value)}
        error={fieldMessage(error, '/viewer_id')}
        spellCheck={false}
        autoComplete="off"
      />
    </FormDialog>
  )
}

/** Opens the dashboards as the customer sees them. */
export function ViewAsDialog({
  viewed: { user_group: userGroup },
  onClose,
}: Pick<Props, 'onClose'> & { readonly viewed: Pick<Viewed, 'user_group'> }) {
  const { mutate, isPending, error } = useMutation({
    // The URL has a token.
    gcTime: 0,
    mutationFn: async () => {
      const { url } = await postAdmin<Wire['ViewAsResponse']>(`/user-groups/${userGroup.team_id}/view-as`)
      window.open(url, '_blank', 'noopener')
      onClose()
    },
  })
  return (
    <ConfirmDialog
      title={`View as ${userGroup.name}?`}
      action="Open its dashboards"
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        A new tab shows the data of this customer for 5 minutes. The audit log records it with the name of
        your API token.
      </Text>
    </ConfirmDialog>
  )
}
