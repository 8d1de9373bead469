import { Code, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../api/field-message.ts'
import { postAdmin } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { announce } from '../../components/toast.tsx'
import type { Finding } from './search.ts'
import { queryKey } from './use-findings.ts'

interface Props {
  readonly finding: Finding
  readonly onClose: () => void
}

const nameOf = ({ kind, schema, data_source }: Finding) => ({ kind, schema, data_source })

/** Asks for the reason why a finding is intended. */
export function AcceptDialog({ finding, onClose }: Props) {
  const [reason, setReason] = useState('')
  const body = { ...nameOf(finding), version: finding.version, reason }
  const { mutate, isPending, error } = useChange('/isolation-findings/accept', body, 'Accepted', onClose)
  const { count, is_exact: isExact } = finding.affected
  const period = isExact
    ? 'as a finding until other user groups are affected. Then it is open again.'
    : `as a finding while more than ${count} user groups are affected, whichever they are.`
  return (
    <FormDialog
      title="Accept a finding"
      action="Accept"
      pending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        <Code>{finding.schema}</Code> → <Code>{finding.data_source}</Code> no longer counts {period}
      </Text>
      <Textarea
        label="Reason"
        description="Why this is intended. The audit log keeps it."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        error={fieldMessage(error, '/reason')}
        required
        maxLength={255}
        autosize
        minRows={2}
        data-autofocus
      />
    </FormDialog>
  )
}

export function ReopenDialog({ finding, onClose }: Props) {
  const body = nameOf(finding)
  const { mutate, isPending, error } = useChange('/isolation-findings/reopen', body, 'Reopened', onClose)
  return (
    <ConfirmDialog
      title="Reopen a finding?"
      action="Reopen"
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        <Code>{finding.schema}</Code> → <Code>{finding.data_source}</Code> is counted as a finding again.
      </Text>
    </ConfirmDialog>
  )
}

function useChange(path: string, body: object, title: string, onClose: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => postAdmin(path, { body }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey })
      void queryClient.invalidateQueries({ queryKey: ['overview'] })
      announce({ title, message: 'Isolation finding' })
      onClose()
    },
  })
}
