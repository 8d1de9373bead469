import { Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invalidInput } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { deleteAdmin } from '../../api/request.ts'
import { countOf } from '../../components/counts.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { announce } from '../../components/toast.tsx'

interface Props {
  /** The user group. Undefined for all. */
  readonly userGroup?: { readonly team_id: number; readonly name: string }
  /** Undefined if the user types it. */
  readonly viewerId?: string
  readonly onClose: () => void
}

/** Erases what is recorded of a viewer, after the user has typed the id. */
export function EraseDialog({ userGroup, viewerId, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      if (typed === '' || (viewerId !== undefined && typed !== viewerId))
        throw invalidInput([{ path: '/viewer_id', message: `enter ${viewerId ?? 'the id of the viewer'}` }])
      return deleteAdmin<{ readonly deleted: number }>('/usage', {
        query: { viewer_id: typed, team_id: userGroup?.team_id },
      })
    },
    onSuccess: async ({ deleted }) => {
      announce({ title: 'Erased', message: `${countOf(deleted, 'record')} of ${typed}` })
      onClose()
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
    },
  })
  return (
    <FormDialog
      title={viewerId === undefined ? 'Erase a viewer?' : `Erase ${viewerId}?`}
      action="Erase"
      pending={isPending}
      destructive
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        Deletes all days of this viewer{' '}
        {userGroup === undefined ? 'in all user groups' : `in ${visibleText(userGroup.name)}`}, of all months.
        You cannot undo it, and the numbers of viewers change. End the viewer’s sessions first; views of the
        last two minutes may still be recorded.
      </Text>
      <TextInput
        label="Viewer"
        {...(viewerId !== undefined && { description: `Enter ${visibleText(viewerId)} to confirm.` })}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={fieldMessage(error, '/viewer_id')}
        maxLength={255}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  )
}
