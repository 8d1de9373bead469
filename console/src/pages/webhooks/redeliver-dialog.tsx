import { Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { queryKey, type WebhookEndpoint } from './webhook-endpoint.ts'

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

/** Asks since when to send events again. */
export function RedeliverDialog({ endpoint: { id, name }, onClose }: Props) {
  const queryClient = useQueryClient()
  const [since, setSince] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      // Without a time zone, so it is a time in that of the browser.
      const body = { since: since && new Date(since).toISOString() }
      return postAdmin<Wire['WebhookRedeliveryResponse']>(`/webhook-endpoints/${id}/redeliver`, { body })
    },
    onSuccess: async ({ redelivered }) => {
      await queryClient.invalidateQueries({ queryKey })
      notifications.show({ title: 'Sending again', message: `${countOf(redelivered, 'event')} to ${name}.` })
      onClose()
    },
  })
  const isMissing = since === '' && error !== null
  return (
    <FormDialog
      title={`Redeliver events to ${name}`}
      action="Redeliver"
      pending={isPending}
      failure={error}
      error={isMissing ? undefined : error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        This sends all events since a time again, also those that were delivered. The receiver sees the same
        ids.
      </Text>
      <TextInput
        label="Since"
        description="In the time zone of this browser."
        type="datetime-local"
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
        error={isMissing ? 'Choose a date and time.' : undefined}
        required
        data-autofocus
      />
    </FormDialog>
  )
}
